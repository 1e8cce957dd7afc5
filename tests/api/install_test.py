#!/usr/bin/env python3
"""Installs the build folder into an empty one, moves that, and builds a project against it, by
CMake's find_package and by pkg-config:  install_test.py BUILD_FOLDER MODEL AUDIO"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

build, model, audio = sys.argv[1:]
here = pathlib.Path(__file__).resolve().parent


def run(*command, **more):
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, **more)


with tempfile.TemporaryDirectory(prefix="transcribe-install-") as folder:
    folder = pathlib.Path(folder)
    run("cmake", "--install", build, "--prefix", folder / "first")
    prefix = folder / "moved"
    shutil.move(folder / "first", prefix)

    run("cmake", "-S", here / "consumer", "-B", folder / "b", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder / "b")
    run(folder / "b" / "consumer", model, audio)

    if not shutil.which("pkg-config"):
        print("pkg-config is not installed: that half is skipped")
        sys.exit(0)
    env = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig"),
           "LD_LIBRARY_PATH": str(prefix / "lib"), "DYLD_LIBRARY_PATH": str(prefix / "lib")}
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "transcribe"], check=True, env=env,
                           capture_output=True, text=True).stdout.split()
    program = folder / "by-pkg-config"
    flags += env.get("CXXFLAGS", "").split()
    run("cc", "-std=c11", here.parents[1] / "examples" / "transcribe.c", "-o", program, *flags)
    run(program, model, audio, env=env)
