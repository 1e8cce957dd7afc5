#!/usr/bin/env python3
"""The rules of docs/STYLE.md that a machine can hold. Run by ctest; prints `file:line: fault`.

    tests/tidy.py             check every file that git tracks or would track; exit 1 on any fault
    tests/tidy.py --selftest  feed every check one clean tree and one fault it has to find

A check takes {path: text} and yields (path, line, sentence). Functions are found by their braces.
`tidy: data` in a table's function, or in a file's first 15 lines, lifts the limit of its length.
"""
import collections
import re
import statistics
import subprocess
import sys
from pathlib import Path

MAX_FUNCTION, MAX_FILE, MAX_COLUMNS, MAX_BYTES, WINDOW = 70, 500, 100, 1_000_000, 6

# What a layer may include besides itself: the closure of the direction in docs/ARCHITECTURE.md.
BELOW = {"base": ""}
for _layer, _direct in {
        "audio": "base", "text": "base", "asr": "base", "tensor": "base", "kernels": "base",
        "decode": "asr", "output": "asr", "nn": "tensor kernels", "blocks": "nn",
        "convert": "tensor asr text", "hub": "convert",
        "families": "audio text decode blocks", "engine": "families convert",
        "api": "engine output hub"}.items():
    _all = [_direct, *(BELOW[d] for d in _direct.split())]
    BELOW[_layer] = " ".join(sorted(set(" ".join(_all).split())))
GGML_LAYERS = ("src/tensor/", "src/nn/")

BANS = [  # pattern in code, where it holds, where it is allowed all the same, what to do instead
    (r"\bggml_|\bGGML_", ("src/", "apps/"), GGML_LAYERS, "ggml is called in tensor/ and nn/ only"),
    (r"\b(?:secure_)?getenv\b", ("src/", "apps/"), ("src/base/env.",), "base/env reads variables"),
    (r"\bv?f?printf\b|\bf?puts\b|\bstd::(?:cout|cerr|clog)\b|\bfmt::print", ("src/",), (),
     "the library never prints; use base/log or return an Error"),
    (r"\bstd::(?:exit|abort|terminate)\b|(?<![\w.>:])(?:exit|abort)\s*\(", ("src/",), (),
     "the library never exits; return an Error"),
    (r"\bstd::j?thread\b|\bstd::async\b|\bpthread_create\b", ("src/",),
     ("src/tensor/team.", "src/tensor/lanes."),
     "threads are owned by tensor/team"),
    (r"^(?!.*_ptr<).*?\b(new)\b", ("src/",), (), "no raw new: make_unique, or a _ptr<T>(new T)"),
    (r"\bmutable\b", ("src/",), (), "no mutable: models are immutable, sessions are not const"),
]
UNFINISHED = re.compile(r"\b(FIX" r"ME|TO" r"DO|XX" r"X)\b")
MACHINE = re.compile(r"(?:^|[\s\"'`=(:,\[<])(/(?:wo" r"rk|tmp/w|ro" r"ot|home/\w+))(?![\w-])")
REGISTRY = re.compile(r"\b(py" r"pi\.org|python" r"hosted|npm" r"js\.|crates\.i" r"o\b|"
                      r"(archive|security|deb|ports)\.(deb" r"ian|ubu" r"ntu)\.)")

CXX = (".cpp", ".h", ".hpp", ".c", ".cc")
NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\""
                   r"|(?<!\d)'(?:\\.|[^'\\\n])+'|^[ \t]*\#(?:\\\n|[^\n])*", re.S | re.M)


def strip(text):
    """Comments and preprocessor lines become nothing, literals 0; the line count stays."""
    return NOISE.sub(lambda m: "0" * (m[0][0] in "\"'R") + "\n" * m[0].count("\n"), text)


def matching(code, i):
    """The index after the brace that closes the one at i."""
    depth = 0
    for m in re.compile("[{}]").finditer(code, i):
        depth += 1 if m[0] == "{" else -1
        if depth == 0:
            return m.end()
    return len(code)


def functions(code):
    """(first, last line) of each function with its signature; lambdas belong to their owner."""
    i, begin, head = 0, 0, ""
    while m := re.compile(r"[{};]").search(code, i):
        head += code[i:m.start()]
        i = m.end()
        if m[0] == "{":
            plain = re.sub(r"\b(public|protected|private):|\btemplate\s*<[^{;]*?>(?=\s+[\w:])",
                           "", head).strip()
            open_paren = plain.count("(") > plain.count(")")
            member = re.search(r"\)[^:]*[^:]:[^:]", plain) and re.search(r"[\w>]$", plain)
            if open_paren or member:  # f(Options o = {}) or Foo() : member_{1}: the head goes on
                i, head = matching(code, i - 1), head + "}"
                continue
            if "(" in plain and not re.match(r"(struct|class|enum|union|namespace)\b", plain):
                start = re.compile(r"(\s|(public|protected|private):)*").match(code, begin).end()
                i = matching(code, i - 1)
                yield code.count("\n", 0, start) + 1, code.count("\n", 0, i) + 1
            elif not re.search(r"\b(struct|class|enum|union|namespace|extern)\b", plain):
                i = matching(code, i - 1)  # data
        begin, head = i, ""


def cxx(files, *roots):
    return {p: text for p, text in files.items() if p.endswith(CXX) and p.startswith(roots)}


def lines_of(files, select):
    return [(path, n, line) for path in filter(select, files)
            for n, line in enumerate(files[path].split("\n"), 1)]


def is_code(path):
    return path.endswith((*CXX, ".py", ".cmake", ".sh", "CMakeLists.txt")) or "." not in path


def check_lengths(files):
    for path, text in cxx(files, "src/", "apps/", "tests/", "include/", "bindings/").items():
        lines, n = text.split("\n"), text.count("\n")
        if n > MAX_FILE and "tidy: data" not in "\n".join(lines[:15]):
            yield path, n, f"the file has {n} lines, the limit is {MAX_FILE}"
        for first, last in functions(strip(text)):
            size = last - first + 1
            if size > MAX_FUNCTION and "tidy: data" not in "\n".join(lines[max(0, first - 2):last]):
                yield path, first, f"a function of {size} lines, the limit is {MAX_FUNCTION}"


def check_columns(files):
    for path, n, line in lines_of(files, is_code):
        if len(line) > MAX_COLUMNS:
            yield path, n, f"{len(line)} columns, the limit is {MAX_COLUMNS}"


def check_includes(files):
    for path, n, line in lines_of(files, lambda p: p.endswith(CXX) and p.startswith("src/")):
        m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)
        if not m:
            continue
        layer, target = path.split("/")[1], m[2].split("/")[0]
        if re.match(r"(ggml|gguf)[\w-]*\.h", m[2]):
            if not path.startswith(GGML_LAYERS):
                yield path, n, f"{m[2]} may be included in tensor/ and nn/ only"
        elif m[1] == '"' and "/" not in m[2]:
            yield path, n, f'"{m[2]}" needs its path from src/'
        elif layer not in BELOW:
            yield path, n, f"src/{layer} is not a layer of tests/tidy.py"
        elif target in BELOW and target != layer and target not in BELOW[layer].split():
            yield path, n, f"{layer}/ may not see {target}/ (it sees: {BELOW[layer] or 'nothing'})"
        elif layer == target == "families" and path.count("/") > 2 and m[2].count("/") > 1:
            mine, other = path.split("/")[2], m[2].split("/")[1]
            if mine != other:
                yield path, n, f"family {mine} may not see {other}; what they share goes to blocks/"


def check_bans(files):
    for path, text in cxx(files, "src/", "apps/").items():
        code = strip(text).split("\n")
        for pattern, roots, allowed, why in BANS:
            if path.startswith(roots) and not path.startswith(allowed or ("\n",)):
                for n, line in enumerate(code, 1):
                    if m := re.search(pattern, line):
                        yield path, n, f"`{m[m.lastindex or 0].strip()}`: {why}"
    for path, n, line in lines_of(files, is_code):
        if m := UNFINISHED.search(line):
            yield path, n, f"{m[0]}: finish it, or write an issue"


def check_unused_headers(files):
    included = collections.defaultdict(set)
    for path, _, line in lines_of(files, lambda p: p.endswith(CXX)):
        if m := re.match(r'\s*#\s*include\s*["<]([^">]+)', line):
            included[Path(m[1]).name].add((m[1], path))
    for path in cxx(files, "src/", "apps/"):
        own = path.rsplit(".", 1)[0]
        users = {u for name, u in included[Path(path).name] if path.endswith("/" + name)}
        if path.endswith(".h") and not {u for u in users if u.rsplit(".", 1)[0] != own}:
            yield path, 1, "nobody includes this header (its own .cpp does not count)"


def check_copies(files):
    skip = re.compile(r"(#|//|namespace\b|using\b|[{}()\[\];,]*$)")
    seen, reported = {}, {}
    for path, text in cxx(files, "src/", "apps/").items():
        rows = [(n, " ".join(line.split())) for n, line in enumerate(text.split("\n"), 1)]
        rows = [(n, row) for n, row in rows if not skip.match(row)]
        for i in range(len(rows) - WINDOW + 1):
            first = seen.setdefault(tuple(row for _, row in rows[i:i + WINDOW]), (path, rows[i][0]))
            if first[0] != path:
                reported.setdefault((path, first[0]), (rows[i][0], first[1]))
    for (path, other), (n, m) in reported.items():
        yield path, n, f"{WINDOW} lines or more are the same as from {other}:{m} on"


def check_places(files):
    for path, n, line in lines_of(files, lambda p: p.startswith("src/base/env.")):
        for name in re.findall(r'"(TRANSCRIBE_\w+)"', line):
            if not re.search(rf"\b{name}\b", files.get("docs/ENVIRONMENT.md", "")):
                yield path, n, f"{name} is not in docs/ENVIRONMENT.md"
    for path, text in files.items():
        if len(text) > MAX_BYTES:
            yield path, 1, f"{len(text):,} bytes, the limit is {MAX_BYTES:,}; models stay outside"
    for path, n, line in lines_of(files, lambda p: True):
        if m := MACHINE.search(line):
            yield path, n, f"`{m[1]}` is a path of one machine"
        if m := REGISTRY.search(line):
            yield path, n, f"`{m[0]}`: call packages by name, the installer knows the host"


CHECKS = [check_lengths, check_columns, check_includes, check_bans, check_unused_headers,
          check_copies, check_places]


def main():
    root = Path(__file__).resolve().parents[1]
    listing = ["git", "-C", str(root), "ls-files", "-coz", "--exclude-standard"]
    try:
        names = subprocess.run(listing, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"tidy: skipped, git cannot list the files: {error}")
        return 77
    data = {n: (root / n).read_bytes() for n in names.split("\0") if (root / n).is_file()}
    files = {n: d.decode("latin-1" if b"\0" in d else "utf-8", "replace") for n, d in data.items()}
    faults = [f for check in CHECKS for f in check(files)]
    for path, line, what in faults:
        print(f"{path}:{line}: {what}")
    n = sorted(last - first + 1 for text in cxx(files, "src/", "apps/").values()
               for first, last in functions(strip(text))) or [0]
    print(f"tidy: {len(files)} files, {len(faults)} faults; {len(n)} functions, lines: "
          f"median {statistics.median(n):g}, p90 {n[len(n) * 9 // 10]}, longest {n[-1]}")
    return 1 if faults else 0


if __name__ == "__main__":
    if "--selftest" in sys.argv:
        import tidy_selftest
        sys.exit(tidy_selftest.main())
    sys.exit(main())
