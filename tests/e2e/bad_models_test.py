"""Model files that are cut, foreign or lie about themselves: cases 10 and 11."""
from harness import SAMPLE, SANITIZED, Case, main, model_path, needs_cases, run


def refused(test, path, seconds, *needles, rc=3):
    result = run("-m", str(path), str(SAMPLE), timeout=20, memory=4_000_000_000)
    with test.subTest(path.name):
        test.assert_fails(result, rc, *needles)
        test.assertNotIn("GGML_ASSERT", result.err)
        test.assertLess(result.seconds, seconds * (5 if SANITIZED else 1), result)


@needs_cases
class NotWhole(Case):
    case = "10-model-file-not-whole"
    make_env = {"STT_MODEL": str(model_path("tiny.en"))} if model_path("tiny.en").exists() else {}

    def test_each_is_refused_by_name(self):
        foreign = ("lfs-pointer", "html-page", "torch-zip", "eight-bytes")
        paths = sorted(self.inputs.glob("*.gguf"))
        self.assertGreaterEqual(len(paths), 10)
        for path in paths:
            needles = ["not a gguf file"] if path.stem in foreign else []
            if path.stem == "old-ggml":  # whisper.cpp's format, which loads where it is whole
                needles = ["cut or damaged"]
            refused(self, path, 5, path.name, *needles)


@needs_cases
class CountsAndTypes(Case):
    case = "11-model-counts-and-types"

    def test_each_is_refused_by_name(self):
        paths = sorted(self.inputs.glob("*.gguf"))
        self.assertGreaterEqual(len(paths), 34)
        for path in paths:
            refused(self, path, 5, path.name)

    def test_the_reason_is_told(self):
        for name, needles in {"arch-llama": ["llama"], "version-1": ["version", "1"],
                              "version-99": ["version", "99"]}.items():
            refused(self, self.inputs / f"{name}.gguf", 5, *needles)

    def test_inspect_refuses_them_too(self):
        for name in ("n-kv-2e60", "array-in-array-100000-deep", "string-2e63", "dim-negative"):
            result = run("inspect", str(self.inputs / f"{name}.gguf"), memory=4_000_000_000)
            with self.subTest(name):
                self.assert_fails(result, 3, name)


if __name__ == "__main__":
    main()
