"""Recordings that are empty, damaged or none at all: cases 05, 08, 09."""
from harness import (W, SANITIZED, Case, main, needs_cases, needs_model, run, strict_json, wer,
                     with_model)


@needs_cases
@needs_model("tiny.en")
class BadAudio(Case):
    def one(self, name, **more):
        """Decodes one input to JSON: its value, or None after a clean error without a file."""
        out = self.folder / "out"
        result = run(*with_model(), "-f", "json", "-o", str(out), "--",
                     str(self.inputs / name), **more)
        path = out / (self.inputs / name).with_suffix(".json").name
        if result.rc == 0:
            value = strict_json(path.read_bytes())
            path.unlink()
            return value
        self.assert_fails(result, 4, name)
        self.assertEqual(list(out.iterdir()), [], result)
        return None


class NoSamples(BadAudio):
    case = "05-wav-no-samples"

    def test_errors(self):
        for name in ("no-data-chunk.wav", "header-only-12.wav", "empty-file.wav"):
            with self.subTest(name):
                self.assertIsNone(self.one(name))

    def test_zero_samples(self):
        value = self.one("zero-samples.wav")
        if value:  # the choice is free, but nothing may be heard
            self.assertEqual((value["text"], value["segments"]), ("", []))


class HostileHeaders(BadAudio):
    case = "08-wav-hostile-headers"
    must_fail = {"channels-0", "rate-0", "rate-1", "rate-4g", "fmt-size-0", "list-4g"}

    def test_each_ends_well(self):
        paths = sorted(self.inputs.glob("*.wav"))
        self.assertGreaterEqual(len(paths), 19)
        for path in paths:
            with self.subTest(path.stem):
                value = self.one(path.name, timeout=10, memory=4_000_000_000)
                if path.stem in self.must_fail:
                    self.assertIsNone(value)


class Undecodable(BadAudio):
    case = "09-undecodable-input"

    def test_no_sound_inside(self):
        for name in ("text.wav", "zeros.wav", "flac-cut.flac", "video-without-audio.mp4",
                     "a-directory.wav", "not-there.wav"):
            with self.subTest(name):
                self.assertIsNone(self.one(name))

    def test_hardly_any_sound(self):
        for name in ("mp3-30ms.mp3", "mp3-cut.mp3"):
            value = self.one(name)
            if value:
                self.assertLess(len(value["text"]), 20, name)
                self.assertNotIn("you", value["text"].lower(), name)

    def test_what_ffmpeg_reads(self):
        names = [f"speech.{x}" for x in ("m4a", "opus", "webm", "mp3", "flac", "ogg")]
        for name in names[:1] if SANITIZED else names + ["mp3-named.wav"]:
            self.assertLessEqual(wer(W, self.one(name)["text"]), 0.15, name)

    def test_an_index_at_the_end_of_a_pipe(self):
        data = (self.inputs / "speech.m4a").read_bytes()
        result = run(*with_model(), "-f", "txt", "-", stdin=data)
        self.assertLessEqual(wer(W, result.out.decode()), 0.15, result)


if __name__ == "__main__":
    main()
