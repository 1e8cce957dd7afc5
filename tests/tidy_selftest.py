"""Proof that every check of tidy.py can fail, and is silent on a tree without faults."""
import tidy

BODY = "\n".join(f"    total += step({i});" for i in range(8))
CLEAN = {
    "src/base/error.h": "#pragma once\n// TRY: the only macro.\nint base();\n",
    "src/base/env.h": "#pragma once\nconst char* env(const char* name);\n",
    "src/base/env.cpp": '#include "base/env.h"\nauto x = getenv("TRANSCRIBE_LOG");\n',
    "src/tensor/graph.h": '#include <ggml.h>\n#include "base/env.h"\nvoid g(ggml_tensor* t);\n',
    "src/nn/ptr.cpp": "std::unique_ptr<Foo> make() { return std::unique_ptr<Foo>(new Foo); }\n",
    "src/nn/ops.cpp": '#include "base/error.h"\n#include "tensor/graph.h"\n'
                      'int k = 1\'000; const char* s = "new printf(";  // mutable new {\n',
    "src/families/registry.cpp": '#include "families/one/net.h"\n',
    "src/families/one/net.h": "#pragma once\nclass Net {\n  public:\n    Net() : a_{1} {}\n};\n",
    "apps/cli/main.cpp": f"int main() {{\n{BODY}\n    std::cout << 1;\n}}\n",
    "docs/ENVIRONMENT.md": "| TRANSCRIBE_LOG | level |\n",
    "scripts/run": "#!/bin/sh\n./build/work/tool ../root/x\n",
}


def function(n_lines, head="int f(Options o = {})"):
    return f"{head} {{\n" + "    x();\n" * (n_lines - 2) + "}\n"


FAULTS = [  # what is wrong, the file with it, a part of the sentence that has to come
    ("long function", "src/base/a.cpp", function(71), "71 lines"),
    ("long member", "src/a/a.cpp", f"class A {{\n{function(71, 'A() : b_{1}')}}};\n", "71 lines"),
    ("long test", "tests/unit/a.cpp", function(71, "TEST(A, b)"), "71 lines"),
    ("long file", "src/base/a.cpp", "int a;\n" * 501, "501 lines"),
    ("wide line", "tools/a.py", "x = 1  # " + "y" * 92 + "\n", "101 columns"),
    ("layer above", "src/base/a.cpp", '#include "tensor/graph.h"\n', "base/ may not see tensor/"),
    ("sibling", "src/decode/a.cpp", '#include "audio/mel.h"\n', "decode/ may not see audio/"),
    ("asr is low", "src/asr/a.cpp", '#include "tensor/graph.h"\n', "asr/ may not see tensor/"),
    ("family", "src/families/two/a.cpp", '#include "families/one/net.h"\n', "may not see one"),
    ("foreign layer", "src/misc/a.cpp", '#include "base/error.h"\n', "not a layer"),
    ("bare include", "src/nn/a.cpp", '#include "ops.h"\n', "needs its path"),
    ("ggml include", "src/blocks/a.cpp", "#include <ggml-cpu.h>\n", "tensor/ and nn/ only"),
    ("ggml call", "src/families/one/a.cpp", "auto y = ggml_add(c, a, b);\n", "`ggml_`"),
    ("getenv", "src/engine/a.cpp", 'auto v = std::getenv("HOME");\n', "`getenv`"),
    ("printf", "src/engine/a.cpp", 'void f() { std::printf("x"); }\n', "`printf`"),
    ("cerr", "src/engine/a.cpp", "void f() { std::cerr << 1; }\n", "`std::cerr`"),
    ("exit", "src/engine/a.cpp", "void f() { exit(1); }\n", "never exits"),
    ("thread", "src/engine/a.cpp", "std::thread t;\n", "`std::thread`"),
    ("raw new", "src/engine/a.cpp", "auto* p = new Foo;\n", "`new`"),
    ("mutable", "src/engine/a.h", "mutable int x;\n", "`mutable`"),
    ("unfinished", "tests/unit/a.cpp", "// FIX" "ME later\n", "finish it"),
    ("lonely header", "src/base/lone.h", "#pragma once\n", "nobody includes"),
    ("copy", "src/base/a.cpp", f"int sum() {{\n{BODY}\n}}\n", "lines or more are the same"),
    ("environment", "src/base/env.cpp", '#include "base/env.h"\nauto x = "TRANSCRIBE_NEW";\n',
     "TRANSCRIBE_NEW is not in"),
    ("big file", "tests/data/a.bin", "\0" * 1_000_001, "1,000,001 bytes"),
    ("machine path", "docs/a.md", "see /wo" "rk/main\n", "path of one machine"),
    ("registry", "scripts/get", "curl https://py" "pi.org/simple\n", "by name"),
]


def faults_of(files):
    return [fault for check in tidy.CHECKS for fault in check(files)]


def main():
    bad = [f"the clean tree: {path}:{n}: {what}" for path, n, what in faults_of(CLEAN)]
    for name, path, text, sentence in FAULTS:
        found = [(where, what) for where, _, what in faults_of({**CLEAN, path: text})]
        if not any(where == path and sentence in what for where, what in found):
            bad.append(f"{name}: not found in {path}; found: {found}")
    exempt = {**CLEAN, "src/base/a.cpp": "// tidy: data\n" + function(71) + "int a;\n" * 501}
    bad += [f"exempt: {what}" for path, _, what in faults_of(exempt)]
    used = {check.__name__ for check in tidy.CHECKS
            for _, path, text, _ in FAULTS if list(check({**CLEAN, path: text}))}
    bad += [f"{check.__name__} was never seen to fail" for check in tidy.CHECKS
            if check.__name__ not in used]
    print("\n".join([*bad, f"tidy: self test of {len(FAULTS)} faults, {len(bad)} wrong"]))
    return 1 if bad else 0
