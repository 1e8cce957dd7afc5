"""What the end-to-end tests share: running the command, strict readers of its outputs, the skips.

TRANSCRIBE_BIN names the program (ctest sets it). Models come from the user's cache. The cases are
folders beside the repository (../shared/cases), each with a make.sh that makes the inputs; a clone
without them skips their tests.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples" / "hello.flac"
SPOKEN = ("Hello, and welcome. This is a short sample of speech, made by a machine for another "
          "machine. If you can read these words, then everything works.")
CASES = ROOT.parent / "shared" / "cases"
AUDIO = ROOT.parent / "shared" / "audio"
BIN = os.environ.get("TRANSCRIBE_BIN") or str(ROOT / "build" / "release" / "bin" / "transcribe")
SANITIZED = bool(os.environ.get("SANITIZED"))
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")

# The sentences that the cases speak (cases/lib.sh).
W = "The weather today is sunny and warm. Please open the window and close the door."
N = "My name is Peter and I live in London with two cats and a dog."
D = "The doctor told me to drink more water every day."


def model_path(name):
    return CACHE / "transcribe" / "models" / f"{name}-f16.gguf"


def with_model(name="tiny.en"):
    """Options for the model, for the numbers of the reference, and for one thread: ctest runs other
    tests beside this one."""
    return ["-m", str(model_path(name)), "--precision", "f32", "-t", "1"]


def needs_model(name):
    found = model_path(name).is_file()
    return unittest.skipUnless(found, f"no model {name} in the cache; run: transcribe pull {name}")


def needs_cases(test):
    missing = [x for x in ("bash", "espeak-ng", "sox", "ffmpeg") if not shutil.which(x)]
    if not CASES.is_dir():
        return unittest.skip("the folder ../shared/cases is not beside this repository")(test)
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")(test)


class Result:
    def __init__(self, rc, out, err, seconds):
        self.rc, self.out, self.seconds = rc, out, seconds
        self.err = err.decode("utf-8", "replace")

    def __str__(self):
        return f"exit {self.rc} after {self.seconds:.1f} s\n{self.out[-2000:]}\n{self.err[-2000:]}"


def run(*args, stdin=b"", timeout=120, cwd=None, memory=None, env=None):
    """Runs the command; `memory` limits its address space in bytes (not under a sanitizer)."""
    limit = None
    if memory and not SANITIZED:
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    start = time.monotonic()
    done = subprocess.run([BIN, *args], input=stdin, capture_output=True, cwd=cwd, env=env,
                          timeout=timeout * (5 if SANITIZED else 1), preexec_fn=limit)
    return Result(done.returncode, done.stdout, done.stderr, time.monotonic() - start)


def srt(data):
    """[(start, end, text)] of strict SubRip; ValueError where it is not."""
    text = data.decode("utf-8")
    if text and not text.endswith("\n\n"):
        raise ValueError("the last cue is not closed")
    cues = []
    for number, block in enumerate(filter(None, text.split("\n\n")), 1):
        lines = block.split("\n")
        time_re = r"(\d\d+):([0-5]\d):([0-5]\d),(\d{3})"
        match = re.fullmatch(f"{time_re} --> {time_re}", lines[1])
        if lines[0] != str(number) or not match or len(lines) != 3 or "-->" in lines[2]:
            raise ValueError(f"no SubRip cue: {block!r}")
        h, m, s, ms, h2, m2, s2, ms2 = map(int, match.groups())
        cues.append((h * 3600 + m * 60 + s + ms / 1000, h2 * 3600 + m2 * 60 + s2 + ms2 / 1000,
                     lines[2]))
    return cues


def vtt(data):
    """The same of strict WebVTT."""
    text = data.decode("utf-8")
    if not text.startswith("WEBVTT\n\n"):
        raise ValueError("no WebVTT header")
    cues = []
    for block in filter(None, text[len("WEBVTT\n\n"):].split("\n\n")):
        head, _, body = block.partition("\n")
        time_re = r"(?:(\d\d+):)?([0-5]\d):([0-5]\d)\.(\d{3})"
        match = re.fullmatch(f"{time_re} --> {time_re}", head)
        if not match or not body or "\n" in body or "-->" in body:
            raise ValueError(f"no WebVTT cue: {block!r}")
        h, m, s, ms, h2, m2, s2, ms2 = (int(x or 0) for x in match.groups())
        body = body.replace("&lt;", "<").replace("&amp;", "&")
        cues.append((h * 3600 + m * 60 + s + ms / 1000, h2 * 3600 + m2 * 60 + s2 + ms2 / 1000,
                     body))
    return cues


def strict_json(data):
    def refuse(constant):
        raise ValueError(constant)
    return json.loads(data.decode("utf-8"), parse_constant=refuse)


NUMBERS = dict(one="1", two="2", three="3", four="4", five="5", six="6", seven="7", eight="8",
               nine="9", ten="10")


def words(text):
    """Lower case, no punctuation, digits for number words."""
    text = re.sub(r"[^\w' ]+", " ", text.lower()).replace("'", "")
    return [NUMBERS.get(word, word) for word in text.split()]


def wer(reference, text):
    """Word error rate of `text`."""
    a, b = words(reference), words(text)
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1] / max(1, len(a))


def loops(text, n_phrase=3, n_repeats=4):
    """Does a phrase of up to n_phrase words come n_repeats times in a row?"""
    w = words(text)
    return any(all(w[i + r * n:i + (r + 1) * n] == w[i:i + n] for r in range(n_repeats))
               for n in range(1, n_phrase + 1) for i in range(len(w) - n * n_repeats + 1))


class Test(unittest.TestCase):
    """A test with a folder of its own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="transcribe-e2e-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)

    def assert_fails(self, result, rc, *needles):
        """Ended by itself with `rc` and one line that holds the needles; nothing on stdout."""
        self.assertEqual(result.rc, rc, result)
        lines = [x for x in result.err.splitlines() if not x.startswith("transcribe: warning")]
        self.assertEqual(len(lines), 1, result)
        self.assertTrue(lines[0].startswith("transcribe: "), result)
        for needle in needles:
            self.assertIn(needle.lower(), lines[0].lower(), result)
        self.assertEqual(result.out, b"", result)

    def assert_times(self, spans, duration, where=""):
        last = 0
        for start, end in spans:
            self.assertLessEqual(0, start, where)
            self.assertLessEqual(start, end, where)
            self.assertLessEqual(end, duration + 0.02, where)
            self.assertLessEqual(last, start, where)
            last = start

    def assert_words(self, text, wanted, where=""):
        for word in wanted.split():
            self.assertIn(word.lower(), words(text), f"{where}: {text!r}")


class Case(Test):
    """Inputs that ../shared/cases/NAME/make.sh makes, in self.inputs."""
    case = ""
    make_env = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.inputs = cls.folder / "in"
        subprocess.run(["bash", str(CASES / cls.case / "make.sh"), str(cls.inputs)], check=True,
                       env={**os.environ, **cls.make_env}, stdout=subprocess.DEVNULL)

    def transcribe(self, names, *options, model="tiny.en", rc=0):
        """{name: JSON} of inputs that one process does together."""
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        result = run(*with_model(model), "-f", "json", "-o", str(out), *options, "--",
                     *[str(self.inputs / name) for name in names], timeout=300)
        self.assertEqual(result.rc, rc, result)
        self.last = result
        found = {}
        for name in names:
            path = out / (pathlib.Path(name).stem + ".json")
            if path.exists():
                found[name] = strict_json(path.read_bytes())
        for name, value in found.items():
            spans = [(s["start"], s["end"]) for s in value["segments"]]
            self.assert_times(spans, value["duration"], name)
        return found


REFERENCE = ROOT.parent / "shared" / "reference" / "whisper"


@unittest.skipUnless(REFERENCE.is_dir() and AUDIO.is_dir(),
                     "the folder ../shared is not beside this repository")
class Reference(Test):
    """What openai-whisper gives at temperature 0, and what we give under the same conditions."""

    def expected(self, model):
        return json.loads((REFERENCE / f"openai-{model}.json").read_text(encoding="utf-8"))

    def transcripts(self, model, names, *options):
        out = self.folder / "-".join([model, *options])
        result = run(*with_model(model), "-f", "json", "-o", str(out),
                     "--temperature-increment-on-fallback", "0", "--batch-size", "1", *options,
                     *[str(AUDIO / name) for name in names], timeout=600)
        self.assertEqual(result.rc, 0, result)
        return {x: strict_json((out / f"{x.rsplit('.', 1)[0]}.json").read_bytes()) for x in names}


def main():
    """Runs the tests of the calling file; 77, which ctest shows as skipped, when none could run."""
    program = unittest.main(exit=False, verbosity=2)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun == len(result.skipped) else 0)
