"""Real weights against openai-whisper: ../shared/reference/whisper has what the reference gives for
the files of ../shared/audio at temperature 0. Files that are 16 kHz mono already: tokens are equal.
"""
from harness import Reference, main, needs_model


class Tokens(Reference):
    def assert_equal_tokens(self, model, mode, names, *options):
        want = self.expected(model)
        for name, ours in self.transcripts(model, names, *options).items():
            theirs = want[name].get(mode) or want[name]["greedy_ts"]
            tokens = [[t for s in x["segments"] for t in s["tokens"]] for x in (ours, theirs)]
            self.assertEqual(*tokens, f"{model} {mode} {name}")
            self.assertEqual(ours["text"].strip(), theirs["text"].strip(), name)

    @needs_model("tiny.en")
    def test_tokens_of_tiny_en(self):
        names = ["jfk.wav", "dots.wav", "en-libri-1088.wav"]
        self.assert_equal_tokens("tiny.en", "greedy_ts", names)
        self.assert_equal_tokens("tiny.en", "greedy_nots", names, "--without-timestamps",
                                 "--condition-on-previous-text", "False")

    @needs_model("base")
    def test_tokens_and_languages_of_base(self):
        names = ["german.wav", "ja.wav", "zh.wav", "ko.wav", "ru.wav"]
        self.assert_equal_tokens("base", "greedy_ts", names)
        want = self.expected("base")
        for name, ours in self.transcripts("base", names).items():
            best = max(want[name]["lang_probs"].items(), key=lambda item: item[1])
            self.assertEqual(ours["language"], best[0], name)
            self.assertAlmostEqual(ours["language_probability"], best[1], delta=0.01, msg=name)

    @needs_model("base")
    def test_translation(self):
        want = self.expected("base")
        names = ["german.wav", "ko.wav"]
        for name, ours in self.transcripts("base", names, "--task", "translate").items():
            self.assertEqual(ours["text"].strip(), want[name]["translate"].strip(), name)


if __name__ == "__main__":
    main()
