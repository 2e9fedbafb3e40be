"""Types from clang's rows."""

from __future__ import annotations

from pathlib import Path

from tests.front.c.test_expressions import expr
from tests.front.conftest import Load, function, parsed
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.c.types_of import decay_type, fill_extents, is_std_array
from warpsmith.tree.nodes import (
    Literal,
    Member,
)
from warpsmith.tree.types import INT, Array, FunctionType, Opaque, Pointer, Record, Scalar
from warpsmith.tree.walk import walk


def test_members_know_their_records(load: Load) -> None:
    made = expr(load, "o->next->in.v[i] = s.k", "int i, struct outer *o, struct inner s")
    members = [n for n in walk(made) if isinstance(n, Member)]
    assert [(m.field, m.arrow) for m in members] == [("v", False), ("in", True), ("next", True), ("k", False)]
    record = members[1].type
    assert isinstance(record, Record)
    assert [(f.name, f.offset) for f in record.fields if f.name != "bits"][:2] == [("k", 0), ("v", 16)]
    assert record.bytes == 48


def test_types_keep_how_they_were_written(load: Load) -> None:
    loaded = load(
        "#include <stdint.h>\n#include <stddef.h>\ntypedef float real;\n"
        "void f(const real *restrict a, uint8_t b, size_t c, long double d, volatile int e, _Bool g) {}",
    )
    types = [symbol.type for symbol in function(loaded).parameters]
    first = types[0]
    assert isinstance(first, Pointer)
    assert first.restrict
    assert isinstance(first.to, Scalar)
    assert (first.to.name, first.to.const, first.to.spelling) == ("float", True, "real")
    rest = [(t.name, t.bits, t.kind, t.spelling) for t in types[1:] if isinstance(t, Scalar)]
    assert rest == [
        ("unsigned char", 8, "unsigned", "uint8_t"), ("unsigned long", 64, "unsigned", "size_t"),
        ("long double", 128, "float", ""), ("int", 32, "signed", ""), ("_Bool", 8, "bool", ""),
    ]  # fmt: skip
    assert isinstance(types[4], Scalar)
    assert types[4].volatile


def test_records_know_where_their_members_lie(load: Load) -> None:
    loaded = load(
        "struct bits { char c; unsigned a : 3, b : 30; short s; };\nunion u { int i; float f; };\n"
        "typedef struct list { struct list *next; int n; } list;\nstruct open;\n"
        "void f(struct bits p, union u q, const list r, struct open *s, struct { int k; } *t) {}"
    )
    bits, union, chain, opened, unnamed = (symbol.type for symbol in function(loaded).parameters)
    assert isinstance(bits, Record) and isinstance(union, Record) and isinstance(chain, Record)
    places = [(f.name, f.offset, f.bits, f.shift) for f in bits.fields]
    assert places == [("c", 0, 0, 0), ("a", 0, 3, 8), ("b", 4, 30, 0), ("s", 8, 0, 0)]
    assert (bits.bytes, bits.alignment, bits.union) == (12, 0, False)
    assert (union.union, union.fields, union.bytes) == (True, (), 4)
    assert chain.const and chain.spelling == "list"
    following = chain.fields[0].type
    assert isinstance(following, Pointer) and isinstance(following.to, Record)
    assert (following.to.tag, following.to.fields, following.to.bytes) == ("list", (), 16)
    assert isinstance(opened, Pointer) and isinstance(opened.to, Record) and opened.to.bytes == 0
    assert isinstance(unnamed, Pointer) and isinstance(unnamed.to, Record)
    assert unnamed.to.tag.startswith("(unnamed") and unnamed.to.definition is not None


def test_arrays_and_functions_are_handed_over_as_pointers() -> None:
    row = Array(INT, None, 3)
    assert decay_type(Array(row, None, 2)) == Pointer(row)
    made = FunctionType(INT, (INT,))
    assert decay_type(made) == Pointer(made) and decay_type(INT) == INT
    held = Array(INT, None, 3, "std::array<int, 3>")
    assert is_std_array(held) and not is_std_array(row) and not is_std_array(Opaque("std::array<int, 3>"))
    assert decay_type(held) == Opaque("std::array<int, 3>")


def test_extents_are_filled_in_from_outside() -> None:
    one = Literal(span=Span(SourceFile("a.c", ""), 0, 0), type=INT, text="1", value=1)
    nested = Array(Array(INT, None, 3), None, 2)
    assert fill_extents(nested, [None, one]) == Array(Array(INT, one, 3), None, 2)
    assert fill_extents(Pointer(nested), [one, None]) == Pointer(Array(Array(INT, None, 3), one, 2))
    assert fill_extents(nested, [one]) == Array(Array(INT, None, 3), one, 2)
    assert fill_extents(Pointer(INT), []) == Pointer(INT) and fill_extents(INT, [one]) == INT


CXX = """
#include <vector>
struct Plain { int k; };
struct Made { int k = 1; int j; Made(); ~Made(); private: int hidden; };
void f(int a, int &b, Plain c, Made d, Made e[2], std::vector<int> g, const Plain &h, int *p, int (*q)(int, Plain)) {}
typedef int row[5];
int main() { Plain x[3]; Made y[3]; double z[2][4]; row v; int (*w)[6]; }
"""


def test_what_objects_of_cxx_are(tmp_path: Path) -> None:
    context = parsed(tmp_path, CXX, name="case.cpp").context
    assert context is not None
    types = context.types
    rows = {declared[1]: declared[2] for declared in context.dump.declared if declared[2] >= 0 and declared[5] == 0}
    a, b, c, d, e, g, h, p, x, y = (rows[name] for name in "abcdeghpxy")
    assert [types.is_reference(row) for row in (a, b, c, h, p)] == [False, True, False, True, False]
    assert [types.is_number(row) for row in (a, b, c, -1)] == [True, False, False, False]
    assert [types.is_number(row, behind=True) for row in (a, b, h)] == [True, True, False]
    assert [types.is_plain(row) for row in (a, c, d, g, x, y)] == [True, True, False, False, True, False]
    assert [types.ends(row) for row in (a, c, d, e, x, y)] == [False, False, True, True, False, True]
    assert types.hides("Made", "hidden") and not types.hides("Made", "k") and not types.hides("Plain", "hidden")
    made = rows["f"]
    assert types.parameters(made)[:2] == (a, b) and types.parameters(a) == ()
    assert types.is_number(types.result(made)) and types.result(a) == -1
    assert [types.extents(rows[name]) for name in "zvwpx"] == [[True, True], [], [True], [], [True]]
