"""Numbers that algorithms give, in declarations, returns, conditions and expressions: as loops they are the same."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from warpsmith.front.cxx.algorithms import found, values
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Block, DeclStmt, Expr, For, Function, If
from warpsmith.tree.printing.printer import Printer, join_lines, nothing, print_stmt
from warpsmith.tree.types import LONG
from warpsmith.tree.walk import walk

HEAD = """#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>
typedef std::vector<double> D;
static int called;
static bool counted(double x) { called++; return x > 2; }
"""
FUNCTION = """static double f%d(D &v, D &w, std::vector<int> &k, const double *p, int n, double s, const int *table)
{ double t = 0; int m = 0; %s return t + m; }
"""
MADE = {
    "double a = std::accumulate(v.begin(), v.end(), 0.0); t = a;": 1,
    "const auto a = std::accumulate(v.begin() + 1, v.end(), 0); t = a;": 1,
    "float a = std::reduce(p, p + n); t = a;": 1,
    "const double a = std::sqrt(std::inner_product(v.begin(), v.end(), p, 0.0)) / v.size(); t = a;": 1,
    "t = std::inner_product(p, p + n, w.begin(), 1.5, std::plus<>(), [](double x, double y) { return x - y; });": 1,
    "t = std::transform_reduce(v.begin(), v.end(), w.begin(), 0.0) * 2 + 1;": 1,
    "t = std::transform_reduce(v.begin(), v.end(), 0.0, std::plus<>(), [s](double x) { return x * s; });": 1,
    "return std::accumulate(v.begin(), v.end(), s) + n;": 1,
    "m = std::count(k.begin(), k.end(), 2); t += std::count_if(p, p + n, [s](double x) { return x > s; });": 2,
    "bool b = std::any_of(v.begin(), v.end(), [](double x) { return x > 5; }); m = b;": 1,
    "m = std::all_of(v.begin(), v.end(), [](double x) { return x > 0; });": 1,
    "m = std::none_of(k.begin(), k.end(), [](int x) { return x % 2 == 0; });": 1,
    "m = std::any_of(k.begin(), k.end(), [table](int x) { return table[x] > 0; });": 1,
    "if (std::none_of(v.begin(), v.end(), [](double x) { return x < 2; })) t = 3; else { t = 4; }": 1,
    "if (n > 0) t = *std::max_element(v.begin(), v.end()) - *std::min_element(v.begin(), v.end());": 2,
    "if (n > 0) { double a = *std::max_element(p, p + n, [](double x, double y) { return x < y; }); t = a; }": 1,
    "if (n > 0) m = std::max_element(v.begin(), v.end()) - v.begin();": 1,
    "if (n > 1) m = std::distance(v.begin() + 1, std::min_element(v.begin() + 1, v.begin() + n));": 1,
    "m = std::find(v.begin(), v.end(), 4.0) - v.begin();": 1,
    "bool b = std::find(k.begin(), k.end(), n) != k.end(); m = b;": 1,
    "if (std::find_if(p, p + n, [s](double x) { return x > s; }) == p + n) t = 7;": 1,
    "t = std::find_if_not(v.begin(), v.end(), [](double x) { return x > 3; }) - v.begin();": 1,
    "const long a = std::find_if(k.begin(), k.end(), [table](int x) { return table[x] > 1; }) - k.begin(); t = a;": 1,
    "double sum = 1, count = 2; double a = std::accumulate(p, p + n, 0.0) + std::accumulate(p, p + n, 1.0);"
    "t = a + sum + count;": 2,
    "std::printf(\"%g %d\\n\", std::accumulate(v.begin(), v.end(), 0.0), n);": 1,
    "v.at(0) = 1; int b{3}; double a = std::accumulate(v.begin(), v.end(), 0.0) / b; t = a;": 1,
}  # fmt: skip
"""Statements, and how many loops they have."""
LEFT = (
    "bool b = n > 0 && std::any_of(v.begin(), v.end(), [](double x) { return x > 5; }); m = b;",
    "t = n > 2 ? std::accumulate(v.begin(), v.end(), 0.0) : 1;",
    "t = m++ + std::accumulate(v.begin(), v.end(), 0.0);",
    "t = std::count_if(v.begin(), v.end(), counted);",
    "t = std::accumulate(v.begin(), v.end(), 0.0) + counted(3);",
    "double a = std::accumulate(v.begin(), v.end(), 0.0), b = a; t = b;",
    "double a(std::accumulate(v.begin(), v.end(), 0.0)); t = a;",
    "t = std::transform_reduce(v.begin(), v.end(), 0.0, std::plus<>(), counted);",
    "t = std::reduce(v.begin(), v.end(), 0);",
    "t = std::transform_reduce(k.begin(), k.end(), 0, std::plus<>(), [](int x) { return x * 0.5; });",
    "static double a = std::accumulate(v.begin(), v.end(), 0.0); t = a;",
    "auto it = std::max_element(v.begin(), v.end()); t = it - v.begin();",
    "t = std::max_element(v.begin(), v.end()) - w.begin();",
    "t = std::find(v.begin(), v.end(), 1.0) != w.end();",
    "while (std::any_of(v.begin(), v.end(), [](double x) { return x > 5; })) v[0] -= 1;",
)
NAME = re.compile(r"f\d+")


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Function]:
    path = tmp_path_factory.mktemp("values") / "values.cpp"
    path.write_text(HEAD + "".join(FUNCTION % pair for pair in enumerate([*MADE, *LEFT])))
    found = [f for _, f in load_program([str(path)], FrontOptions()).program.functions()]
    return {int(f.symbol.name[1:]): f for f in found if NAME.fullmatch(f.symbol.name)}


def _loops(function: Function) -> int:
    return sum(isinstance(node, For) for node in walk(function.body))


@pytest.mark.parametrize("number", range(len(MADE)), ids=list(MADE))
def test_a_number_of_an_algorithm_is_its_loop(functions: dict[int, Function], number: int) -> None:
    assert _loops(functions[number]) == list(MADE.values())[number]
    assert print_stmt(functions[number].body) == functions[number].body.span.text


@pytest.mark.parametrize("number", range(len(MADE), len(MADE) + len(LEFT)), ids=LEFT)
def test_what_is_not_evaluated_first_is_left(functions: dict[int, Function], number: int) -> None:
    assert _loops(functions[number]) == 0


def test_a_declaration_is_its_head_and_a_block(functions: dict[int, Function]) -> None:
    _, _, head, rest, *_ = functions[0].body.statements
    assert isinstance(head, DeclStmt)
    assert isinstance(rest, Block)
    assert (head.span.text, rest.span.text) == ("double a", "= std::accumulate(v.begin(), v.end(), 0.0);")
    written = " ".join(join_lines(Printer(nothing).stmt(rest)).split())
    assert written == (
        "{ double sum_ = 0.0; for (size_t v_at = 0; v_at < v.size(); v_at++) "
        "{ sum_ = sum_ + v.data()[v_at]; } a = sum_; }"
    )


def test_a_test_that_may_stop_ends_the_loop(functions: dict[int, Function]) -> None:
    number = next(n for n, text in enumerate(MADE) if "any_of(k" in text)
    written = " ".join(join_lines(Printer(nothing).stmt(functions[number].body)).split())
    assert "if (table[k.data()[k_at]] > 0) { any = true; break; }" in written


MAIN = """int main() {
    const int table[8] = {0, 0, 1, 0, 2, 0, 0, 3};
    for (int n = 0; n < 5; n++) {
        D v{1.5, 2, 7, 4, 5.25, 7}, w{6, 5, 4, 3, 2, 1}; std::vector<int> k{1, 2, 4, 2}; double p[9] = {3, -4, 3, 1, 4};
        CALLS
    }
}
"""


def _printed(text: str, path: Path) -> str:
    path.write_text(text)
    program = path.with_suffix("")
    subprocess.run(["g++", "-w", "-O0", "-std=c++17", "-o", str(program), str(path)], check=True, capture_output=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True, timeout=60).stdout


def _wrong(folder: Path, write: Callable[[Function], str]) -> bool:
    """Whether functions written from the tree make a program that prints another thing."""
    calls = "".join(f'std::printf("%.17g\\n", f{n}(v, w, k, p, n, 2.5, table)); ' for n in range(len(MADE)))
    text = HEAD + "".join(FUNCTION % pair for pair in enumerate(MADE)) + MAIN.replace("CALLS", calls)
    path = folder / "run.cpp"
    before = _printed(text, path)
    program = load_program([str(path)], FrontOptions()).program
    for function in sorted((f for _, f in program.functions() if NAME.fullmatch(f.symbol.name)),
                           key=lambda f: -f.span.start):  # fmt: skip
        text = text[: function.span.start] + write(function) + text[function.span.end :]
    assert text.count("std::") < path.read_text().count("std::")
    return _printed(text, folder / "written.cpp") != before


def _write_plainly(function: Function) -> str:
    return Printer(nothing).top(function)


def _write_over(function: Function) -> str:
    """Return the user's text with each block that stands for an algorithm written out."""
    text = function.span.text
    blocks = [s for s in walk(function.body) if isinstance(s, Block) and not s.span.text.startswith("{")]
    outer = [b for b in blocks if b.span.text and not any(o is not b and o.span.contains(b.span) for o in blocks)]
    printer = Printer(lambda node: node.span.text if node.intact and not isinstance(node, Block | If) else None)
    for block in sorted(outer, key=lambda b: -b.span.start):
        start, end = block.span.start - function.span.start, block.span.end - function.span.start
        text = text[:start] + join_lines(printer.stmt(block)) + text[end:]
    return text


def test_the_loops_give_the_same_numbers(tmp_path: Path) -> None:
    assert not _wrong(tmp_path, _write_plainly)


@pytest.mark.slow
def test_an_initializer_is_a_lambda_in_the_users_text(tmp_path: Path) -> None:
    assert not _wrong(tmp_path, _write_over)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "name", "bug"),
    [
        (found, "_not", lambda condition: condition),
        (found.FoundValues, "_since", lambda self, found, base, place: found),
        (found, "_plain", lambda _: LONG),
        (found, "_truth", lambda value, place: found._number(0, place)),
    ],
    ids=["negation dropped", "offset dropped", "another type", "always false"],
)
def test_seeded_bugs_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, name: str, bug: Callable[..., Expr]
) -> None:
    monkeypatch.setattr(module, name, bug)
    assert _wrong(tmp_path, _write_plainly)


@pytest.mark.slow
def test_seeded_evaluated_though_not_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values.AlgorithmValues, "_is_plain", lambda self, expr, symbols: True)
    path = tmp_path / "left.cpp"
    path.write_text(HEAD + FUNCTION % (0, LEFT[0]))
    function = next(
        f for _, f in load_program([str(path)], FrontOptions()).program.functions() if f.symbol.name == "f0"
    )
    assert _loops(function) == 1
