"""Recordings of all kinds and names give the right text: cases 01 to 04, 06, 07, 18."""
import os
import unittest

from harness import (N, W, Case, main, needs_cases, needs_model, run, strict_json, wer, with_model,
                     words)


@needs_cases
@needs_model("tiny.en")
class Audio(Case):
    def names(self):
        return sorted(x.name for x in self.inputs.glob("*.wav"))

    def assert_text(self, value, sentence, wer_max, where):
        self.assertLessEqual(wer(sentence, value["text"]), wer_max, f"{where}: {value['text']!r}")


class Extensible(Audio):
    case = "01-wav-extensible-24bit"

    def test_text_and_duration(self):
        found = self.transcribe(["ext24.wav", "extfloat.wav", "ext24in32.wav"])
        for name, value in found.items():
            self.assert_text(value, W, 0.15, name)
        for name in ("ext24.wav", "extfloat.wav"):
            self.assertAlmostEqual(found[name]["duration"], 7.12, delta=0.01, msg=name)
        self.assertEqual(found["ext24.wav"]["text"], found["extfloat.wav"]["text"])


class FromAPipe(Audio):
    case = "02-wav-from-a-pipe"

    def text(self, name, *, piped):
        path = self.inputs / name
        data = path.read_bytes() if piped else b""
        result = run(*with_model(), "-f", "txt", "-" if piped else str(path),
                     stdin=data, memory=4_000_000_000)
        self.assertEqual(result.rc, 0, result)
        return result.out

    def test_sizes_that_were_never_filled_in(self):
        right = self.text("correct.wav", piped=False)
        self.assertLessEqual(wer(W, right.decode()), 0.15)
        for name in ("correct.wav", "pipe-ffffffff.wav"):
            self.assertEqual(self.text(name, piped=False), right, name)
            self.assertEqual(self.text(name, piped=True), right, name)
        zero = run(*with_model(), "-f", "txt", str(self.inputs / "pipe-zero.wav"))
        if zero.rc == 0:
            self.assertEqual(zero.out, right)
        else:
            self.assert_fails(zero, 4, "pipe-zero.wav")


class Telephone(Audio):
    case = "03-wav-telephone-codecs"

    def test_text_and_duration(self):
        found = self.transcribe(self.names())
        self.assertEqual(len(found), 6)
        for name, value in found.items():
            self.assertAlmostEqual(value["duration"], 7.12, delta=0.03, msg=name)
            self.assert_words(value["text"], "weather sunny warm window door", name)
            self.assert_text(value, W, 0.25 if "8k" in name else 0.15, name)


class Channels(Audio):
    case = "04-stereo-one-channel"

    def test_all_channels_are_heard(self):
        found = self.transcribe(["right-only.wav", "left-only.wav", "51-centre.wav"])
        for name, value in found.items():
            self.assert_words(value["text"], "Peter London cats dog", name)
        self.assertEqual(found["right-only.wav"]["text"], found["left-only.wav"]["text"])
        name = "call-left-then-right.wav"
        call = words(self.transcribe([name])[name]["text"])
        at = [call.index(x) for x in ("peter", "london", "doctor", "water")]
        self.assertEqual(at, sorted(at), call)

    def test_channels_that_cancel_out(self):
        value = self.transcribe(["inverted.wav"])["inverted.wav"]
        if "channel" not in self.last.err:  # where there is no warning, the text must be right
            self.assert_text(value, N, 0.15, "inverted")


class OddChunks(Audio):
    case = "06-wav-odd-chunk"

    def test_only_the_data_is_sound(self):
        names = [x for x in self.names() if x != "odd-list-unpadded.wav"]
        self.assertEqual(len(names), 7)
        found = self.transcribe(names)
        for name, value in found.items():
            self.assertEqual(value["text"], found["correct.wav"]["text"], name)
        for name in ("list-after-data.wav", "junk-after-riff-end.wav"):
            self.assertAlmostEqual(found[name]["duration"], 113959 / 16000, delta=0.001, msg=name)

    def test_a_broken_writer(self):
        result = run(*with_model(), "-f", "txt", str(self.inputs / "odd-list-unpadded.wav"))
        if result.rc:
            self.assert_fails(result, 4, "odd-list-unpadded.wav")
        else:
            self.assertLessEqual(wer(W, result.out.decode()), 0.15)


class CutShort(Audio):
    case = "07-wav-cut-short"

    def test_what_is_there_is_heard(self):
        for name in ("cut-at-7s.wav", "cut-mid-sample.wav"):
            value = self.transcribe([name])[name]
            self.assert_text(value, W, 0.15, name)
            self.assertAlmostEqual(value["duration"], 7, delta=0.01, msg=name)
            self.assertIn("warning", self.last.err, name)
            self.assertIn(name, self.last.err)
        name = "claims-200-more.wav"
        value = self.transcribe([name])[name]
        self.assert_words(value["text"], "window door Peter London dog", name)
        self.assertAlmostEqual(value["duration"], 11.79, delta=0.1)


class AwkwardNames(Audio):
    case = "18-awkward-file-names"

    def readable(self):
        """All names but the pipe, the file without rights and the link to nothing; as bytes."""
        left_out = {b"fifo.wav", b"no-permission.wav", b"dangling.wav"}
        return sorted(set(os.listdir(os.fsencode(self.inputs))) - left_out)

    def transcribe_here(self, *args):
        return run(*with_model(), *args, cwd=self.inputs)

    def test_outputs_and_events(self):
        names = self.readable()
        self.assertGreaterEqual(len(names), 20)
        long_name = next(x for x in names if len(x) == 249)
        before = set(os.listdir(os.fsencode(self.inputs)))
        result = self.transcribe_here("-f", "srt", "-o", ".", "--", *names)
        self.assertEqual(result.rc, 0, result)
        made = set(os.listdir(os.fsencode(self.inputs))) - before
        self.assertEqual(made, {os.path.splitext(x)[0] + b".srt" for x in names})
        self.assertIn(os.path.splitext(long_name)[0] + b".srt", made)
        for name in made:
            path = os.path.join(os.fsencode(self.inputs), name)
            with open(path, encoding="utf-8") as file:
                self.assert_words(file.read(), "doctor drink water", name)
            os.remove(path)
        self.assertNotIn(b"PWNED", os.listdir(os.fsencode(self.inputs)))

        few = [b"--help", b'quote".wav', b"back\\slash.wav", b"new\nline.wav", b"tab\tname.wav",
               b"\xff\xfe.wav"]
        events = [strict_json(x) for x in
                  self.transcribe_here("-f", "jsonl", "--", *few).out.splitlines()]
        done = [x["file"] for x in events if x["event"] == "done"]
        self.assertEqual(done, [x.decode("utf-8", "replace") for x in few])

    def test_messages_are_harmless(self):
        for name in ("dangling.wav", "no %s%n\nfile\x1b[31m.wav"):
            result = self.transcribe_here("--", name)
            self.assert_fails(result, 4)
            self.assertTrue(result.err.strip().isprintable(), result)

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_a_file_without_rights(self):
        self.assert_fails(self.transcribe_here("--", "no-permission.wav"), 4, "no-permission.wav")

    def test_an_output_name_that_is_too_long(self):
        name = "n" * 250 + ".w"
        (self.inputs / name).write_bytes((self.inputs / "noext").read_bytes())
        result = self.transcribe_here("-f", "jsonl", "-o", ".", "--", name)
        self.assert_fails(result, 1, "bytes")
        os.remove(self.inputs / name)


if __name__ == "__main__":
    main()
