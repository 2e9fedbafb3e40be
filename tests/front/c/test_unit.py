"""One file as a unit: its items in order, its functions, its regions."""

from __future__ import annotations

from pathlib import Path

from tests.front.conftest import Load
from tests.front.test_load import GOOD
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import For, GlobalDecl, Other
from warpsmith.tree.walk import walk


def test_a_header_that_is_included_twice_has_the_right_places_both_times(tmp_path: Path) -> None:
    (tmp_path / "more.h").write_text("/* more */ static double table_of_more[4];\n")
    body = "static void NAME(int n, double *a)\n{\n    for (int i = 0; i < n; i++)\n        a[i] = N;\n}\n"
    header = f'#include "more.h"\n{body}'
    (tmp_path / "body.h").write_text(header)
    path = tmp_path / "case.c"
    path.write_text(
        '#define N 1\n#define NAME first\n#define table_of_more more1\n#include "body.h"\n#undef NAME\n'
        '#define NAME second\n#undef table_of_more\n#define table_of_more more2\n#include "body.h"\n'
        "void take(int n, double *a) { first(n, a); second(n, a); }\n"
    )
    program = load_program([str(path)], FrontOptions()).program
    for name in ("first", "second"):
        made = next(f for _, f in program.functions() if f.symbol.name == name)
        assert made.span.text == body.rstrip()
        (loop,) = (node for node in walk(made) if isinstance(node, For))
        assert loop.span.text == body[body.index("for") : body.index(";\n}") + 1]
    assert next(f for _, f in program.functions() if f.symbol.name == "take").span.text.startswith("void take(")


def test_the_items_of_a_file_are_in_source_order(load: Load) -> None:
    loaded = load("#include <stdio.h>\nstruct s { int k; } t, *u;\nint a = 1, b[2] = {1, 2};\nint p(int);\n" + GOOD)
    items = loaded.program.units[0].items
    assert [type(i).__name__ for i in items] == ["Other", "GlobalDecl", "GlobalDecl", "Other", "Function"]
    assert [i.span.text for i in items[:4]] == [
        "#include <stdio.h>", "struct s { int k; } t, *u;", "int a = 1, b[2] = {1, 2};", "int p(int);",
    ]  # fmt: skip
    assert isinstance(items[2], GlobalDecl)
    assert [d.symbol.name for d in items[2].declarations] == ["a", "b"]
    assert isinstance(items[3], Other)


def test_regions_come_from_pragmas(load: Load) -> None:
    loaded = load(
        "void f(int n, double *a) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 0;\n#pragma endscop\n"
        "#pragma target\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[i] = 1;\n a[0] = 2; }"
    )
    regions = [span.text.strip() for span in loaded.program.units[0].pragmas]
    assert regions == ["for (int i = 0; i < n; i++) a[i] = 0;", "for (int i = 0; i < n; i++) a[i] = 1;"]


def test_functions_that_macros_write_are_kept_as_they_are(load: Load) -> None:
    loaded = load(
        "#define WHOLE(n) void n(int *a) { a[0] = 1; }\n#define KIND static\nWHOLE(made)\n"
        "KIND int own(int *a) { return a[0]; }\nint later(int *);\nint x, y[2] = {1};\nint z;\n"
    )
    unit = loaded.program.units[0]
    assert [(f.symbol.name, f.static) for f in unit.functions] == [("own", True)]
    kinds = [(type(item).__name__, item.span.text) for item in unit.items]
    assert ("Other", "int later(int *);") in kinds and ("GlobalDecl", "int x, y[2] = {1};") in kinds
    assert [text for kind, text in kinds if kind == "Function"] == ["KIND int own(int *a) { return a[0]; }"]
    assert [text for kind, text in kinds if text.startswith("#")] == [
        "#define WHOLE(n) void n(int *a) { a[0] = 1; }", "#define KIND static",
    ]  # fmt: skip
    assert [text for _, text in kinds][-1] == "int z;"


def test_preprocessor_lines_of_a_function_are_its_own(load: Load) -> None:
    text = "#if 1\nvoid f(int n)\n{\n#if 1\n    n++;\n#endif\n}\n#endif\n#ifdef NEVER\nint left;\n#endif\n"
    unit = load(text).program.units[0]
    lines = [item.span.text for item in unit.items if isinstance(item, Other)]
    assert lines == ["#if 1", "#endif", "#ifdef NEVER", "#endif"]
    assert ["int left;" in span.text for span in unit.left_out] == [True]


def test_linkage_and_namespaces_are_looked_into(load: Load) -> None:
    text = (
        'extern "C" { int a; namespace in { int f(int k) { return k + a; } } }\nnamespace { int g() { return 1; } }\n'
    )
    unit = load(text, name="case.cpp").program.units[0]
    assert [(f.symbol.name, f.static) for f in unit.functions] == [("in::f", False), ("g", True)]


def test_a_scop_that_is_not_closed_or_not_opened_is_no_region(load: Load) -> None:
    text = (
        "void f(int n, double *a) {\n#pragma endscop\na[0] = 1;\n#pragma scop\na[1] = 1;\n#pragma endscop\n"
        "switch (n) { case 1:\n#pragma target\na[2] = 1; a[3] = 1; }\n#pragma scop\na[4] = 1;\n}"
    )
    assert [span.text.strip() for span in load(text).program.units[0].pragmas] == ["a[1] = 1;", "a[2] = 1;"]
