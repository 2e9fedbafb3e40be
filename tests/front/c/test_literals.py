"""Numbers as C writes them."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

import pytest

from tests.front.c.test_expressions import expr
from tests.front.conftest import Load, found
from warpsmith.front.c.literals import float_value, integer_value, is_written, number_text, written_value
from warpsmith.front.clang import kinds
from warpsmith.tree.nodes import (
    Assign,
    Call,
    Literal,
    MacroUse,
    Name,
)
from warpsmith.tree.types import DOUBLE, FLOAT, INT, LONG_LONG, Pointer, Scalar, Type
from warpsmith.tree.walk import peel

HALF = Scalar("half", 16, "float")
UNSIGNED = Scalar("unsigned int", 32, "unsigned")
SHORT = Scalar("unsigned short", 16, "unsigned")
SIZE = Scalar("unsigned long", 64, "unsigned")
LONG_DOUBLE = Scalar("long double", 128, "float")


@pytest.mark.parametrize(
    ("text", "value"),
    [("x = 017", 15), ("x = 0xFFu", 255), ("x = 0b101", 5), ("x = 10ull", 10), ("x = 'a'", 97), ("x = '\\n'", 10),
     ("a[0] = 1e3", 1000.0), ("a[0] = 0x1p-2", 0.25), ("a[0] = 0.1f", 0.10000000149011612)],
)  # fmt: skip
def test_literals_keep_their_text_and_value(load: Load, text: str, value: float) -> None:
    made = expr(load, text)
    assert isinstance(made, Assign)
    assert isinstance(made.value, Literal)
    assert made.value.value == value
    assert made.value.text == text.split("= ")[1]


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("00", 0), ("017", 15), ("0x1FuL", 31), ("0B11", 3), ("1'000'000LL", 1000000), ("12z", 12),
     ("09", None), ("'a'", None), ("n", None), ("1.5", None)],
)  # fmt: skip
def test_integers(text: str, value: int | None) -> None:
    assert integer_value(text) == value


@pytest.mark.parametrize(
    ("text", "type", "value"),
    [("0.1", DOUBLE, 0.1), ("0.1f", FLOAT, 0.10000000149011612), ("0x1p-2", DOUBLE, 0.25), ("0x1.8p1L", DOUBLE, 3.0),
     ("0x1.0p-24f", FLOAT, 2.0**-24), ("0X1.FP+3F", FLOAT, 15.5),
     ("1e39f", FLOAT, math.inf), ("1e400", DOUBLE, math.inf), ("1.5h", HALF, 1.5), ("RATE", DOUBLE, None)],
)  # fmt: skip
def test_floating_numbers(text: str, type: Scalar, value: float | None) -> None:
    assert float_value(text, type) == value


@pytest.mark.parametrize(
    ("value", "type", "text"),
    [(3, INT, "3"), (-3, INT, "-3"), (3, UNSIGNED, "3u"), (3, SHORT, "3"), (3, SIZE, "3ul"), (3, LONG_LONG, "3ll"),
     (0.5, DOUBLE, "0.5"), (0.5, FLOAT, "0.5f"), (0.5, LONG_DOUBLE, None), (math.inf, DOUBLE, None),
     (math.nan, FLOAT, None), (3, Pointer(INT), None)],
)  # fmt: skip
def test_numbers_that_macros_hid_are_written_with_their_type(value: float, type: Type, text: str | None) -> None:
    assert number_text(value, type) == text


def test_what_stands_for_a_parameter_of_a_template_is_not_written() -> None:
    assert is_written(kinds.INTEGER, "4") and is_written(kinds.FLOATING, ".5") and is_written(kinds.CXX_BOOL, "true")
    assert not is_written(kinds.INTEGER, "N") and not is_written(kinds.CXX_BOOL, "Flag")
    assert not is_written(kinds.INTEGER, "") and is_written(kinds.STRING, '"s"')
    assert written_value(kinds.CXX_BOOL, "true", INT) == 1 and written_value(kinds.CXX_BOOL, "false", INT) == 0
    assert written_value(kinds.FLOATING, "2", DOUBLE) == 2.0 and written_value(kinds.INTEGER, "010", INT) == 8


VALUES = """
#include <cstdio>
enum { SIX = 6 };
constexpr int a = 4 * SIX, b = a / 7 % 5, below = -2;
const unsigned c = -1;
namespace n { constexpr unsigned long long big = 1ull << 40; namespace { const long l = sizeof(double) + a; } }
const int d = (char)300, e = true ? 'x' : 0;
int f() { return 3; }
const int made = f();
int open = 5;
extern const int elsewhere;
volatile const int seen = 5;
constexpr double real = 2.0;
template <int K> struct S { static constexpr int twice = 2 * K; };
template <typename T> int wide(T x) { const int bytes = sizeof(T); return bytes + x; }
void show(...);
int main()
{
    show(a, b, below, c, n::big, n::l, d, e, made, open, seen, real, S<4>::twice, wide(2.0), SIX);
}
"""
NAMED = ["a", "b", "c", "n::big", "n::l", "d", "e"]


def _shown(load: Load) -> dict[str, object]:
    """Return the values of what stands as a number where the text has a name."""
    every = [c for _, f in load(VALUES, name="case.cpp").program.functions() for c in found(f.body, Call)]
    (shown,) = [c for c in every if isinstance(c, Call) and c.span.text.startswith("show(a")]
    given = [(a.span.text, peel(a)) for a in shown.arguments if isinstance(a, MacroUse)]
    return {text: value.value for text, value in given if isinstance(value, Literal)}


def test_constants_of_namespaces_have_the_compiler_s_values(load: Load, tmp_path: Path) -> None:
    made = _shown(load)
    assert list(made) == NAMED
    printed = " ".join(f'std::printf("%llu ", (unsigned long long){name});' for name in NAMED)
    program = tmp_path / "values.cpp"
    head, _, _ = VALUES.partition("void show")
    program.write_text(f"{head} int main() {{ {printed} }}")
    subprocess.run(["g++", "-w", str(program), "-o", str(tmp_path / "values")], check=True)
    answer = subprocess.run([tmp_path / "values"], check=True, capture_output=True, text=True).stdout
    assert answer.split() == [str(value) for value in made.values()]


def test_names_of_constants_stay_in_the_text(load: Load) -> None:
    text = "constexpr int n = 8; void f(int *a, int m) { for (int i = 0; i < n; i++) a[i] = n + m; }"
    (body,) = [f.body for _, f in load(text, name="case.cpp").program.functions()]
    named = [u.symbol.name for u in found(body, Name) if isinstance(u, Name)]
    assert "m" in named and "n" not in named and body.span.text.count("n") == 3
