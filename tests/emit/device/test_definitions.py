"""The user's definitions that device text needs, in an order that compiles."""

from __future__ import annotations

from pathlib import Path

import msgspec.structs
import pytest

from tests.offload.hand import load
from warpsmith.base.errors import RefusedError
from warpsmith.emit.device.definitions import Definitions, is_standard, needed_definitions
from warpsmith.tree.nodes import Block
from warpsmith.tree.program import Unit

TEXT = """
#include <stddef.h>
#include <stdint.h>
#define SIZE (2 * HALF)
#define HALF 16
#define OTHER 3
typedef double real;
struct point { real x, y[SIZE]; };
enum color { RED, GREEN = HALF };
typedef struct point point_t;
typedef int dim3;
void f(int n, point_t *p) { p[0].x = n; }
"""


@pytest.fixture(scope="module")
def unit(tmp_path_factory: pytest.TempPathFactory) -> Unit:
    return load(TEXT, tmp_path_factory.mktemp("definitions")).units[0]


def names(found: Definitions) -> list[str]:
    """Return which definitions are there, in their order."""
    words = ("#define SIZE", "#define HALF", "#define OTHER", "real;", "struct point {", "RED", "point_t;")
    text = "\n".join(found.texts)
    return sorted((word for word in words if word in text), key=text.index)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("point_t q;", ["#define HALF", "#define SIZE", "real;", "struct point {", "point_t;"]),
        ("q = GREEN;", ["#define HALF", "RED"]),
        ("q = SIZE;", ["#define HALF", "#define SIZE"]),
        ("q = 3;", []),
    ],
)
def test_what_is_named_comes_before_its_use(text: str, expected: list[str], unit: Unit) -> None:
    found = needed_definitions(unit, text)
    got = names(found)
    # macros may stand in any order, types may not
    assert sorted(got) == sorted(expected)
    types = [word for word in expected if "define" not in word]
    assert [word for word in got if word in types] == types
    assert found.macros == {word.removeprefix("#define ") for word in expected if "define" in word}


def test_standard_names_come_by_their_headers(unit: Unit) -> None:
    found = needed_definitions(unit, "size_t n = INT32_MAX; double pi = M_PI; bool b = true;")
    assert found.headers == ("math.h", "stddef.h", "stdint.h") and found.texts == ()
    assert is_standard("uint8_t") and not is_standard("real")


def test_a_type_with_a_name_of_cuda_is_refused(unit: Unit) -> None:
    with pytest.raises(RefusedError, match="device code cannot have a type named dim3"):
        needed_definitions(unit, "dim3 d;")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("-DLIMIT=4",), "#ifndef LIMIT\n#define LIMIT 4\n#endif"),
        (("-D", "LIMIT"), "#ifndef LIMIT\n#define LIMIT 1\n#endif"),
        (("-DLIMIT(x)=x", "-DRED"), "#ifndef LIMIT\n#define LIMIT(x) x\n#endif"),
        (("-ULIMIT",), None),
    ],
)
def test_macros_of_the_command_line_are_written_down(arguments: tuple[str, ...], text: str | None, unit: Unit) -> None:
    found = needed_definitions(msgspec.structs.replace(unit, arguments=arguments), "n = LIMIT;")
    assert found.texts == ((text,) if text is not None else ())


def test_one_name_for_two_types_is_refused_where_it_is_meant(tmp_path: Path) -> None:
    text = """struct s { int a; };
void f(int *p) { struct s { double b; } x; x.b = 1; p[0] = x.b; }
void g(struct s *q) { q->a = 1; }
"""
    unit = load(text, tmp_path).units[0]
    f, g = unit.functions
    places = (f.body.statements[-1].span, g.body.statements[-1].span)
    with pytest.raises(RefusedError, match="is declared in this function, and otherwise elsewhere"):
        needed_definitions(unit, "struct s x;", places, places[0])
    assert needed_definitions(unit, "struct s x;", places, places[1]).texts


def test_what_a_kernel_declares_itself_is_not_needed(tmp_path: Path) -> None:
    text = """struct s { int a; };
void f(int *p) {
    for (int i = 0; i < 9; i++) { struct s { double b; } x; enum { K = 2 }; x.b = K; p[i] = x.b; }
    { struct s { float c; } y; y.c = 1; p[0] = y.c; }
}
"""
    unit = load(text, tmp_path).units[0]
    loop, block = unit.functions[0].body.statements
    assert isinstance(block, Block)
    assert needed_definitions(unit, "struct s x; K", (loop.span,), loop.span).texts == ("struct s { int a; };",)
    # a kernel inside of the other block would need that block's, and the file has another
    inner = block.statements[-1].span
    with pytest.raises(RefusedError, match="device code can have one `s`"):
        needed_definitions(unit, "struct s x;", (loop.span, inner), inner)


VECTORS = """
typedef struct { float x, y, z, w; } float3;
struct double2 { double r, phi; int float3_; };
typedef int float5;
void f(int n, float3 *p) { p[0].x = n; }
"""


def test_a_type_called_like_a_vector_of_cuda_gets_another_name(tmp_path: Path) -> None:
    """The macro stands before all that has the name, and makes one that the file does not have."""
    own = load(VECTORS, tmp_path).units[0]
    texts = needed_definitions(own, "float3 v; struct double2 w; float5 u;").texts
    assert texts[:2] == ("#define double2 double2_", "#define float3 float3__")
    assert [text for text in texts[2:] if text.startswith("#")] == []
    tagged = load("typedef struct int2 { int a; } pair;\nvoid f(pair *p) { p->a = 1; }\n", tmp_path).units[0]
    assert needed_definitions(tagged, "pair p;").texts[0] == "#define int2 int2_"
    assert needed_definitions(own, "float5 u;").texts == ("typedef int float5;",)
    hidden = load("typedef enum __kind { A, B } kind;\nvoid f(kind *p) { p[0] = A; }\n", tmp_path).units[0]
    assert needed_definitions(hidden, "kind p;").texts[0] == "#define __kind kind_"
