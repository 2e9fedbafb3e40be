"""clang's types as rows: what each kind of type becomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.conftest import device_dump, parsed
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import Dump
from warpsmith.tree.containers import DATA, SIZE

C = """
typedef float real; typedef real *ptr; enum e { A };
union u { int i; }; struct s { struct s *next; int b : 3, : 2, c; };
const volatile int i; real r; ptr p; int *const restrict q; int t[3]; extern int open[]; enum e v; struct s s;
const union u w; int (*f)(int, ...); int (*g)(); volatile int *volatile m; _Complex double z; struct { int k; } n;
int vary(int k, int (*x)[k]) { return (*x)[0]; }
"""
ROWS = {
    "i": ("s", (1, 1), ""), "r": ("s", (0, 0), "real"), "p": ("p", (0, 0, 0), "ptr"), "q": ("p", (1, 1, 0), ""),
    "t": ("a", (3,), ""), "open": ("a", (-1,), ""), "v": ("e", (0, 0), "enum e"), "s": ("r", (0,), ""),
    "w": ("r", (1,), ""), "m": ("o", (), "volatile int *volatile"), "z": ("o", (), "_Complex double"),
}  # fmt: skip


def row(dump: Dump, name: str) -> tuple[str, int, tuple[int, ...], str]:
    return dump.types[next(d[2] for d in dump.declared if d[1] == name and d[2] >= 0 and d[5] == 0)]


@pytest.fixture(scope="module")
def c(tmp_path_factory: pytest.TempPathFactory) -> Dump:
    context = parsed(tmp_path_factory.mktemp("types"), C).context
    assert context is not None
    return context.dump


def test_types_of_c(c: Dump) -> None:
    assert {name: (row(c, name)[0], *row(c, name)[2:]) for name in ROWS} == ROWS
    tag, inner, _, _ = row(c, "f")
    function = c.types[inner]
    assert tag == "p" and function[0] == "f" and function[2][0] == 1 and len(function[2]) == 2
    assert c.types[row(c, "g")[1]][2] == (1,)
    array = c.types[row(c, "x")[1]]
    assert array[0] == "a" and array[2] == (-2,)


def test_records_of_c(c: Dump) -> None:
    tag, size, union, members, file, start, end, plain, ends, *_ = c.records[row(c, "s")[1]]
    assert (tag, size, union, plain, ends) == ("s", 16, False, True, False)
    assert [(name, offset, bits) for name, _, offset, bits, _ in members] == [
        ("next", 0, 0), ("b", 64, 3), ("", 67, 2), ("c", 96, 0),
    ]  # fmt: skip
    assert file == 0 and C[start:end].startswith("struct s {") and C[start:end].endswith("}")
    assert c.types[c.types[members[0][1]][1]][:2] == ("r", row(c, "s")[1])
    assert c.records[row(c, "w")[1]][2] and c.records[row(c, "n")[1]][0] == ""


CXX = """
#include <array>
#include <vector>
namespace in { typedef int number; struct B { int base; virtual ~B(); }; }
struct D : in::B { private: int own; public: in::number n; };
bool b; int &l = *new int; int &&r = 3; std::array<double, 5> a; std::vector<float> v; std::vector<bool> w; D d;
in::number k; volatile D o; auto c = [] { return 1; };
"""


def test_types_of_cxx(tmp_path: Path) -> None:
    context = parsed(tmp_path, CXX, name="case.cpp").context
    assert context is not None
    dump = context.dump
    assert row(dump, "b")[3] == "bool" and row(dump, "k")[3] == "" and row(dump, "c")[3] == "auto"
    assert [row(dump, name)[2] for name in "lr"] == [(0, 1, 1), (0, 1, 2)]
    assert row(dump, "a")[0] == "a" and row(dump, "a")[2:] == ((5,), "std::array<double, 5>")
    assert [m[0] for m in dump.records[row(dump, "v")[1]][3]] == [DATA, SIZE]
    assert dump.records[row(dump, "w")[1]][3] == []
    derived = dump.records[row(dump, "d")[1]]
    assert [m[0] for m in derived[3]] == ["base", "own", "n"] and derived[9] == ["own"] and not derived[7]
    assert row(dump, "o")[0] == "o"


DEVICE = """
struct A { int k = 4; float f[2]; int b : 3; union { int u; float w; }; };
struct B : A { int more; };
struct C { C() : k(1) {} int k; };
enum small { S, T }; enum wide : unsigned { W }; enum big { HUGE_ONE = 0xffffffffu };
__device__ B b; __device__ C c; __device__ small s; __device__ wide o; __device__ big h; __device__ __half x;
__global__ void kernel(float4 *p, const A a) { p[0].x = a.k + b.more + c.k + s + o + h; }
"""


def test_types_of_device_code(tmp_path: Path) -> None:
    dump = device_dump(tmp_path, DEVICE)
    records = {record[0]: record for record in dump.records}
    a, b, c = (records[tag] for tag in "ABC")
    assert [(m[0], m[4]) for m in a[3] if m[0] in ("k", "f", "b")] == [("k", True), ("f", False), ("b", False)]
    assert {"u", "w"} <= {m[0] for m in a[3]} and a[10] == 4 and a[11:] == (False, 1, -1, [])
    assert b[11] and dump.types[b[13]][1] == dump.records.index(a) and b[12] == 2
    assert c[11:] == (False, 2, -1, [])
    enums = {name: row(dump, name)[1] for name in "soh"}
    assert enums["s"] == kinds.T_INT and enums["o"] == enums["h"] == kinds.T_UINT
