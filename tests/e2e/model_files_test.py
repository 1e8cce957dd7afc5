"""Model files: converted, quantized, brought from whisper.cpp's .bin; each of them runs."""
import importlib.util
import subprocess
import sys
import unittest

from harness import ROOT, SAMPLE, Test, main, model_path, needs_model, run, strict_json, wer

TWIN = ROOT / "tests" / "twins" / "data" / "whisper"
TOOL = ROOT / "tools" / "gguf_to_whisper_bin.py"
TYPES = "f32 f16 bf16 q8_0 q6_k q5_k_m q5_0 q4_k_m q4_0".split()


class Files(Test):
    def setUp(self):
        self.source = self.folder / "twin.gguf"
        self.assertEqual(run("convert", str(TWIN), str(self.source)).rc, 0)

    def test_every_type_is_written_and_loads(self):
        for kind in TYPES:
            out = self.folder / f"{kind}.gguf"
            with self.subTest(kind):
                result = run("quantize", str(self.source), str(out), kind.upper())
                self.assertEqual(result.rc, 0, result)
                self.assertIn(f"in {kind}, error", result.err)
                self.assertEqual(run("inspect", str(out)).rc, 0)
                self.assertEqual(run("-m", str(out), "-t", "1", "--duration", "0.5", "-l", "en",
                                     str(SAMPLE)).rc, 0)
                self.assertEqual(run("convert", str(TWIN), str(out), "--type", kind).rc, 0)

    def test_the_report_names_each_tensor(self):
        out = self.folder / "report.gguf"
        result = run("quantize", "--json", str(self.source), str(out), "f16")
        self.assertEqual(result.rc, 0, result)
        report = strict_json(result.out)
        tensors = {tensor["name"]: tensor for tensor in report["tensors"]}
        embedding = tensors["dec.token_embd.weight"]
        self.assertEqual((embedding["from"], embedding["to"]), ("f32", "f16"))
        self.assertEqual(embedding["bytes"] * 2, embedding["bytes_from"])
        self.assertTrue(0 < embedding["error"] < 1e-3, embedding)
        self.assertEqual(tensors["enc.pos_emb.weight"]["to"], "f32")
        lines = run("quantize", str(self.source), str(out), "f16").out.decode().splitlines()
        self.assertTrue(any(x.startswith("dec.token_embd.weight ") for x in lines), lines)
        self.assertEqual(run("quantize", "-q", str(self.source), str(out), "f16").out, b"")

    def test_faults_leave_no_file(self):
        out = self.folder / "none" / "out.gguf"
        for source, target, kind, rc, says in [
                (self.source, out, "f16", 3, "cannot be written"),
                (SAMPLE, self.folder / "out.gguf", "f16", 3, "not a gguf file"),
                (self.source, self.folder / "out.gguf", "q9", 2, "'q9' is not one of")]:
            self.assert_fails(run("quantize", str(source), str(target), kind), rc, says)
        self.assertEqual([x.name for x in self.folder.glob("out.gguf*")], [])


@needs_model("tiny.en")
class Texts(Test):
    def text(self, model):
        result = run("-m", str(model), "-t", "1", "--precision", "f32", "--no-timestamps",
                     str(SAMPLE))
        self.assertEqual(result.rc, 0, result)
        return result.out.decode()

    def test_quantized_models_say_nearly_the_same(self):
        whole = self.text(model_path("tiny.en"))
        for kind, limit in (("q8_0", 0), ("q4_k_m", 0.2), ("q5_0", 0.2), ("q4_0", 0.3)):
            out = self.folder / f"tiny.en-{kind}.gguf"
            self.assertEqual(run("quantize", str(model_path("tiny.en")), str(out), kind).rc, 0)
            with self.subTest(kind):
                self.assertLessEqual(wer(whole, self.text(out)), limit, self.text(out))
        q8 = self.folder / "tiny.en-q8_0.gguf"
        again = run("quantize", str(q8), str(self.folder / "again.gguf"), "q4_0")
        self.assert_fails(again, 2, "quantized already", "q8_0")

    @unittest.skipUnless(importlib.util.find_spec("gguf"), "the Python package gguf is missing")
    def test_a_bin_says_the_same(self):
        path = self.folder / "ggml-tiny.en.bin"
        subprocess.run([sys.executable, TOOL, model_path("tiny.en"), path], check=True)
        self.assertEqual(self.text(path), self.text(model_path("tiny.en")))
        self.assertIn(b"name          whisper-tiny.en\n", run("inspect", str(path)).out)
        out = self.folder / "tiny.en-from-bin.gguf"
        self.assertEqual(run("convert", str(path), str(out)).rc, 0)
        self.assertEqual(self.text(out), self.text(path))


if __name__ == "__main__":
    main()
