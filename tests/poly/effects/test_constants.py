"""Variables with one value: compared with what a compiled program computes."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.effects import constants
from warpsmith.poly.effects.origin import Origin

HEAD = "#define N 40\nenum { THREE = 3 };\nint g(int *p);\n"


def _constants(folder: Path, body: str) -> dict[str, int]:
    path = folder / "f.c"
    path.write_text(f"{HEAD}int f(int n, int *a)\n{{\n{body}\nreturn n;\n}}\n")
    program = load_program([str(path)], FrontOptions()).program
    made = next(f for _, f in program.functions() if f.symbol.name == "f")
    return {symbol.name: value for symbol, value in Origin.of(program, made).constants.items()}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("int m = N / 2, k = 2 * m - 1;", {"m": 20, "k": 39}),
        ("int a1 = -7, b = a1 / 2, c = a1 % 2, d = THREE << 2, e = (int)sizeof(int) - 1;",
         {"a1": -7, "b": -3, "c": -1, "d": 12, "e": 3}),
        ("int m = n, k = m + 1;", {}),
        ("int m = 3; m++; int k = m;", {}),
        ("int m = 3; for (int i = 0; i < n; i++) { int k = m + 1; m = k; }", {}),
        ("int m = 3; g(&m); int k = m;", {}),
        ("unsigned char c = 300; int k = c;", {}),
        ("unsigned u = 2u - 3u; unsigned v = 5u / -1;", {}),
        ("int z = 0, k = 4 / z, r = 4 % z;", {"z": 0}),
        ("volatile int v = 3; int k = v;", {}),
        ("static int s = 3; int k = s;", {}),
        ("int big = 2147483647, k = big + 1;", {"big": 2147483647}),
        ("_Bool b = 2; double x = 3; int k = x;", {}),
        ("int k; k = 3;", {}),
    ],
)  # fmt: skip
def test_which_values_are_known(tmp_path: Path, body: str, found: dict[str, int]) -> None:
    assert _constants(tmp_path, body) == found


_TYPES = ("int", "unsigned", "long", "short", "unsigned char", "signed char", "unsigned long")


def _declarations(seed: int) -> list[tuple[str, str, str]]:
    source = random.Random(seed)
    made: list[tuple[str, str, str]] = []

    def term(depth: int) -> str:
        if not depth or source.random() < 0.2:
            names = [name for _, name, _ in made]
            return source.choice([str(source.randrange(-9, 40)), f"{source.randrange(9)}u", "THREE", "N", *names])
        if source.random() < 0.2:
            return f"({source.choice(_TYPES)})({term(depth - 1)})"
        op = source.choice(("+", "-", "*", "/", "%", "<<", ">>"))
        right = str(source.randrange(1, 4)) if op in ("/", "%", "<<", ">>") else term(depth - 1)
        return f"({term(depth - 1)} {op} {right})"

    for number in range(60):
        made.append((source.choice(_TYPES), f"v{number}", term(source.randrange(1, 4))))
    return made


def _wrong(folder: Path, seed: int) -> tuple[int, list[str]]:
    """Return how many values are known, and the variables that have another one when the program runs."""
    declared = _declarations(seed)
    found = _constants(folder, "\n".join(f"{type} {name} = {value};" for type, name, value in declared))
    lines = "\n".join(
        f'{type} {name} = {value}; printf("{name} %lld\\n", (long long){name});' for type, name, value in declared
    )
    path = folder / "run.c"
    path.write_text(f"#include <stdio.h>\n{HEAD}int main(void)\n{{\n{lines}\nreturn 0;\n}}\n")
    subprocess.run(["gcc", "-w", "-O0", "-fwrapv", "-o", folder / "run", path], check=True)
    out = subprocess.run([folder / "run"], capture_output=True, text=True, check=True).stdout
    values = {line.split()[0]: int(line.split()[1]) for line in out.splitlines()}
    return len(found), [name for name, value in found.items() if values[name] != value]


@pytest.mark.parametrize("seed", range(3))
def test_a_value_is_the_one_that_the_program_has(tmp_path: Path, seed: int) -> None:
    known, wrong = _wrong(tmp_path, seed)
    assert known > 15 and not wrong


def test_a_conversion_that_is_forgotten_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "_in_range", lambda value, _: value)
    assert any(_wrong(tmp_path, seed)[1] for seed in range(3))
