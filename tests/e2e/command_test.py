"""The command with a real model: formats, streams, interruption, failures beside successes."""
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import time
import unittest

from harness import (BIN, SAMPLE, SPOKEN, Test, main, model_path, needs_model, run, srt,
                     strict_json, vtt, wer, with_model)

SECONDS = 10.096


@needs_model("tiny.en")
class Command(Test):
    def transcribe(self, *args, **more):
        return run(*with_model(), *args, **more)

    def test_lines_on_standard_output(self):
        result = self.transcribe(str(SAMPLE))
        self.assertEqual(result.rc, 0, result)
        time_re = r"\d\d:\d\d\.\d{3}"
        self.assertRegex(result.out.decode(), rf"^(\[{time_re} --> {time_re}\]  \S.*\n)+$")
        self.assertEqual(result.err, "")
        plain = self.transcribe("--no-timestamps", str(SAMPLE)).out.decode()
        self.assertEqual(plain, "".join(x.split("]  ")[1] + "\n" for x in
                                        result.out.decode().splitlines()))
        self.assertLessEqual(wer(SPOKEN, plain), 0.2, plain)
        self.assertEqual(self.transcribe("-f", "txt", str(SAMPLE)).out.decode(), plain)

    def test_all_formats(self):
        out = self.folder / "all" / "new"
        result = self.transcribe("-o", str(out), "-f", "all", str(SAMPLE))
        self.assertEqual(result.rc, 0, result)
        self.assertEqual(result.out, b"")
        formats = "csv json jsonl lrc srt tsv txt vtt".split()
        self.assertEqual(sorted(x.name for x in out.iterdir()), [f"hello.{x}" for x in formats])
        data = {x: (out / f"hello.{x}").read_bytes() for x in formats}

        value = strict_json(data["json"])
        self.assertLessEqual({"text", "language", "duration", "segments"}, set(value))
        self.assertEqual(value["language"], "en")
        self.assertAlmostEqual(value["duration"], SECONDS, delta=0.01)
        segments = [(s["start"], s["end"], s["text"].strip()) for s in value["segments"]]
        self.assertEqual(value["text"], "".join(s["text"] for s in value["segments"]).strip())
        self.assert_times([x[:2] for x in segments], value["duration"])
        self.assertEqual(srt(data["srt"]), segments)
        self.assertEqual(vtt(data["vtt"]), segments)
        tsv = [x.split("\t") for x in data["tsv"].decode().splitlines()]
        self.assertEqual(tsv[0], ["start", "end", "text"])
        self.assertEqual([(int(a) / 1000, int(b) / 1000, c) for a, b, c in tsv[1:]], segments)
        self.assertEqual(data["txt"].decode().splitlines(), [x[2] for x in segments])
        events = [strict_json(x) for x in data["jsonl"].splitlines()]
        self.assertEqual([x["event"] for x in events], ["segment"] * len(segments) + ["done"])
        self.assertEqual(events[-1]["text"], value["text"])

    def test_standard_input(self):
        data = SAMPLE.read_bytes()
        file = self.transcribe("-f", "txt", str(SAMPLE)).out
        self.assertEqual(self.transcribe("-f", "txt", "-", stdin=data).out, file)
        out = self.folder / "stdin"
        result = self.transcribe("-f", "txt", "-o", str(out), "-", stdin=data)
        self.assertEqual((out / "stdin.txt").read_bytes(), file, result)

    def test_a_pipe_that_nobody_reads(self):
        process = subprocess.Popen([BIN, *with_model(), *[str(SAMPLE)] * 3],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        err = process.stderr.read().decode()
        process.stderr.close()
        self.assertEqual(process.wait(60), 141, err)
        self.assertNotIn("terminate", err)

    @unittest.skipUnless(pathlib.Path("/dev/full").exists(), "this system has no /dev/full")
    def test_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            process = subprocess.run([BIN, *with_model(), str(SAMPLE)],
                                     stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"cannot write to standard output", process.stderr)

    def long_recording(self):
        if not shutil.which("ffmpeg"):
            self.skipTest("ffmpeg is not installed")
        path = self.folder / "long.flac"
        if not path.exists():
            subprocess.run(["ffmpeg", "-v", "error", "-stream_loop", "60", "-i", str(SAMPLE),
                            str(path)], check=True)
        return str(path)

    def interrupt(self, sign, *args):
        """Sends `sign` after the first output; what the command then leaves behind."""
        command = [BIN, *with_model(), *args, self.long_recording()]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = process.stdout.readline()
        start = time.monotonic()
        process.send_signal(sign)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertLess(time.monotonic() - start, 5)
        return first + out, err.decode()

    def test_ctrl_c_keeps_what_was_decoded(self):
        out, err = self.interrupt(signal.SIGINT)
        self.assertIn("interrupted", err)
        self.assertTrue(out.endswith(b"\n"))
        out, err = self.interrupt(signal.SIGTERM, "-f", "jsonl")
        events = [strict_json(x) for x in out.splitlines()]
        self.assertEqual(events[-1]["event"], "done")
        self.assertFalse(events[-1]["complete"])
        self.assertEqual({x["event"] for x in events[:-1]}, {"segment"})

    def test_offset_and_duration(self):
        result = self.transcribe("--offset", "5", "--duration", "3.5", "-f", "json", str(SAMPLE))
        value = strict_json(result.out)
        self.assertAlmostEqual(value["duration"], 8.5, delta=0.01)
        self.assertGreaterEqual(value["segments"][0]["start"], 5)
        self.assert_times([(s["start"], s["end"]) for s in value["segments"]], 8.5)
        beyond = self.transcribe("--offset", "99", str(SAMPLE))
        self.assert_fails(beyond, 4, "hello.flac", "--offset")

    def test_a_failure_does_not_stop_the_others(self):
        bad = self.folder / "bad.wav"
        bad.write_bytes(b"this is no sound")
        out = self.folder / "some"
        result = self.transcribe("-f", "txt", "-o", str(out), str(bad), "missing.wav", str(SAMPLE))
        self.assertEqual(result.rc, 1, result)
        self.assertEqual([x.name for x in out.iterdir()], ["hello.txt"])
        self.assertIn("bad.wav", result.err)
        self.assertIn("missing.wav", result.err)
        events = self.transcribe("-f", "jsonl", str(bad), str(SAMPLE)).out.splitlines()
        self.assertEqual(strict_json(events[0])["event"], "error")
        self.assertEqual(strict_json(events[-1])["event"], "done")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_that_cannot_be_written(self):
        out = self.folder / "read-only"
        out.mkdir(mode=stat.S_IRUSR | stat.S_IXUSR)
        self.assert_fails(self.transcribe("-f", "txt", "-o", str(out), str(SAMPLE)), 1, "hello.txt")
        self.assertEqual(list(out.iterdir()), [])

    def test_recordings_decoded_together(self):
        three = [str(SAMPLE)] * 3
        alone = self.transcribe(*three).out
        self.assertEqual(alone.count(b"[00:00.000"), 3)
        self.assertEqual(self.transcribe("--batch-size", "3", *three).out, alone)

    def test_quiet_and_verbose(self):
        loud = self.transcribe("-v", str(SAMPLE))
        self.assertIn("language", loud.err)
        several = self.transcribe("-q", str(SAMPLE), str(SAMPLE))
        self.assertEqual(several.err, "")

    def test_more_threads_than_processors(self):
        result = run("-m", str(model_path("tiny.en")), "-t", "512", str(SAMPLE))
        self.assertEqual(result.rc, 0, result)
        self.assertIn("warning", result.err)

    def test_device(self):
        self.assertEqual(self.transcribe("--device", "cpu", str(SAMPLE)).rc, 0)
        for name in ("abc", "-5", "99"):
            self.assert_fails(self.transcribe("--device", name, str(SAMPLE)), 2, name)

    def test_bench(self):
        result = run("bench", *with_model(), "--runs", "1", "--json", str(SAMPLE))
        self.assertEqual(result.rc, 0, result)
        value = strict_json(result.out)
        for stage in "load audio mel encode prefill step total".split():
            self.assertGreater(value["stages"][stage]["median_ms"], 0, stage)
        self.assertGreater(value["real_time_factor"], 0)
        self.assertGreater(value["peak_memory_bytes"], 30e6)
        self.assertGreater(value["tokens"], 10)

    def test_inspect(self):
        result = run("inspect", str(model_path("tiny.en")))
        self.assertEqual(result.rc, 0, result)
        self.assertIn(b"whisper", result.out)
        self.assertLess(result.seconds, 2)


if __name__ == "__main__":
    main()
