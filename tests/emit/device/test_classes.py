"""Classes of C++ in kernels are the structs that their objects are; what is no such struct stays on the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.errors import RefusedError
from warpsmith.base.source import SourceFile, Span
from warpsmith.emit.device.classes import Classes
from warpsmith.flows.port import PortOptions, port
from warpsmith.run.native.device_compile import compile_nvcc, has_nvcc
from warpsmith.tree.containers import DATA, SIZE
from warpsmith.tree.nodes import Literal, Name
from warpsmith.tree.types import DOUBLE, INT, Array, Field, Pointer, Record, Scalar, Symbol

PROGRAM = Path(__file__).with_name("classes_program.cpp")
HERE = Span(SourceFile("a.cpp", "kind::air"), 0, 9)
ZERO = Literal(span=HERE, type=INT, text="0", value=0)
CHAR = Scalar("char", 8, "signed")


def classes(**known: str) -> Classes:
    return Classes("", known, cxx=True)


def test_a_class_is_the_struct_that_its_objects_are() -> None:
    inner = Record("geo::vec<double>", 16, (Field("x", DOUBLE, 0), Field("y", DOUBLE, 8)))
    row = Array(Scalar("float", 32, "float"), None, 3, "std::array<float, 3>")
    outer = Record("geo::cell", 32, (Field("at", inner, 0), Field("mix", row, 16), Field("n", INT, 28)))
    made = classes()
    type = made.type(Pointer(outer), ZERO)
    assert isinstance(type, Pointer) and isinstance(type.to, Record) and type.to.spelling == "geo_cell"
    first, second = made.texts(())
    assert (
        first
        == 'struct geo_vec_double {\n    double x;\n    double y;\n};\nstatic_assert(sizeof(geo_vec_double) == 16, "");'
    )
    assert "    geo_vec_double at;\n    float mix[3];\n    int n;\n" in second


def test_a_struct_that_is_aligned_is_so_on_the_device() -> None:
    """Three numbers in the room of four, and a struct with one of them behind a byte."""
    three = Record(
        "n::three", 16, tuple(Field(name, Scalar("float", 32, "float"), 4 * k) for k, name in enumerate("xyz"))
    )
    holder = Record("n::holder", 32, (Field("c", CHAR, 0), Field("at", three, 8), Field("d", DOUBLE, 24)))
    wide = Record("n::wide", 32, (Field("x", DOUBLE, 0),))
    made = classes()
    for record in (holder, wide):
        made.type(record, ZERO)
    first, second, third = made.texts(())
    assert first.startswith("struct alignas(8) n_three {")
    assert second.startswith("struct n_holder {") and third.startswith("struct alignas(32) n_wide {")


def test_a_program_with_aligned_structs_passes(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(ALIGNED)
    result = port([str(path)], PortOptions())
    assert result.verification is not None and result.verification.status == "pass"
    assert result.plan is not None and len(result.plan.fragments) == 2


ALIGNED = """
#include <cstdio>
typedef struct __attribute__((__aligned__(16))) { float x, y, z; } float3;
static float3 operator*(const float3 &a, float by) { return {a.x * by, a.y * by, a.z * by}; }
static float3 p[200], q[200];
int main()
{
    for (int i = 0; i < 200; i++) { p[i].x = i; p[i].y = 2; p[i].z = i * 0.5f; }
    for (int i = 0; i < 200; i++) q[i] = p[199 - i] * 3;
    std::printf("%f %f\\n", q[3].x, q[7].z);
}
"""


@pytest.mark.parametrize(
    "record",
    [
        Record("n::bits", 8, (Field("a", INT, 0, 3), Field("c", INT, 4))),
        Record("n::virtual_", 16, (Field("x", DOUBLE, 8),)),
        Record("n::longer", 24, (Field("x", DOUBLE, 0),)),
        Record("n::tail", 16, (Field("d", DOUBLE, 0), Field("c", CHAR, 9))),
        Record("n::any", 8, (Field("i", INT, 0),), union=True),
        Record("n::empty", 1),
        Record("std::vector<double>", 24, (Field(DATA, Pointer(DOUBLE), 0), Field(SIZE, INT, 8))),
    ],
    ids=lambda record: record.tag,
)
def test_what_is_no_such_struct_is_refused(record: Record) -> None:
    with pytest.raises(RefusedError, match="class"):
        classes().type(record, ZERO)


def test_names_that_are_taken_are_not_taken_again() -> None:
    record = Record("geo::vec", 8, (Field("x", DOUBLE, 0),))
    made = classes(geo_vec="struct geo_vec { int n; };")
    type = made.type(record, ZERO)
    assert isinstance(type, Record) and type.spelling == "geo_vec_"
    with pytest.raises(RefusedError, match="geo_vec_"):
        made.texts(("geo_vec_",))
    with pytest.raises(RefusedError, match="at once"):
        made.type(Record("geo_vec::", 8, (Field("y", DOUBLE, 0),)), ZERO)


def test_enumerators_that_device_code_does_not_know_are_numbers() -> None:
    air = Symbol("air", "k", INT, "enumerator", value=-2)
    scoped = Name(span=HERE, type=INT, symbol=air)
    plain = Name(span=Span(HERE.file, 6, 9), type=INT, symbol=air)
    changed = classes(air="enum kind { air };").node(scoped)
    assert isinstance(changed, Literal) and changed.text == "(-2)"
    assert classes(air="enum kind { air };").node(plain) is plain
    assert isinstance(classes().node(plain), Literal)


@pytest.mark.slow
def test_a_program_of_classes_runs_on_the_device() -> None:
    result = port([str(PROGRAM)], PortOptions())
    assert result.verification is not None and result.verification.status == "pass"
    assert result.plan is not None and {f.kernel.region for f in result.plan.fragments} >= {"move/i", "spread/i"}
    assert not has_nvcc() or compile_nvcc(result.files) is None
