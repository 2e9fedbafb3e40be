"""Types: conversions as C17 has them, checked against gcc where that is easy."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

from warpsmith.tree.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    LONG_LONG,
    UNSIGNED,
    UNSIGNED_LONG,
    Array,
    Field,
    Pointer,
    Record,
    Scalar,
    common_type,
    element_type,
    integer_range,
    is_float,
    is_integer,
    padding_of,
    promote,
)  # fmt: skip

SHORT = Scalar("short", 16, "signed")
USHORT = Scalar("unsigned short", 16, "unsigned")
ULL = Scalar("unsigned long long", 64, "unsigned")
ALL = (BOOL, CHAR, SHORT, USHORT, INT, UNSIGNED, LONG, UNSIGNED_LONG, LONG_LONG, ULL, FLOAT, DOUBLE)


def test_common_types_are_gccs(tmp_path: Path) -> None:
    pairs = list(itertools.product(ALL, ALL))
    lines = "\n".join(
        f'_Static_assert(__builtin_types_compatible_p(__typeof__(({a.name})0 + ({b.name})0), {_name(a, b)}), "{i}");'
        for i, (a, b) in enumerate(pairs)
    )
    source = tmp_path / "types.c"
    source.write_text(lines)
    done = subprocess.run(["gcc", "-fsyntax-only", source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:500]


def _name(a: Scalar, b: Scalar) -> str:
    result = common_type(a, b)
    assert isinstance(result, Scalar)
    return result.name


def test_ranges() -> None:
    assert integer_range(CHAR) == (-128, 127)
    assert integer_range(UNSIGNED) == (0, 2**32 - 1)
    assert integer_range(BOOL) == (0, 1)


def test_kinds() -> None:
    assert [t.name for t in ALL if is_integer(t)] == [t.name for t in ALL if not is_float(t)]
    assert promote(BOOL) == INT and promote(USHORT) == INT and promote(UNSIGNED) == UNSIGNED
    pointer = Pointer(DOUBLE)
    assert promote(pointer) is pointer
    assert common_type(pointer, INT) is pointer and common_type(INT, pointer) is pointer


def test_elements() -> None:
    row = Array(DOUBLE, None, 4)
    assert element_type(row) == DOUBLE
    assert element_type(Array(row, None, 2)) == DOUBLE
    assert element_type(Pointer(row)) == DOUBLE
    assert element_type(Pointer(DOUBLE)) == DOUBLE
    assert element_type(Pointer(Pointer(INT))) == Pointer(INT)
    assert element_type(Array(Pointer(INT), None, 4)) == Pointer(INT)
    assert element_type(Pointer(Array(Pointer(INT), None, 4))) == Pointer(INT)
    assert element_type(INT) == INT


def test_what_counts_in_a_comparison() -> None:
    assert Scalar("double", 64, "float", const=True, spelling="real") == DOUBLE
    assert Scalar("int", 32, "signed", volatile=True) != INT
    assert Pointer(INT, restrict=True) == Pointer(INT)


def test_padding_belongs_to_no_member() -> None:
    pair = Record("pair", 16, (Field("x", DOUBLE, 0), Field("cell", INT, 8)))
    assert padding_of(pair) == ((12, 4),)
    inner = Record("inner", 40, (Field("tag", CHAR, 0), Field("two", Array(pair, None, 2), 8)))
    assert padding_of(inner) == ((1, 7), (20, 4), (36, 4))
    assert padding_of(Record("full", 16, (Field("x", DOUBLE, 0), Field("to", Pointer(INT), 8)))) == ()
    # what a union holds is not known: all of it counts
    either = Record("either", 8, (Field("x", CHAR, 0),), union=True)
    assert padding_of(Record("box", 16, (Field("u", either, 0), Field("n", INT, 8)))) == ((12, 4),)
    assert padding_of(DOUBLE) == ()
