"""Word times with real weights against openai-whisper's (../shared/reference/whisper, mode `words`,
temperature 0), and what must hold of word times on any recording.
"""
from harness import Reference, main, needs_model

FRAME_S = 0.02  # attention looks at frames of this length


def words_of(transcript):
    return [word for segment in transcript["segments"] for word in segment.get("words", [])]


class Words(Reference):
    def word_transcripts(self, model, names, *options):
        return self.transcripts(model, names, "--word-timestamps", "True", *options)

    def assert_equal(self, model, names):
        """Tokens and words are the reference's, and 98 % of the words' ends within a frame."""
        n_words = n_near = 0
        want = self.expected(model)
        for name, ours in self.word_transcripts(model, names).items():
            theirs = want[name]["words"]
            tokens = [[t for s in x["segments"] for t in s["tokens"]] for x in (ours, theirs)]
            self.assertEqual(*tokens, name)
            pairs = list(zip(words_of(ours), words_of(theirs), strict=True))
            for a, b in pairs:
                self.assertEqual(a["word"], b["word"], name)
                self.assertAlmostEqual(a["probability"], b["probability"], delta=0.02, msg=name)
                n_words += 1
                n_near += all(abs(a[k] - b[k]) < FRAME_S + 1e-3 for k in ("start", "end"))
            self.assert_sound(ours)
        self.assertGreaterEqual(n_near, 0.98 * n_words, f"{n_near} of {n_words} words of {model}")

    def assert_sound(self, transcript):
        """Words joined are the text, none is improbable beyond all reason, and time moves on."""
        last = 0
        for segment in transcript["segments"]:
            words = segment["words"]
            self.assertEqual("".join(w["word"] for w in words), segment["text"])
            self.assertLessEqual(segment["start"], words[0]["end"])
            for word in words:
                self.assertLessEqual(last, word["start"] + 1e-9, word)
                self.assertLessEqual(word["start"], word["end"], word)
                self.assertGreater(word["probability"], 0, word)
                self.assertNotIn("\ufffd", word["word"])
                last = word["end"]
        self.assertLessEqual(last, transcript["duration"] + 1e-3)

    @needs_model("tiny.en")
    def test_words_of_tiny_en(self):
        self.assert_equal("tiny.en", ["jfk.wav", "dots.wav", "en-libri-1088.wav",
                                      "en-libri-2412-0000.flac", "en-austen-0870.wav"])

    @needs_model("base")
    def test_words_of_base_in_many_languages(self):
        self.assert_equal("base", ["jfk.wav", "german.wav", "ja.wav", "zh.wav", "ko.wav", "ru.wav",
                                   "fr-consulat.wav"])

    @needs_model("tiny.en")
    def test_silence_threshold_keeps_speech(self):
        names = ["jfk.wav", "en-libri-1088.wav"]
        plain = self.word_transcripts("tiny.en", names)
        careful = self.word_transcripts("tiny.en", names, "--hallucination-silence-threshold", "2")
        for name in names:
            self.assertEqual(careful[name]["text"], plain[name]["text"], name)
            self.assert_sound(careful[name])


if __name__ == "__main__":
    main()
