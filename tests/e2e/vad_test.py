"""Voice detection: the command alone, and --vad with tiny.en."""
import shutil
import struct
import subprocess
import unittest
import wave

from harness import CACHE, SAMPLE, Case, Test, main, needs_cases, needs_model, run, strict_json, \
    with_model

VOICE = CACHE / "transcribe" / "models" / "silero-vad-f32.gguf"
needs_voice = unittest.skipUnless(
    VOICE.is_file(), "no model silero-vad in the cache; run: transcribe pull silero-vad")
needs_ffmpeg = unittest.skipUnless(shutil.which("ffmpeg"), "not installed: ffmpeg")
SECOND = 16000


def read_samples(path):
    command = ["ffmpeg", "-v", "error", "-i", str(path), "-f", "s16le", "-ac", "1", "-ar",
               str(SECOND), "-"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def write_wav(path, data):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SECOND)
        file.writeframes(data)
    return path


def noise(seconds, loudness):
    """White noise that is the same every time."""
    state, out = 1, []
    for _ in range(int(seconds * SECOND)):
        state = (state * 1103515245 + 12345) % 2 ** 31
        out.append(int((state / 2 ** 30 - 1) * loudness * 32767))
    return struct.pack(f"<{len(out)}h", *out)


@needs_voice
class Command(Test):
    def test_regions(self):
        """What silero-vad 6.2.3 gives for the sample with its own defaults."""
        result = run("vad", "-f", "tsv", "--vad-min-silence-duration-ms", "100", str(SAMPLE))
        self.assertEqual(result.rc, 0, result)
        self.assertEqual(result.out.decode().splitlines(), [
            "start\tend\tfile", *(f"{a}\t{b}\t{SAMPLE}" for a, b in (
                (34, 574), (674, 1566), (1922, 3902), (4002, 6238), (6498, 9790)))])

    def test_formats(self):
        silent = write_wav(self.folder / "silent.wav", bytes(2 * SECOND))
        result = run("vad", "-f", "json", str(SAMPLE), str(silent))
        self.assertEqual(result.rc, 0, result)
        speech, none = [strict_json(line) for line in result.out.splitlines()]
        self.assertEqual((none["duration"], none["regions"]), (1, []))
        self.assertAlmostEqual(speech["duration"], 10.096)
        self.assertAlmostEqual(speech["speech_duration"],
                               sum(x["end"] - x["start"] for x in speech["regions"]))
        lines = run("vad", "-q", str(SAMPLE))
        self.assertEqual(lines.err, "", lines)
        self.assertTrue(lines.out.startswith(b"[00:00.034 --> "), lines)

    def test_one_bad_input_of_two(self):
        result = run("vad", "-q", str(self.folder / "none.wav"), str(SAMPLE))
        self.assertEqual(result.rc, 1, result)
        self.assertIn("none.wav", result.err)
        self.assertIn(b" --> ", result.out)

    def test_a_recognizer_is_no_detector(self):
        self.assert_fails(run("-m", "silero-vad", "-q", str(SAMPLE)), 3, "--vad-model")


class Arguments(Test):
    def test_refused(self):
        self.assert_fails(run("vad"), 2, "audio")
        self.assert_fails(run("vad", "-f", "srt", "a.wav"), 2, "srt", "lines, tsv, json")
        self.assert_fails(run("--vad-threshold", "0.6", "a.wav"), 2, "--vad")
        self.assert_fails(run("--vad", "--vad-threshold", "2", "a.wav"), 2, "from 0 to 1")
        self.assert_fails(run("vad", "--vad-model", "no/such.gguf", "a.wav"), 3, "no/such.gguf")


@needs_voice
@needs_model("tiny.en")
class Transcripts(Test):
    def transcribe(self, path, *options):
        result = run(*with_model(), "--vad", "-q", "-f", "json", *options, str(path), timeout=300)
        self.assertEqual(result.rc, 0, result)
        value = strict_json(result.out)
        self.assert_times([(s["start"], s["end"]) for s in value["segments"]], value["duration"])
        return value, result.seconds

    def test_without_speech_the_decoder_is_not_asked(self):
        for name, data in (("zeros", bytes(600 * 2 * SECOND)), ("noise", noise(60, 0.2))):
            path = write_wav(self.folder / f"{name}.wav", data)
            value, seconds = self.transcribe(path)
            self.assertEqual((value["text"], value["segments"]), ("", []), name)
            self.assertEqual(value["duration"], len(data) / 2 / SECOND)
            self.assertLess(seconds, 30, name)

    def test_speech_without_long_pauses_is_as_without(self):
        plain = strict_json(run(*with_model(), "-q", "-f", "json", str(SAMPLE)).out)
        self.assertEqual(self.transcribe(SAMPLE)[0], plain)

    @needs_ffmpeg
    def test_times_behind_a_pause_are_exact(self):
        """As those of the recording from which the pause is cut by hand, to the millisecond."""
        samples, at = read_samples(SAMPLE), int(6.36 * SECOND) * 2
        path = write_wav(self.folder / "pause.wav",
                         samples[:at] + bytes(20 * SECOND * 2) + samples[at:])
        # What touches speech is kept where it is less likely to be any.
        regions = strict_json(run("vad", "-f", "json", "--vad-threshold", "0.2",
                                  str(path)).out)["regions"]
        left, right = max(zip(regions, regions[1:]), key=lambda x: x[1]["start"] - x[0]["end"])
        begin, end = left["end"] + 0.3, right["start"] - 0.3
        whole = read_samples(path)
        cut = write_wav(self.folder / "cut.wav", whole[:round(begin * SECOND) * 2] +
                        whole[round(end * SECOND) * 2:])
        plain = strict_json(run(*with_model(), "-q", "-f", "json", str(cut)).out)
        paused = self.transcribe(path)[0]
        self.assertEqual(paused["text"], plain["text"])
        self.assertAlmostEqual(paused["duration"], plain["duration"] + end - begin)
        self.assertEqual(len(paused["segments"]), len(plain["segments"]))
        for a, b in zip(plain["segments"], paused["segments"]):
            times = a["start"], a["end"]
            if a["end"] - begin > begin - a["start"]:  # most of it lies behind the pause
                times = max(a["start"], begin) + end - begin, a["end"] + end - begin
            self.assertAlmostEqual(b["start"], times[0], places=5)
            self.assertAlmostEqual(b["end"], min(times[1], paused["duration"]), places=5)
        self.assertGreater(paused["segments"][-1]["start"], 26)

    @needs_ffmpeg
    def test_a_part_of_the_speech(self):
        value, _ = self.transcribe(SAMPLE, "--clip-timestamps", "6.4,10")
        self.assertIn("everything works", value["text"])
        self.assertNotIn("Hello", value["text"])
        self.assertGreater(value["segments"][0]["start"], 6)


@needs_voice
@needs_cases
@needs_model("tiny.en")
class NoSpeech(Case):
    case = "21-six-six-six"

    def test_noise_and_music(self):
        found = self.transcribe(["noise-30s.wav", "music-30s.wav"], "--vad")
        self.assertEqual({name: value["text"] for name, value in found.items()},
                         {"noise-30s.wav": "", "music-30s.wav": ""})


if __name__ == "__main__":
    main()
