"""Scans, differences and replacements as loops: what they leave is what the library leaves."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from warpsmith.front.cxx.algorithms import running
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Block, For, Function, Literal
from warpsmith.tree.printing.printer import Printer, nothing
from warpsmith.tree.types import DOUBLE
from warpsmith.tree.walk import walk

HEAD = """#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <numeric>
#include <vector>
typedef std::vector<double> D;
typedef std::vector<int> I;
"""
FUNCTION = "static void f%d(D &v, D &w, I &k, float *p, short *h, int n, double s, int *moved) { %s }\n"
MADE = (
    "std::partial_sum(v.begin(), v.end(), w.begin());",
    "std::partial_sum(v.begin(), v.end(), v.begin());",
    "std::inclusive_scan(p, p + n, w.begin() + 1);",
    "std::inclusive_scan(h, h + n, k.begin());",
    "std::exclusive_scan(v.begin(), v.end(), w.begin(), 1);",
    "std::exclusive_scan(k.begin(), k.end(), k.begin(), n);",
    "std::exclusive_scan(v.begin(), v.begin() + n, v.begin(), s, std::multiplies<>());",
    "std::exclusive_scan(p, p + n, p, 0.5f, [](float a, float b) { return a > b ? a : b; });",
    "std::adjacent_difference(v.begin(), v.end(), v.begin());",
    "std::adjacent_difference(p, p + n, k.begin());",
    "std::adjacent_difference(k.begin() + 1, k.end(), w.begin());",
    "std::replace(v.begin(), v.end(), 7, -1);",
    "std::replace(p, p + n, 3.0f, 2.0f);",
    "std::replace_if(k.begin(), k.end(), [n](int x) { return x % 2 == n % 2; }, n);",
)
LEFT = (
    "std::replace(v.begin(), v.end(), v[0], v[1]);",
    "std::inclusive_scan(v.begin(), v.end(), w.begin(), std::multiplies<>());",
    "std::partial_sum(v.begin(), v.end(), std::back_inserter(w));",
    "std::adjacent_difference(h, h + n, h);",
    "std::adjacent_difference(v.begin(), v.end(), w.begin(), std::plus<>());",
    "std::exclusive_scan(v.begin(), v.end(), w.begin(), 0.0, [&](double a, double b) { n++; return a + b; });",
)
MAIN = """int main() {
    for (int n = 0; n < 5; n++) {
        D v{1.5, 2, 7, -0.0, 5.25, 7}, w(9); I k{1, 2, 4, 2}; float p[9] = {-0.0f, -4, 3, 1.5f, 4};
        short h[5] = {32000, 900, 1};
        CALL(v, w, k, p, h, n, 2.5, k.data());
        for (double x : v) std::printf("%a ", x); for (double x : w) std::printf("%a ", x);
        for (float x : p) std::printf("%a ", x); for (int x : k) std::printf("%d ", x); std::printf("%d\\n", h[1]);
    }
"""
NAME = re.compile(r"f\d+")


def _functions(path: Path, statements: tuple[str, ...], main: str = "") -> list[Function]:
    path.write_text(HEAD + "".join(FUNCTION % pair for pair in enumerate(statements)) + main)
    found = [f for _, f in load_program([str(path)], FrontOptions()).program.functions()]
    return [f for f in found if NAME.fullmatch(f.symbol.name)]


def _printed(text: str, path: Path) -> str:
    path.write_text(text)
    program = path.with_suffix("")
    subprocess.run(["g++", "-w", "-O0", "-std=c++17", "-o", str(program), str(path)], check=True, capture_output=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True, timeout=60).stdout


def _wrong(folder: Path) -> bool:
    blocks = [MAIN.replace("CALL", f"f{n}").replace("int main() {", "{") + "}\n" for n in range(len(MADE))]
    path = folder / "run.cpp"
    functions = _functions(path, MADE, f"int main() {{ {''.join(blocks)} }}\n")
    text = path.read_text()
    assert len(functions) == len(MADE)
    for function in sorted(functions, key=lambda f: -f.span.start):
        assert sum(isinstance(node, For) for node in walk(function.body)) == 1, function.body.span.text
        text = text[: function.span.start] + Printer(nothing).top(function) + text[function.span.end :]
    return _printed(text, folder / "written.cpp") != _printed(path.read_text(), folder / "before.cpp")


def test_the_loops_leave_the_same(tmp_path: Path) -> None:
    assert not _wrong(tmp_path)


def test_what_is_more_is_left(tmp_path: Path) -> None:
    functions = _functions(tmp_path / "left.cpp", LEFT)
    assert not any(isinstance(node, For) for function in functions for node in walk(function.body))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "bug"),
    [
        ("_nothing", lambda _, place: Literal(span=place, type=DOUBLE, text="0.0", value=0.0)),
        ("_plain", lambda _: DOUBLE),
        ("_block", lambda statements, place: Block(span=place, statements=statements[::-1])),
    ],
    ids=["a zero that has no sign", "another type", "stored before it is read"],
)
def test_seeded_bugs_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, bug: Callable[..., object]
) -> None:
    monkeypatch.setattr(running, name, bug)
    try:
        wrong = _wrong(tmp_path)
    except subprocess.CalledProcessError:
        wrong = True  # a program that uses what it has not declared yet
    assert wrong
