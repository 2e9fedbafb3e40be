"""The definitions that a kernel may need, as the user wrote them."""

from __future__ import annotations

from pathlib import Path

from tests.front.conftest import Load
from tests.front.test_load import GOOD
from warpsmith.front.load import FrontOptions, load_program


def test_definitions_that_kernels_may_need_are_collected(tmp_path: Path) -> None:
    (tmp_path / "types.h").write_text("#define WIDE \\\n  64\ntypedef float real;\n")
    path = tmp_path / "case.c"
    path.write_text(
        '#include "types.h"\n#include <math.h>\n#define SQ(x) ((x) * (x))\n#define SQ2(x) SQ(SQ(x))\n'
        "typedef struct point { real x[WIDE]; } point_t;\nenum side { LEFT, RIGHT = 4 };\n" + GOOD
    )
    texts = {t.name: t for t in load_program([str(path)], FrontOptions()).program.units[0].type_texts}
    assert texts["WIDE"].text == "#define WIDE \\\n  64"
    assert (texts["WIDE"].span, texts["WIDE"].macro) == (None, True)
    assert texts["SQ2"].needs == ("x", "SQ")
    assert texts["point"].text == texts["point_t"].text == "typedef struct point { real x[WIDE]; } point_t;"
    assert {"real", "WIDE"} <= set(texts["point_t"].needs)
    assert texts["LEFT"].text == texts["side"].text == "enum side { LEFT, RIGHT = 4 };"
    assert "M_PI" not in texts
    assert texts["SQ"].span is not None
    assert texts["SQ"].span.text == "#define SQ(x) ((x) * (x))"


def test_macros_that_change_have_no_text(load: Load) -> None:
    text = "#define A 1\n#define B 1\n#define C 1\nint x = A;\n#undef A\n#undef B\n#define B 2\nint y = B + C;\n"
    loaded = load(text + GOOD)
    assert [t.name for t in loaded.program.units[0].type_texts if t.text] == ["C"]


def test_types_know_their_scope_and_what_they_need(load: Load) -> None:
    loaded = load(
        "#define SIZE 4\nstruct early;\nstruct early { int k[SIZE]; };\nenum { ONE };\nstruct early *p;\n"
        "void g(int n) { typedef struct { struct early e; } pair; pair a; enum local { TWO }; }\n" + GOOD
    )
    texts = [t for t in loaded.program.units[0].type_texts if not t.macro]
    found = {t.name: (t.text, t.needs, t.scope is not None) for t in texts}
    assert found == {
        "pair": ("typedef struct { struct early e; } pair;", ("early", "e"), True),
        "local": ("enum local { TWO };", ("TWO",), True),
        "TWO": ("enum local { TWO };", ("local",), True),
        "early": ("struct early { int k[SIZE]; };", ("k", "SIZE"), False),
        "ONE": ("enum { ONE };", (), False),
    }
    assert {t.scope.text[:8] for t in texts if t.scope is not None} == {"{ typede"}
    assert all(t.span is not None and t.text == f"{t.span.text};" for t in texts)


def test_a_macro_defined_twice_alike_has_its_text(load: Load) -> None:
    loaded = load("#define A 1\n#define A 1\n#define B(x) x\n#undef B\n" + GOOD)
    assert [(t.name, t.text) for t in loaded.program.units[0].type_texts] == [("A", "#define A 1"), ("B", "")]
