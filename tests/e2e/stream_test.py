"""Sound that is transcribed as it comes: pipes of containers and raw samples, devices, Ctrl-C."""
import os
import pty
import select
import shutil
import signal
import subprocess
import time
import unittest

from harness import (AUDIO, BIN, SAMPLE, SPOKEN, Test, main, needs_model, run, strict_json, wer,
                     with_model)

needs_ffmpeg = unittest.skipUnless(shutil.which("ffmpeg"), "ffmpeg is not installed")


def raw(format="s16le", rate=16000):
    return subprocess.run(["ffmpeg", "-v", "error", "-i", str(SAMPLE), "-f", format, "-ac", "1",
                           "-ar", str(rate), "-"], check=True, capture_output=True).stdout


def has_lavfi():
    shown = subprocess.run(["ffmpeg", "-hide_banner", "-devices"], capture_output=True, text=True)
    return " lavfi" in shown.stdout


class Refused(Test):
    def refused(self, *args, needle):
        self.assert_fails(run(*args), 2, "--help", needle)

    def test_what_does_not_go_together(self):
        self.refused("--live", "a.wav", needle="--live")
        self.refused("--stream", "a.wav", "b.wav", needle="one AUDIO")
        self.refused("--stream", "-", "--offset", "3", needle="--offset")
        self.refused("--raw-format", "s16le", "-", needle="--stream")
        self.refused("--stream", "--raw-rate", "8000", "-", needle="--raw-format")
        self.refused("--stream", "--raw-format", "u8", "-", needle="s16le or f32le")


@needs_model("tiny.en")
class Streams(Test):
    def transcribe(self, *args, **more):
        return run(*with_model(), *args, **more)

    def assert_as_right_as_a_file(self, text):
        """The voice is a machine's: the model is unsure of some words, in a stream of others."""
        result = self.transcribe("--no-timestamps", str(SAMPLE))
        self.assertEqual(result.rc, 0, result)
        self.assertLessEqual(wer(SPOKEN, text), wer(SPOKEN, result.out.decode()) + 0.05, text)

    def test_events_of_a_container_in_a_pipe(self):
        result = self.transcribe("-f", "jsonl", "--stream", "-", stdin=SAMPLE.read_bytes())
        self.assertEqual(result.rc, 0, result)
        events = [strict_json(x) for x in result.out.splitlines()]
        self.assertLessEqual({x["event"] for x in events}, {"commit", "partial", "done"})
        commits = [x for x in events if x["event"] == "commit"]
        self.assertEqual(events[-1]["event"], "done")
        self.assertEqual("".join(x["text"] for x in commits).strip(), events[-1]["text"])
        self.assert_times([(x["start"], x["end"]) for x in commits], events[-1]["duration"] + 0.1)
        self.assert_as_right_as_a_file(events[-1]["text"])

    @needs_ffmpeg
    def test_raw_samples_of_each_kind(self):
        out = self.folder / "raw"
        for format, rate in (("s16le", 16000), ("f32le", 48000)):
            result = self.transcribe("--stream", "--raw-format", format, "--raw-rate", str(rate),
                                     "-f", "txt,srt", "-o", str(out), "-", stdin=raw(format, rate))
            self.assertEqual(result.rc, 0, result)
            self.assert_as_right_as_a_file((out / "stdin.txt").read_text())

    @needs_ffmpeg
    def test_text_comes_before_the_sound_has_ended(self):
        samples = raw()
        process = subprocess.Popen([BIN, *with_model(), "--stream", "--raw-format", "s16le", "-"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        lines = []
        for at in range(0, len(samples), 32000):  # a second
            process.stdin.write(samples[at:at + 32000])
            process.stdin.flush()
            if select.select([process.stdout], [], [], 3)[0]:
                lines.append(process.stdout.readline())
                break
        self.assertTrue(lines, "no text of the whole recording")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn(b"Hello", lines[0] + out)

    def test_a_terminal_shows_what_is_uncertain(self):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([BIN, *with_model(), "--stream", str(SAMPLE)], stdout=theirs,
                                   stderr=subprocess.PIPE)
        os.close(theirs)
        shown, end = b"", time.monotonic() + 100
        while time.monotonic() < end and select.select([ours], [], [], 60)[0]:
            try:
                shown += os.read(ours, 4096)
            except OSError:  # closed
                break
        os.close(ours)
        self.assertEqual(process.wait(60), 0, process.stderr.read())
        process.stderr.close()
        self.assertIn(b"\033[2m", shown)
        last = [x.split(b"\033[K")[-1] for x in shown.replace(b"\r\n", b"\n").split(b"\n")]
        self.assert_as_right_as_a_file(b" ".join(last).decode())

    def test_what_is_no_sound(self):
        for data in (b"", b"this is no sound" * 1000):
            self.assert_fails(self.transcribe("--stream", "-", stdin=data), 4, "standard input")
        self.assert_fails(self.transcribe("--stream", "missing.wav"), 4, "missing.wav")

    def test_a_device_that_is_not_there(self):
        result = self.transcribe("--live-device", "alsa:no-such-device")
        self.assertEqual(result.rc, 4, result)
        self.assertIn("transcribe: ", result.err.splitlines()[-1])
        self.assertRegex(result.err, "no-such-device|libavdevice")
        self.assert_fails(self.transcribe("--live-device", "concat:a.wav"), 4, "concat")

    @needs_ffmpeg
    def test_a_capture_device(self):
        if not has_lavfi():
            self.skipTest("this FFmpeg has no device lavfi")
        shutil.copy(SAMPLE, self.folder / "a.flac")
        result = run(*with_model(), "--no-timestamps", "--live-device", "lavfi:amovie=a.flac",
                     cwd=self.folder)
        if "libavdevice" in result.err:
            self.skipTest(result.err)
        self.assertEqual(result.rc, 0, result)
        self.assert_as_right_as_a_file(result.out.decode())

    @unittest.skipUnless(AUDIO.is_dir(), "the folder ../shared/audio is not beside this repository")
    def test_real_speech_reads_as_in_one_go(self):
        for name in ("jfk.wav", "dots.wav", "en-austen-0870.wav"):
            result = run("bench", "--stream", *with_model(), "--json", str(AUDIO / name),
                         timeout=300)
            self.assertEqual(result.rc, 0, result)
            report = strict_json(result.out)
            self.assertGreaterEqual(report["alike"], 0.95, (name, report))


if __name__ == "__main__":
    main()
