#!/usr/bin/env python3
"""The shared library exports exactly the functions that the header declares:
exports_test.py LIBRARY HEADER"""
import re
import shutil
import subprocess
import sys

library, header = sys.argv[1:]
if not shutil.which("nm"):
    print("skipped: nm is not installed")
    sys.exit(77)
listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                         text=True).stdout
exported = {line.split()[-1].split("@")[0] for line in listing.splitlines()}
with open(header, encoding="utf-8") as file:
    text = re.sub(r"//[^\n]*", "", file.read())
declared = set(re.findall(r"TRANSCRIBE_API[^;(]*?\b(transcribe_\w+)\(", text))
print(f"{len(declared)} functions declared, {len(exported)} symbols exported")
print("declared and not exported:", sorted(declared - exported))
print("exported and not declared:", sorted(exported - declared))
sys.exit(0 if declared == exported and declared else 1)
