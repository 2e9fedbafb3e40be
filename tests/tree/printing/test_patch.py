"""A rewritten unit keeps the user's bytes wherever the tree did not change."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

import msgspec.structs
import pytest

from warpsmith.base.errors import RefusedError
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import (
    Binary,
    Block,
    CaptureStmt,
    Conditional,
    DeclStmt,
    DeviceFree,
    Expr,
    ExprStmt,
    For,
    If,
    Launch,
    Literal,
    MacroUse,
    Name,
    Node,
    Stmt,
    Top,
    Verbatim,
    replace,
)  # fmt: skip
from warpsmith.tree.printing.patch import Patcher, include_offset, unit_text
from warpsmith.tree.printing.printer import DeviceStmt
from warpsmith.tree.program import Unit
from warpsmith.tree.types import INT, LONG_LONG, Symbol
from warpsmith.tree.walk import rebuild, walk


class Words:
    """A target that says the class of each device statement; a launch takes two lines."""

    def lines(self, node: DeviceStmt, expr: Callable[[Expr], str]) -> tuple[str, ...]:
        if isinstance(node, Launch):
            return (f"{node.kernel}(", *(f"    {expr(a)}" for a in node.arguments), ");")
        return (f"{type(node).__name__}();",)


def load(tmp_path: Path, text: str) -> Unit:
    path = tmp_path / "a.c"
    path.write_bytes(text.encode("latin-1"))
    loaded = load_program([str(path)], FrontOptions())
    assert not loaded.findings
    return loaded.program.units[0]


def rewritten(unit: Unit, change: Callable[[Node], Node]) -> Unit:
    new = {id(f): rebuild(f, change) for f in unit.functions}
    return msgspec.structs.replace(
        unit,
        items=tuple(_top(new.get(id(i), i)) for i in unit.items),
        functions=tuple(new[id(f)] for f in unit.functions),
    )


def _top(node: Node) -> Top:
    assert isinstance(node, Top)
    return node


def text_of(unit: Unit, change: Callable[[Node], Node], includes: tuple[str, ...] = ()) -> str:
    return unit_text(unit, rewritten(unit, change), Words(), includes)


def launch(at: Node) -> Launch:
    return Launch(span=at.span, kernel="kernel", arguments=(), region="")


def free(at: Node) -> DeviceFree:
    return DeviceFree(span=at.span, buffer=Symbol("b", "b", INT, "device"))


def capture(at: Node) -> CaptureStmt:
    zero = Literal(span=at.span, type=INT, text="0", value=0)
    symbol = Symbol("b", "b", INT, "device")
    return CaptureStmt(
        span=at.span, region="r", symbol=symbol, element=INT, lower=zero, upper=zero, extent=None, buffer=None
    )


SOURCE = """\
\xef\xbb\xbf#include <stdio.h>
#include "none.h" /* last */

// keep   me
int f(int n, int *a) {
\tint i, s = 0;	/* tab */

  /* first */
\tfor (i = 0; i < n; i++)   // why
\t    a[ i ]   = 1;
\t/* second */
\tfor (i = 0; i < n; i++) { s += a[i]; }  /* sum */
\treturn s ;
}
"""


@pytest.fixture(params=["\n", "\r\n"], ids=["lf", "crlf"])
def unit(tmp_path: Path, request: pytest.FixtureRequest) -> Unit:
    (tmp_path / "none.h").write_text("")
    return load(tmp_path, SOURCE.replace("\n", request.param))


def changed_lines(unit: Unit, text: str) -> tuple[list[str], list[str]]:
    lines = list(difflib.ndiff(unit.file.text.splitlines(True), text.splitlines(True)))
    return [x[2:].rstrip("\r\n") for x in lines if x[0] == "-"], [x[2:].rstrip("\r\n") for x in lines if x[0] == "+"]


def first_loop(node: Node) -> bool:
    return isinstance(node, For) and not isinstance(node.body, Block)


def in_body(change: Callable[[Stmt], tuple[Stmt, ...]]) -> Callable[[Node], Node]:
    """Change the statements of the function's body one by one."""

    def apply(node: Node) -> Node:
        if not (isinstance(node, Block) and any(isinstance(s, DeclStmt) for s in node.statements)):
            return node
        return replace(node, statements=tuple(new for old in node.statements for new in change(old)))

    return apply


def test_nothing_changed_is_nothing_changed(unit: Unit) -> None:
    assert text_of(unit, lambda node: node) == unit.file.text


def test_a_tree_rebuilt_equal_is_the_same_text(unit: Unit) -> None:
    assert text_of(unit, lambda node: replace(node)) == unit.file.text


def test_line_ends_are_the_files_own(unit: Unit) -> None:
    text = text_of(unit, in_body(lambda s: (launch(s), free(s)) if first_loop(s) else (s,)), ('#include "x.h"',))
    crlf = "\r\n" in unit.file.text
    assert text.count("\r\n") == (text.count("\n") if crlf else 0)


def test_a_replaced_statement_takes_its_place(unit: Unit) -> None:
    gone, come = changed_lines(unit, text_of(unit, in_body(lambda s: (free(s),) if first_loop(s) else (s,))))
    assert gone == ["\tfor (i = 0; i < n; i++)   // why", "\t    a[ i ]   = 1;"]
    assert come == ["\tDeviceFree();"]


def test_a_vanished_statement_takes_its_line_with_it(unit: Unit) -> None:
    def is_second(s: Stmt) -> bool:
        return isinstance(s, For) and not first_loop(s)

    gone, come = changed_lines(unit, text_of(unit, in_body(lambda s: () if is_second(s) else (s,))))
    assert (gone, come) == (["\tfor (i = 0; i < n; i++) { s += a[i]; }  /* sum */"], ["\t  /* sum */"])
    gone, come = changed_lines(unit, text_of(unit, in_body(lambda s: () if first_loop(s) else (s,))))
    assert (gone, come) == (["\tfor (i = 0; i < n; i++)   // why", "\t    a[ i ]   = 1;"], [])


def test_new_statements_stand_beside_their_neighbors(unit: Unit) -> None:
    def surround(s: Stmt) -> tuple[Stmt, ...]:
        return (launch(s), s, capture(s)) if first_loop(s) else (s,)

    gone, come = changed_lines(unit, text_of(unit, in_body(surround)))
    assert gone == []
    assert come == ["\tkernel(", "\t);", "\tCaptureStmt();"]
    text = text_of(unit, in_body(surround)).replace("\r\n", "\n")
    assert "\t);\n  /* first */\n\tfor" in text
    assert "= 1;\n\tCaptureStmt();\n\t/* second */" in text


def test_a_body_that_becomes_a_block_gets_braces(unit: Unit) -> None:
    def change(node: Node) -> Node:
        if isinstance(node, For) and first_loop(node):
            return replace(node, body=Block(span=node.body.span, statements=(node.body, free(node.body))))
        return node

    text = text_of(unit, change).replace("\r\n", "\n")
    assert (
        "\tfor (i = 0; i < n; i++)   // why\n\t    {\n\t    \ta[ i ]   = 1;\n\t    \tDeviceFree();\n\t    }\n" in text
    )


def test_expressions_change_inside_their_line(unit: Unit) -> None:
    def change(node: Node) -> Node:
        if isinstance(node, Literal) and node.value == 1:
            two = Literal(span=node.span, type=INT, text="2", value=2)
            return Binary(span=node.span, type=INT, op="<<", left=two, right=two)
        if isinstance(node, Name) and node.symbol.name == "a":
            return replace(node, symbol=msgspec.structs.replace(node.symbol, name="a_gpu"))
        return node

    gone, come = changed_lines(unit, text_of(unit, change))
    assert come == ["\t    a_gpu[ i ]   = 2 << 2;", "\tfor (i = 0; i < n; i++) { s += a_gpu[i]; }  /* sum */"]
    assert len(gone) == 2


def test_a_header_changes_without_its_body(unit: Unit) -> None:
    def change(node: Node) -> Node:
        return replace(node, step=4) if isinstance(node, For) and first_loop(node) else node

    gone, come = changed_lines(unit, text_of(unit, change))
    assert come == ["\tfor (i = 0; i < n; i += 4)   // why"]
    assert len(gone) == 1


def test_a_bound_in_its_line_keeps_to_its_comparison(unit: Unit) -> None:
    def change(node: Node) -> Node:
        if not (isinstance(node, For) and first_loop(node)):
            return node
        one = Literal(span=node.span, type=INT, text="1", value=1)
        return replace(
            node, bound=Conditional(span=node.span, type=INT, condition=node.bound, then=node.bound, other=one)
        )

    _, come = changed_lines(unit, text_of(unit, change))
    assert come == ["\tfor (i = 0; i < (n ? n : 1); i++)   // why"]


def test_a_counter_of_another_type_is_declared_so(tmp_path: Path) -> None:
    unit = load(tmp_path, "void f(int n, int *a) {\n  for (int i = 0; i < n; i++)\n    a[i] = 0;\n}\n")

    def change(node: Node) -> Node:
        if not isinstance(node, For):
            return node
        return replace(node, variable=Symbol("i", "other i", LONG_LONG, "local", node.variable.span))

    assert "for (long long i = 0; i < n; i++)" in text_of(unit, change)


def test_a_guarded_version_keeps_the_original(unit: Unit) -> None:
    def version(s: Stmt) -> tuple[Stmt, ...]:
        if not first_loop(s):
            return (s,)
        condition = Literal(span=s.span, type=INT, text="1", value=1)
        ported, original = Block(span=s.span, statements=(free(s),)), Block(span=s.span, statements=(s,))
        return (If(span=s.span, condition=condition, then=ported, other=original),)

    text = text_of(unit, in_body(version)).replace("\r\n", "\n")
    expected = (
        "\tif (1) {\n\t\tDeviceFree();\n\t} else {\n\t\tfor (i = 0; i < n; i++)   // why\n\t\t    a[ i ]   = 1;\n\t}\n"
    )
    assert expected in text


def test_a_statement_printed_elsewhere_keeps_comments_and_changes(tmp_path: Path) -> None:
    unit = load(
        tmp_path, "void f(int n, int *a) {\n  for (int i = 0; i < n; i++) {\n    // note\n    a[i] = 0;\n  }\n}\n"
    )

    def wrap(node: Node) -> Node:
        if isinstance(node, Name) and node.symbol.name == "a":
            return replace(node, symbol=msgspec.structs.replace(node.symbol, name="b"))
        if isinstance(node, Block) and isinstance(node.statements[0], For):
            inner = Block(span=node.span, statements=node.statements)
            condition = Literal(span=node.span, type=INT, text="1", value=1)
            return replace(node, statements=(If(span=node.span, condition=condition, then=inner, other=None),))
        return node

    text = text_of(unit, wrap)
    assert "  if (1) {\n    for (int i = 0; i < n; i++) {\n      // note\n      b[i] = 0;\n    }\n  }\n" in text


def test_insertions_stay_out_of_conditionals(tmp_path: Path) -> None:
    unit = load(tmp_path, "int g(void);\nvoid f(int n, int *a) {\n  int i;\n#if 1\n  g();\n#endif\n\n  a[0] = n;\n}\n")

    def before(s: Stmt) -> tuple[Stmt, ...]:
        return (free(s), s) if isinstance(s, ExprStmt) and "a[0]" in s.span.text else (s,)

    assert "#endif\n  DeviceFree();\n\n  a[0] = n;\n" in text_of(unit, in_body(before))


def test_nothing_is_inserted_into_a_conditional_between_two_statements() -> None:
    file = SourceFile("a.c", "{\n  a;\n#if 1\n\n#endif\n  // note\n  b;\n}\n")
    old, one, two = _two_statements(file)
    patcher = Patcher([old], Words())
    (first,) = patcher.edits(old, replace(old, statements=(one, launch(two), two)))
    (second,) = patcher.edits(old, replace(old, statements=(one, free(one), two)))
    assert file.text[: first.span.start].endswith("#endif\n")
    assert file.text[: second.span.start].endswith("  a;\n")
    inside = SourceFile("a.c", "{\n#if 1\n  a;\n#endif\n  b;\n}\n")
    old, one, two = _two_statements(inside)
    (edit,) = Patcher([old], Words()).edits(old, replace(old, statements=(one, free(one), two)))
    assert inside.text[: edit.span.start].endswith("#endif\n")


def _two_statements(file: SourceFile) -> tuple[Block, Verbatim, Verbatim]:
    def at(start: str, end: str) -> Span:
        return Span(file, file.text.index(start), file.text.index(end) + len(end))

    one, two = (Verbatim(span=at(t, t), intact=True, text=t, reads=(), writes=(), calls=False, control=False, reason="")
                for t in ("a;", "b;"))  # fmt: skip
    return Block(span=at("{", "}"), intact=True, statements=(one, two)), one, two


def test_a_conditional_across_the_region_is_refused() -> None:
    file = SourceFile("a.c", "{\n#if 1\n  a;\n#endif\n  b;\n}\n")

    old, one, two = _two_statements(file)
    patcher = Patcher([old], Words())
    assert patcher.edits(old, replace(old, statements=(free(one), two)))
    with pytest.raises(RefusedError):
        patcher.edits(old, replace(old, statements=(free(one),)))


def test_a_macro_use_that_changes_prints_its_expansion(tmp_path: Path) -> None:
    unit = load(tmp_path, "#define LAST n - 1\nvoid f(int n, int *a) {\n  a[2 * (LAST)] = LAST;\n}\n")
    assert any(isinstance(node, MacroUse) for node in walk(unit.functions[0]))

    def change(node: Node) -> Node:
        if isinstance(node, Name) and node.symbol.name == "n":
            return replace(node, symbol=msgspec.structs.replace(node.symbol, name="m"))
        return node

    assert "  a[2 * (m - 1)] = m - 1;\n" in text_of(unit, change)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int x;\n", 0),
        ("/* license */\nint x;\n", 14),
        ("// a\n#define _GNU_SOURCE\nint x;\n", 25),
        ("#include <a.h>\n#if 1\n#include <b.h>\n#endif\n#include <c.h>\nint x;\n#if 0\n#include <d.h>\n#endif\n", 58),
        ("#define N 3 \\\n  + 1\n#include <a.h>\nint x;\n", 35),
        ("#ifdef A\n#include <a.h>\n#endif\nint x;\n", 0),
        ("\xef\xbb\xbfint x;\n", 3),
        ('/* #include "no.h"\n*/ int x;\n', 21),
        ("#include <a.h>", 14),
        ("#include <a.h>\nint first;\n#include \"late.c\"\n", 15),
    ],
)  # fmt: skip
def test_where_an_include_goes(text: str, expected: int) -> None:
    limit = text.find("int first") if "int first" in text else len(text)
    assert include_offset(SourceFile("a.c", text), limit) == expected


CUT_OFF = """int g(void);
void f(int n, int *a) {
  int i;
#ifdef OPEN
%s#pragma omp parallel for
#endif
  for (i = 0; i < n; i++)
    a[i] = i;
}
"""


def test_nothing_comes_between_a_loop_and_its_pragma_in_a_conditional(tmp_path: Path) -> None:
    def before(s: Stmt) -> tuple[Stmt, ...]:
        return (free(s), s) if isinstance(s, For) else (s,)

    unit = load(tmp_path, CUT_OFF % "")
    assert "  DeviceFree();\n#ifdef OPEN\n#pragma omp parallel for\n#endif\n  for" in text_of(unit, in_body(before))
    # code of another build is none of this one
    unit = load(tmp_path, CUT_OFF % "  g();\n")
    assert "  DeviceFree();\n#ifdef OPEN\n  g();\n#pragma omp parallel for\n" in text_of(unit, in_body(before))
    with pytest.raises(RefusedError):
        text_of(load(tmp_path, CUT_OFF.replace("#ifdef", "#ifndef") % "  g();\n"), in_body(before))


def test_the_pragma_of_a_loop_that_goes_goes_with_it(tmp_path: Path) -> None:
    def instead(s: Stmt) -> tuple[Stmt, ...]:
        return (free(s),) if isinstance(s, For) else (s,)

    text = text_of(load(tmp_path, CUT_OFF % "  g();\n"), in_body(instead))
    assert "#ifdef OPEN\n  g();\n#endif\n  DeviceFree();\n}" in text


def test_the_label_of_a_case_changes_in_its_place(tmp_path: Path) -> None:
    unit = load(tmp_path, "enum { ONE = 1 };\nint f(int n) { switch (n) { case ONE: return 3; default: return 0; } }\n")

    def number(node: Node) -> Node:
        if isinstance(node, Name) and node.symbol.name == "ONE":
            return Literal(span=node.span, type=INT, text="1", value=1)
        return node

    assert "case 1: return 3; default: return 0;" in text_of(unit, number)
