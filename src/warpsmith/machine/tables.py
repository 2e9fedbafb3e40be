"""How many lines a thread brings into the first cache, by the 36 entries of a printed table, as they are printed.

    a0, a1, a2   elements that the address moves along x, y, z: each is zero (1), small (2), or large or unknown (3)
    b0, b1, b2   threads of a block along x, y, z; BV: all of them; CS: elements a line
    t32 = 1 / N  a0 large, a1 small; N: the threads that share a line;  / drops the remainder, which % is

Invariant: `score_by_tables` follows the print to the letter, its mistakes included; the number beside it is that of
machine/lines.py, and `TableEntry.verdict` says when the two agree (tests/machine/test_tables.py counts lines one by
one).
Limits: nests of two and three loops; a block starts on a line, and shares none with another block. The print leaves
open what |a| = CS is: small here, where the formula of lines.py stays exact.
Source: the static profiler of the IHOP parallelizer (Izvestiya vuzov, Severo-Kavkazskii region, Technical Science,
2017, No. 3), section 5. What the scan has lost is restored by symmetry, entry by entry (`TableEntry.restored`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod
from operator import add, floordiv, mod, mul
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from warpsmith.machine.lines import count_lines

__all__ = ["TABLES", "TableEntry", "TableScore", "entry_of", "score_by_tables"]

Verdict = Literal["exact", "powers of two", "idealized", "relative", "no sharing"]
"""exact: whatever the strides are. powers of two: for strides and blocks that are; others are off by a factor between
2/3 and 2. idealized: 0 in place of one line a block. relative: wrong but where a slower stride is counted in spans of
the faster ones, and a clamp is missing. no sharing: wrong, a small stride behind a large one is taken to share no
line."""


class TableEntry(Struct, frozen=True):
    """One entry: `printed`: N as it is printed ("" for t = 0); `restored`: what the scan has lost of it, "" where it is
    legible; `verdict`: when it is right."""

    name: str
    printed: str
    verdict: Verdict
    restored: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether the entry is a mistake, and no simplification that the document states."""
        return self.verdict in ("relative", "no sharing")


class TableScore(Struct, frozen=True):
    """What a reference costs by an entry: lines a thread as printed, and `right`, how many there are."""

    entry: TableEntry
    lines: float
    right: float

    @property
    def is_off(self) -> bool:
        """Whether the printed number is another one than the right one."""
        return abs(self.lines - self.right) > _SAME * self.right


_SAME: Final = 1e-9
_HEAD: Final = "its head"
_BODY: Final = "its formula"
_BOTH: Final = "its head and its formula"
_PARENTHESIS: Final = "a parenthesis"


def _entry(name: str, printed: str, verdict: Verdict, restored: str = "") -> tuple[str, TableEntry]:
    return name[1:], TableEntry(name, printed, verdict, restored)


TABLES: Final[Mapping[str, TableEntry]] = MappingProxyType(
    dict(
        (
            _entry("t11", "", "idealized"),
            _entry("t12", "min((CS/a1)*b0, BV)", "powers of two"),
            _entry("t13", "b0", "exact"),
            _entry("t21", "min((CS/a0)*b1, BV)", "powers of two"),
            _entry("t22", "min(CS/(a0*b0*a1)*b0 + CS%(a0*b0*a1)/a0, BV)", "relative"),
            _entry("t23", "min(CS/a0, b0)", "powers of two"),
            _entry("t31", "b1", "exact"),
            _entry("t32", "1", "no sharing"),
            _entry("t33", "1", "exact"),
            _entry("t111", "", "idealized", _HEAD),
            _entry("t121", "min((CS/a1)*b0*b2, BV)", "powers of two", _BOTH),
            _entry("t131", "b0*b2", "exact", _BOTH),
            _entry("t211", "min((CS/a0)*b1*b2, BV)", "powers of two", _HEAD),
            _entry("t221", "min((CS/(a0*b0*a1)*b0 + CS%(a0*b0*a1)/a0)*b2, b0*b1)", "relative"),
            _entry("t231", "min((CS/a0)*b2, b0*b2)", "powers of two"),
            _entry("t311", "b1*b2", "exact"),
            _entry("t321", "b2", "no sharing"),
            _entry("t331", "b2", "exact", _HEAD),
            _entry("t112", "min((CS/a2)*b0*b1, BV)", "powers of two", _BOTH),
            _entry("t122", "min((CS/(a1*b1*a2)*b1 + CS%(a1*b1*a2)/a1)*b0, BV)", "relative"),
            _entry("t132", "b0", "no sharing", _HEAD),
            _entry("t212", "min((CS/(a0*b0*a2)*b0 + CS%(a0*b0*a2)/a0)*b1, BV)", "relative"),
            _entry(
                "t222",
                "min(CS/(a0*b0*a1*b1*a2)*b0*b1 + CS%(a0*b0*a1*b1*a2)/(a0*b0*a1)*b0"
                " + CS%(a0*b0*a1*b1*a2)%(a0*b0*a1)/a0, BV)",
                "relative",
                _PARENTHESIS,
            ),
            _entry("t232", "min(CS/a0, b0)", "no sharing"),
            _entry("t312", "b1", "no sharing"),
            _entry("t322", "1", "no sharing"),
            _entry("t332", "1", "no sharing"),
            _entry("t113", "b0*b1", "exact"),
            _entry("t123", "min((CS/a1)*b0, b0*b1)", "powers of two"),
            _entry("t133", "b0", "exact"),
            _entry("t213", "min((CS/a0)*b1, b0*b1)", "powers of two", _BOTH),
            _entry("t223", "min(CS/(a0*b0*a1)*b0 + CS%(a0*b0*a1)/a0, b0*b1)", "relative"),
            _entry("t233", "min(CS/a0, b0)", "powers of two"),
            _entry("t313", "b1", "exact"),
            _entry("t323", "1", "no sharing"),
            _entry("t333", "1", "exact"),
        )
    )
)
"""By the kinds of a0, a1 and a2."""


def score_by_tables(strides: Sequence[int | None], block: Sequence[int], line: int) -> TableScore:
    """Return what a reference costs in lines a thread.

    `strides`: elements that the address moves along x, y and, of three loops, z (None: unknown); `block`: threads along
    the same axes; `line`: elements a line. Raises ValueError for other numbers of axes than two and three.
    """
    entry = entry_of(strides, line)
    threads = prod(block)
    right = count_lines(strides, block, line) / threads
    if not entry.printed:
        return TableScore(entry, 0.0, right)
    values = {"CS": line, "BV": threads}
    values |= {f"a{axis}": abs(stride) for axis, stride in enumerate(strides) if stride is not None}
    values |= {f"b{axis}": along for axis, along in enumerate(block)}
    return TableScore(entry, 1 / _compute(_read(entry.printed), values), right)


def entry_of(strides: Sequence[int | None], line: int) -> TableEntry:
    """Return the entry for a reference with these strides along x, y and z.

    Raises ValueError for other numbers of axes than two and three.
    """
    if len(strides) not in (2, 3):
        raise ValueError(f"the tables are of two and three loops, not of {len(strides)}")
    return TABLES["".join(_kind(stride, line) for stride in strides)]


def _kind(stride: int | None, line: int) -> str:
    if stride is None or abs(stride) > line:
        return "3"
    return "2" if stride else "1"


@cache
def _read(printed: str) -> ast.expr:
    return ast.parse(printed, mode="eval").body


def _compute(node: ast.expr, values: Mapping[str, int]) -> int:
    """Return what a printed formula is worth: sums, products, quotients without remainder, remainders and minima."""
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name):
            return values[name]
        case ast.Call(func=ast.Name(id="min"), args=parts):
            return min(_compute(part, values) for part in parts)
        case ast.BinOp(left=left, op=operator, right=right):
            return _OPERATORS[type(operator)](_compute(left, values), _compute(right, values))
        case _:
            raise AssertionError(f"no table has {ast.unparse(node)}")


_OPERATORS: Final[Mapping[type[ast.operator], Callable[[int, int], int]]] = MappingProxyType(
    {ast.Add: add, ast.Mult: mul, ast.Div: floordiv, ast.Mod: mod}
)
