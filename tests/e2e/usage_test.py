"""What is wrong with a command line is said before any work, in one line, with exit 2 (case 15)."""
from harness import ROOT, SAMPLE, SANITIZED, Test, main, run

HELP = "--help"


class Usage(Test):
    def refused(self, *args, needles=()):
        result = run(*args, str(SAMPLE))
        self.assert_fails(result, 2, HELP, *needles)
        self.assertLess(result.seconds, 10 if SANITIZED else 2, result)

    def test_numbers(self):
        for value in ("0", "-1", "abc", "1e9", "99999999999999999999", "2.5"):
            self.refused("-t", value, needles=("--threads", value, "1 to 1024"))
        for value in ("abc", "-1", "nan", "inf", "1e999", "0,2"):
            self.refused("--temperature", value, needles=("--temperature", value, "0 to 2"))
        for value in ("-1", "abc", "1e99"):
            self.refused("--offset", value, needles=("--offset", value))
            self.refused("--duration", value, needles=("--duration", value))

    def test_names(self):
        self.refused("--bogus", needles=("--bogus",))
        self.refused("-f", "doc", needles=("doc", "srt"))
        self.refused("--task", "sing", needles=("sing", "translate"))
        self.refused("-m", "a", "-m", "b", needles=("--model",))
        self.refused("-l", " ", needles=("--language",))

    def test_missing(self):
        self.assert_fails(run(str(SAMPLE), "-t"), 2, HELP, "-t")
        self.assert_fails(run(), 2, HELP, "audio")
        self.assert_fails(run("bench"), 2, HELP, "audio")
        self.assert_fails(run("convert", "a"), 2, HELP, "OUT")

    def test_two_inputs_of_one_output(self):
        out = self.folder / "out"
        result = run("-o", str(out), "-f", "txt", "a/talk.wav", "b/talk.mp3")
        self.assert_fails(result, 2, "a/talk.wav", "b/talk.mp3")
        self.assertFalse(out.exists())

    def test_an_output_that_is_an_input(self):
        path = self.folder / "notes.txt"
        path.write_text("kept")
        self.assert_fails(run("-o", str(self.folder), "-f", "txt", str(path)), 2, "overwritten")
        self.assertEqual(path.read_text(), "kept")

    def test_help_and_version(self):
        for args in (["--help"], ["-h"], ["bench", "-h"], ["pull", "--help"], ["devices", "-h"]):
            result = run(*args)
            self.assertEqual((result.rc, result.err), (0, ""), result)
            self.assertIn(b"Usage: transcribe", result.out)
        result = run("--version")
        self.assertEqual(result.rc, 0)
        for part in (b"transcribe", b"ggml", b"FFmpeg", b"MIT"):
            self.assertIn(part, result.out)

    def test_the_readme_shows_the_help(self):
        shown = run("--help").out.decode()
        self.assertIn(f"```text\n{shown}```", (ROOT / "README.md").read_text(encoding="utf-8"))

    def test_lists(self):
        devices = run("devices")
        self.assertEqual(devices.rc, 0, devices)
        self.assertIn("cpu", devices.out.decode().lower())
        models = run("models")
        self.assertEqual(models.rc, 0, models)
        for name in ("tiny.en", "base"):
            self.assertIn(name, models.out.decode())


class Models(Test):
    def test_no_such_file(self):
        result = run("-m", str(self.folder / "no.gguf"), str(SAMPLE))
        self.assert_fails(result, 3, "no.gguf")

    def test_no_such_name(self):
        self.assert_fails(run("-m", "no-such-model", str(SAMPLE)), 3, "no-such-model")
        self.assert_fails(run("pull", "no-such-model"), 3, "no-such-model")


if __name__ == "__main__":
    main()
