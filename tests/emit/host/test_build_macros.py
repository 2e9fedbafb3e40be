"""Builds with other macros than those of the build that was ported stop, and no build with the same ones does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from warpsmith.emit.host.build_macros import macro_checks

GUARDED = "#ifndef SIZES_H\n#define SIZES_H\n#ifndef N\n#define N 100\n#endif\n#define OWN 1\n#endif\n"
# the text of a file, the options with which it was ported, and builds with what each says (None: it is made)
CASES: dict[str, tuple[str, str, dict[str, str | None]]] = {
    "a conditional that is off": (
        "#ifdef DEBUG\nint i;\n#endif\n",
        "",
        {"-DOTHER": None, "-DDEBUG": "a.c was ported without DEBUG", "-DDEBUG=0": "without -DDEBUG"},
    ),
    "a conditional that is on": (
        "#ifdef OPEN\nint i;\n#endif\n",
        "-DOPEN",
        {"-DOPEN=1": None, "": "with -DOPEN, or", "-DOPEN -UOPEN": "a.c was ported with OPEN"},
    ),
    "the last word counts": ("#ifdef A\nint i;\n#endif\n", "-D A -U A", {"-DA": "without A", "-DA -UA": None}),
    "a condition": (
        "#if defined(A) && B > 2\n#include <stdio.h>\nint i;\n#endif\n",
        "-DA -DB=3",
        {"-DA -DB=0x3": None, "-DA -DB=2": "with B=3", "-DB=3": "with A:", "-DA": "with B=3"},
    ),
    "later branches": (
        "#if A\nint i;\n#elif defined B\nint j;\n#else\n#endif\n",
        "-DA=0",
        {"-DA=1": "with A=0", "-DB -DA=0": "without B", "": "with A=0", "-DA=0+0": None},
    ),
    "nested": ("#ifdef A\n#ifdef B\n#define X 1\n#endif\n#endif\n", "-DA", {"-DA -DB": "without B", "-DB": "with A:"}),
    "a value": ("int a[N];\n", "-DN=(40+2)", {"-DN=42": None, "-DN=43": "with N=(40+2)", "-DN=(40+2)": None}),
    "a word": ("REAL a;\n", "-DREAL=double", {"-DREAL=float": "with REAL=double", "": "with REAL=double"}),
    "a value that is not compared": ("char *s = NAME;\n", '-DNAME="x"', {'-DNAME="y"': None, "": "with NAME defined"}),
    "a default": (GUARDED, "", {"-DN=10": "without N", "-DSIZES_H": None, "-DOWN": None}),
    "a default that is not used": (GUARDED, "-DN=10", {"-DN=10": None, "": "with N=10", "-DN=11": "with N=10"}),
    "nothing but pragmas": ("#ifdef A\n/* b */\n#pragma omp parallel for\n#endif\n", "", {"-DA": None}),
    "pragmas for a device": ("#ifdef A\n#pragma omp target data map(x)\n#endif\n", "", {"-DA": "without A"}),
    "library headers": ("#ifdef _OPENMP\n#include <omp.h>\n#endif\n", "-fopenmp", {"": None}),
    "its own headers": ('#ifdef A\n#include "a.h"\n#endif\n', "", {"-DA": "without A"}),
    "threads": ("#ifdef _OPENMP\nint i;\n#endif\n", "", {"-O2": None, "-fopenmp": "ported without -fopenmp"}),
    "no threads": ("#ifdef _OPENMP\nint i;\n#endif\n", "-fopenmp", {"-fopenmp -O2": None, "": "with -fopenmp"}),
    "assertions": ("void f(int i) { assert(i); }\n", "", {"-DNDEBUG": "without NDEBUG"}),
    "its own macro": ("#define A 1\n#if A\nint i;\n#endif\n", "", {"-DA=1": None}),
    "a macro that a conditional defines": (
        "#ifdef A\n#define B 1\n#endif\n#ifdef B\nint i;\n#endif\n",
        "",
        {"-DA": "without A", "-DB": "without B"},
    ),
    "the compiler's": ("#if defined(__AVX__) || defined(linux)\nint i;\n#endif\n", "", {"-mavx": None}),
    "a forced header": ("#ifdef A\nint i;\n#endif\n", "-include stdio.h", {"-include stdio.h -DA": None}),
    "not used": ("int i;\n", "-DA -DB=2", {"": None}),
}


def stops(lines: tuple[str, ...], flags: str, folder: Path) -> str | None:
    """Return what the compiler says of lines before the first of a file, if it stops."""
    command = ["gcc", "-fsyntax-only", "-Wall", "-Wundef", "-Werror", *flags.split(), "-x", "c", "-"]
    text = "\n".join(lines) + "\nint x;\n"
    done = subprocess.run(command, input=text, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.returncode or "#error" in done.stderr, done.stderr
    return done.stderr if done.returncode else None


@pytest.mark.parametrize("name", CASES)
def test_builds_with_other_macros_stop(name: str, tmp_path: Path) -> None:
    text, options, builds = CASES[name]
    lines = macro_checks("a.c", (text,), tuple(options.split()))
    assert stops(lines, options, tmp_path) is None
    for flags, said in builds.items():
        found = stops(lines, flags, tmp_path)
        assert (found is None) == (said is None), (flags, found)
        assert said is None or (found is not None and said in found)


def test_headers_are_asked_as_well() -> None:
    lines = macro_checks("a.c", ("int a[N];\n", GUARDED, "#if defined(DEEP)\ntypedef int t;\n#endif\n"), ())
    assert {line for line in lines if line.startswith("#if")} == {"#ifdef DEEP", "#ifdef N"}
