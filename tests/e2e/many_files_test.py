"""Folders, lists, runs that break off and are resumed; subtitles with limited lines."""
import re
import shutil
import signal
import subprocess
import unittest

from harness import BIN, SAMPLE, Test, main, needs_model, run, strict_json, with_model


def names(folder):
    return sorted(str(x.relative_to(folder)) for x in folder.rglob("*") if x.is_file())


@needs_model("tiny.en")
class ManyFiles(Test):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.calls = cls.folder / "calls"
        for name in ("a.flac", "may/a.flac", "may/late/b.FLAC", ".hidden/c.flac"):
            path = cls.calls / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SAMPLE, path)
        (cls.calls / "notes.txt").write_text("no sound")

    def transcribe(self, *args, **more):
        return run(*with_model(), *args, **more)

    def test_a_folder_keeps_its_subfolders(self):
        out = self.folder / "tree"
        result = self.transcribe("-f", "txt,srt", "-o", str(out), str(self.calls))
        self.assertEqual(result.rc, 0, result)
        stems = ["a", "may/a", "may/late/b"]
        self.assertEqual(names(out), sorted(f"{x}.{y}" for x in stems for y in ("txt", "srt")))
        self.assertEqual(len({(out / f"{x}.txt").read_bytes() for x in stems}), 1)

    def test_a_list_from_standard_input_with_zero_bytes(self):
        out = self.folder / "list"
        odd = self.folder / "two\nlines.flac"
        shutil.copy(SAMPLE, odd)
        files = f"{odd}\0{self.calls / 'a.flac'}\0".encode()
        result = self.transcribe("-f", "txt", "-o", str(out), "--files-from", "-", stdin=files)
        self.assertEqual(result.rc, 0, result)
        self.assertEqual(names(out), ["a.txt", "two\nlines.txt"])

    def test_failures_are_counted_and_named_and_the_rest_is_done(self):
        out = self.folder / "some"
        bad = self.folder / "bad.wav"
        bad.write_bytes(b"this is no sound")
        listed = self.folder / "list.txt"
        listed.write_text(f"{bad}\n{self.calls / 'a.flac'}\nmissing.wav\n")
        result = self.transcribe("-q", "-f", "txt", "-o", str(out), "--files-from", str(listed))
        self.assertEqual(result.rc, 1, result)
        self.assertEqual(names(out), ["a.txt"])
        self.assertIn(f"2 of 3 inputs failed: {bad}, missing.wav", result.err.splitlines()[-1])

    def test_a_run_goes_on_where_it_broke_off(self):
        out = self.folder / "resumed"
        first = self.transcribe("-f", "txt", "-o", str(out), str(self.calls / "a.flac"))
        self.assertEqual(first.rc, 0, first)
        (out / "a.txt").write_text("kept")
        command = ["-f", "txt", "-o", str(out), "--skip-existing", "--progress", str(self.calls)]
        second = self.transcribe(*command)
        self.assertEqual(second.rc, 0, second)
        self.assertIn("1 of 3 inputs skipped", second.err)
        self.assertEqual((out / "a.txt").read_text(), "kept")
        self.assertEqual(names(out), ["a.txt", "may/a.txt", "may/late/b.txt"])
        third = self.transcribe(*command)
        self.assertEqual((third.rc, third.out), (0, b""), third)
        self.assertIn("3 of 3 inputs skipped", third.err)

    def test_progress_counts_files_and_all_of_the_sound(self):
        files = [str(self.calls / x) for x in ("a.flac", "may/a.flac")]
        result = self.transcribe("--progress", "-f", "jsonl", *files)
        self.assertEqual(result.rc, 0, result)
        self.assertRegex(result.err, r"1 of 2: a.flac \[.*of 0:20, ")

    def test_what_was_interrupted_is_no_result(self):
        if not shutil.which("ffmpeg"):
            self.skipTest("ffmpeg is not installed")
        out, long = self.folder / "interrupted", self.folder / "long.flac"
        subprocess.run(["ffmpeg", "-v", "error", "-stream_loop", "60", "-i", str(SAMPLE),
                        str(long)], check=True)
        command = [BIN, *with_model(), "--progress", "-f", "json", "-o", str(out), str(long)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lines = iter(process.stderr.readline, b"")
        next(x for x in lines if re.search(rb" (\d*[1-9]:|0:[1-9])\d+ of 10:15", x))  # some is done
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(names(out), ["long.partial.json"])
        value = strict_json((out / "long.partial.json").read_bytes())
        self.assertGreater(len(value["segments"]), 0)
        self.assertLess(value["segments"][-1]["end"], 600)
        again = self.transcribe("-f", "json", "-o", str(out), "--skip-existing", "--duration",
                                "5", str(long))
        self.assertEqual(again.rc, 0, again)
        self.assertEqual(names(out), ["long.json"])

    def test_subtitles_of_short_lines(self):
        out = self.folder / "lines"
        result = self.transcribe("-f", "srt,vtt,txt", "-o", str(out), "--max-line-width", "20",
                                 "--max-line-count", "2", str(SAMPLE))
        self.assertEqual(result.rc, 0, result)
        spoken = (out / "hello.txt").read_text(encoding="utf-8").split()
        for format, skip in (("srt", 2), ("vtt", 1)):
            blocks = (out / f"hello.{format}").read_text(encoding="utf-8").split("\n\n")
            cues = [x.split("\n")[skip:] for x in blocks if "-->" in x]
            self.assertGreater(len(cues), 3)
            for lines in cues:
                self.assertLessEqual(len(lines), 2, lines)
                self.assertTrue(all(len(x) <= 20 for x in lines), lines)
            self.assertEqual([w for lines in cues for x in lines for w in x.split()], spoken)


if __name__ == "__main__":
    main()
