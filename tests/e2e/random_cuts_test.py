"""What must hold of any cut of any recording, in every language and with every option: whole
characters, times that only go forward, nothing past the end, and all formats say the same.

The recordings are a folder beside the repository (../shared/audio); without it this is skipped.
"""
import random
import unittest

from harness import (AUDIO, Test, main, needs_model, run, srt, strict_json, vtt, with_model)

N_CUTS = 14
OPTIONS = ([], ["--word-timestamps", "True"], ["--batch-size", "3"], ["--without-timestamps"],
           ["--beam-size", "3"], ["--condition-on-previous-text", "False"],
           ["--word-timestamps", "True", "--batch-size", "2"])
RECORDINGS = ("zh.wav", "ja-meian-22k.wav", "ko-salmyeon.wav", "ru-glagoly.wav", "german.wav",
              "fr-consulat.wav", "es-mls-13697.opus", "en-spontaneous-2ch.wav", "noise.wav",
              "whole-earth.wav", "jobs-silence.wav", "de-simplicissimus.mp3")
SLACK = 0.011  # formats with hundredths round


@unittest.skipUnless(AUDIO.is_dir(), "the folder ../shared/audio is not beside this repository")
@needs_model("base")
class RandomCuts(Test):
    def test_whatever_holds(self):
        draw = random.Random(20)
        for i in range(N_CUTS):
            name = RECORDINGS[i % len(RECORDINGS)]
            offset, duration = draw.uniform(0, 4), draw.choice([0.3, 2.5, 7, 16, 31, 45])
            cut = ["--offset", f"{offset:.3f}", "--duration", f"{duration:.3f}"]
            with self.subTest(name=name, cut=cut, options=OPTIONS[i % len(OPTIONS)]):
                self.check(name, cut, OPTIONS[i % len(OPTIONS)], offset + duration)

    def check(self, name, cut, options, end):
        out = self.folder / "out"
        done = run(*with_model("base"), *options, *cut, "-f", "all", "-o", str(out),
                   str(AUDIO / name))
        self.assertEqual(done.rc, 0, done)
        stem = name.rpartition(".")[0]
        read = {x: (out / f"{stem}.{x}").read_bytes()
                for x in ("txt", "srt", "vtt", "tsv", "json", "jsonl", "csv", "lrc")}
        for kind, data in read.items():
            self.assertNotIn("�", data.decode("utf-8"), kind)
        told = strict_json(read["json"])
        self.check_times([(s["start"], s["end"]) for s in told["segments"]], end)
        words = [w for s in told["segments"] for w in s.get("words", [])]
        self.check_times([(w["start"], w["end"]) for w in words], end)
        for word in words:
            self.assertGreater(word["probability"], 0, word)
            self.assertTrue(word["word"].strip(), word)
        for cues in (srt(read["srt"]), vtt(read["vtt"])):
            self.check_times([(a, b) for a, b, _ in cues], end)
            self.assertEqual(" ".join(text for *_, text in cues).split(),
                             read["txt"].decode("utf-8").split())

    def check_times(self, spans, end):
        before = 0
        for start, stop in spans:
            self.assertLessEqual(before, start + SLACK, spans)
            self.assertLessEqual(start, stop, spans)
            self.assertLessEqual(stop, end + SLACK, spans)
            before = start


if __name__ == "__main__":
    main()
