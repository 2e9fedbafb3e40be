from __future__ import annotations

import pytest

from tests.front.conftest import Load, found, function
from warpsmith.tree.nodes import (
    Block,
    Case,
    DeclStmt,
    Empty,
    ExprStmt,
    For,
    If,
    MacroUse,
    Node,
    Pragma,
    Return,
    Stmt,
    Switch,
    Verbatim,
    While,
)
from warpsmith.tree.walk import loops, walk

MACROS = """
#include <stdio.h>
#include <stdlib.h>
#include <assert.h>
#define FORI(i, n) for (int i = 0; i < (n); i++)
#define SWAP(a, b) { double t = a; a = b; b = t; }
#define STATIC(a) { static double kept; kept += a; }
#define TWICE(a) { for (int k = 0; k < 2; k++) a *= 2; }
#define INC(x) x++;
#define TWO(x) x++; x--
#define LEAVE return
#define WHEN(c) if (c)
#define VECTOR(v, n) double v[n]
#define MATRIX(v, n) double (*v)[n]; v = (double (*)[n])malloc((n) * (n) * sizeof(double));
#define PARAMETER(v, n) v[n][n]
#define N 10
"""


def statements(load: Load, text: str, parameters: str = "int n, int x, double *a, double *b") -> tuple[Stmt, ...]:
    return function(load(f"{MACROS}void f({parameters}) {{ {text} }}")).body.statements


def kinds(nodes: tuple[Stmt, ...]) -> list[str]:
    return [type(n).__name__ for n in nodes]


def test_simple_statements_reach_to_their_semicolons(load: Load) -> None:
    made = statements(
        load, "int y = 1, *p; ; x = y  /* c */ ; if (x) return; else { x++; } while (0) continue; return;"
    )
    assert kinds(made) == ["DeclStmt", "Empty", "ExprStmt", "If", "While", "Return"]
    assert [s.span.text for s in made] == [
        "int y = 1, *p;", ";", "x = y  /* c */ ;", "if (x) return; else { x++; }", "while (0) continue;", "return;",
    ]  # fmt: skip
    assert isinstance(made[0], DeclStmt)
    assert [d.symbol.name for d in made[0].declarations] == ["y", "p"]


@pytest.mark.parametrize(
    ("text", "form", "header"),
    [
        ("while (x > 0 /* ) */) { x--; }", "while", "while (x > 0 /* ) */)"),
        ("do x--; while (x > 0);", "do", "do"),
        ("for (;;) { if (x) break; }", "for", "for (;;)"),
        ("for (x = f2(';', \")\"); x; ) x--;", "for", "for (x = f2(';', \")\"); x; )"),
    ],
)
def test_loops_that_are_not_counted_keep_their_parts(load: Load, text: str, form: str, header: str) -> None:
    loaded = load(f"int f2(int c, const char *s); void f(int x) {{ {text} }}")
    (loop,) = function(loaded).body.statements
    assert isinstance(loop, While)
    assert (loop.form, loop.header.text, loop.span.text) == (form, header, text)
    assert (loop.condition is None) == (";;" in text)
    assert (loop.init is None) == ("f2" not in text)


def test_nested_loops_and_branches_have_exact_spans(load: Load) -> None:
    text = "for (int i = 0; i < n; i++)\n if (a[i] > 0)\n  for (int j = i; j < n; j++) a[j] += 1 ;\n else a[i] = 0;"
    made = statements(load, text)
    assert [s.span.text for s in made] == [text]
    inner = found(made[0], For)[1]
    assert inner.span.text == "for (int j = i; j < n; j++) a[j] += 1 ;"


@pytest.mark.parametrize(
    ("text", "reason", "control"),
    [
        ("switch (x) { case 0: while (n--) { case 1: x++; } }", "a case label inside another statement", True),
        ("goto done; done: ;", "goto", True),
        ('__asm__ volatile ("nop" : "+r"(x));', "inline assembly", True),
        ("STATIC(a[0])", "a macro that makes statements", False),
        ("TWICE(a[0])", "a macro that makes control flow", False),
        ("TWO(x);", "a macro that makes statements", False),
        ("LEAVE;", "a macro that makes control flow", True),
        ("WHEN(x) n++;", "a macro that makes control flow", False),
        ("struct local { int k; }; x++;", "a type declared inside a function", False),
    ],
)
def test_statements_that_are_not_modelled_are_boxed(load: Load, text: str, reason: str, control: bool) -> None:
    make_opaque = statements(load, text)[0]
    assert isinstance(make_opaque, Verbatim)
    assert (make_opaque.reason, make_opaque.control) == (reason, control)
    assert make_opaque.reads == make_opaque.writes
    assert {s.name for s in make_opaque.writes} >= {
        name for name in ("x", "n", "a", "b") if f"({name}" in make_opaque.text
    }


def test_a_label_stands_before_the_statement_that_it_marks(load: Load) -> None:
    made = statements(load, "again: for (int i = 0; i < n; i++) a[i] = 0; if (x--) goto again;")
    assert kinds(made) == ["Verbatim", "For", "If"]
    assert made[0].span.text == "again:"


def test_a_loop_whose_header_is_a_macro_is_listed_and_boxed(load: Load) -> None:
    text = "FORI(i, n) { a[i] = 0; }"
    (loop,) = statements(load, text)
    assert isinstance(loop, While)
    assert (loop.span.text, loop.reason) == (text, "its header is the macro FORI")
    assert isinstance(loop.body, Verbatim)
    assert {s.name for s in loop.body.writes} == {"i", "n", "a"}


def test_a_macro_statement_that_is_an_expression_is_one(load: Load) -> None:
    made = statements(load, "INC(x); assert(x > 0); x = 1;")
    assert kinds(made) == ["ExprStmt", "ExprStmt", "ExprStmt"]
    assert isinstance(made[0], ExprStmt)
    assert isinstance(made[0].expr, MacroUse)
    assert isinstance(statements(load, "INC(x) x = 1;")[0], Verbatim)


def test_a_conditional_in_a_loop_boxes_what_it_names(load: Load) -> None:
    text = "for (int i = 0; i < n; i++) {\n#ifdef __OTHER__\n  x = b[0];\n#else\n  a[i] = 0;\n#endif\n a[i]++; }\n"
    (loop,) = statements(load, text + "\n")
    lines = [n for n in walk(loop) if isinstance(n, Verbatim)]
    assert [(n.text, n.reason) for n in lines] == [
        (line, "a preprocessor conditional inside the loop") for line in ("#ifdef __OTHER__", "#else", "#endif")
    ]
    assert [{s.name for s in line.writes} for line in lines] == [{"x", "b"}, set(), set()]
    assert [line.calls and line.control for line in lines] == [True, False, False]
    assert isinstance(loop, For)
    (counted,) = statements(load, text.replace("x = b[0]", "n = 3"))
    assert isinstance(counted, While)
    assert counted.reason == "a preprocessor conditional inside the loop"


def test_code_of_a_build_that_no_port_is_made_for_counts_for_nothing(load: Load) -> None:
    text = "for (int i = 0; i < n; i++) {\n#ifdef DEBUG\n  n = b[0];\n#else\n  a[i] = 0;\n#endif\n a[i]++; }\n"
    (loop,) = statements(load, text)
    assert isinstance(loop, For)
    lines = [n for n in walk(loop) if isinstance(n, Pragma)]
    assert [n.text for n in lines if n.choice] == ["#ifdef DEBUG", "#else", "#endif"]
    # one that is half of another compiler stays whole
    (loop,) = statements(load, text.replace("#ifdef DEBUG", "#if defined(DEBUG) && !defined(__OTHER__)"))
    assert not any(isinstance(n, Pragma) for n in walk(loop)) and any(isinstance(n, Verbatim) for n in walk(loop))
    inner = text.replace("  n = b[0];", "#ifdef __OTHER__\n  x = 0;\n#endif\n")
    (loop,) = statements(load, inner)
    assert not any(isinstance(n, Pragma) for n in walk(loop)) and any(isinstance(n, Verbatim) for n in walk(loop))


def test_a_conditional_in_a_loop_header_boxes_the_loop(load: Load) -> None:
    text = "for (int i = 0; i < n\n#ifdef SHORT\n - 1\n#endif\n; i++) { a[i] = 0; }"
    (loop,) = statements(load, text)
    assert isinstance(loop, While)
    assert isinstance(loop.body, Verbatim)
    assert loop.body.text == text
    assert loop.reason == "a preprocessor conditional inside the loop"


def test_a_conditional_around_whole_loops_leaves_them_alone(load: Load) -> None:
    made = statements(load, "\n#if 1\nfor (int i = 0; i < n; i++) a[i] = 0;\n#endif\n")
    assert kinds(made) == ["Verbatim", "For", "Verbatim"]
    assert isinstance(made[0], Verbatim)
    assert not made[0].writes


_OMP = "\n#ifdef OMP\n#pragma omp parallel for\n#else\n#pragma GCC ivdep\n#endif\n"
_LOOP = "for (int i = 0; i < n; i++) a[i] = 0;"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"if (x){_OMP}{_LOOP}", ["If", "Block", "Pragma", "For"]),
        (f"if (x) x = 1; else{_OMP}{_LOOP}", ["If", "ExprStmt", "Block", "Pragma", "For"]),
        (f"if (x){_OMP}{_LOOP} else /* or */{_OMP}{_LOOP}", ["If", *["Block", "Pragma", "For"] * 2]),
        (f"for (int j = 0; j < n; j++){_OMP}{_LOOP}", ["For", "Block", "Pragma", "For"]),
        (f"while (x--){_OMP}a[x] = 0;", ["While", "Block", "Pragma", "ExprStmt"]),
        # what another build alone has says nothing of this one; what it keeps on a device does
        (f"if (x)\n#ifdef OMP\n#pragma omp simd\n#endif\n{_LOOP}", ["If", "Block", "For"]),
        (f"if (x)\n#ifdef OMP\n#pragma omp target data map(to: a)\n#endif\n{_LOOP}", ["If", "Block", "Pragma", "For"]),
        # code in a conditional, or half of one
        (f"if (x)\n#ifdef OMP\nif (n)\n#endif\n{_LOOP}", ["Verbatim"]),
        (f"if (x) x = 1;\n#ifdef OMP\nelse\n#else\nelse\n#endif\n{_LOOP}", ["Verbatim"]),
        (f"if (x) x = 1;{_OMP}else{_OMP}{_LOOP}", ["Verbatim"]),
        (f"if (x)\n#ifdef OMP\n#pragma omp simd\n#else\n{_LOOP}\n#endif\nx = 0;", ["Verbatim", "Verbatim", "ExprStmt"]),
    ],
)
def test_a_conditional_around_pragmas_belongs_to_the_body_behind_it(load: Load, text: str, expected: list[str]) -> None:
    made = [n for stmt in statements(load, text) for n in walk(stmt) if isinstance(n, Stmt)]
    assert [type(n).__name__ for n in made if not (isinstance(n, ExprStmt) and n.span.text == "a[i] = 0;")] == expected


def test_pragmas_are_statements_and_omp_loops_stay_visible(load: Load) -> None:
    made = statements(
        load, "\n#pragma omp parallel for \\\n  schedule(static)\nfor (int i = 0; i < n; i++) a[i] = 0;\n"
    )
    assert kinds(made) == ["Pragma", "For"]
    assert isinstance(made[0], Pragma)
    assert made[0].text == "#pragma omp parallel for \\\n  schedule(static)"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("comment", ["/* größe */".encode(), "/* größe */".encode("latin-1"), b"// \xff {;\t("])
def test_offsets_are_right_in_every_encoding(load: Load, newline: str, mark: bytes, comment: bytes) -> None:
    lines = [b"#define N 4", comment, b"void f(int n, double *a) {", b"\tfor (int i = 0; i < N; i++) " + comment,
             b"\t\ta[i] = 1;", b'\tconst char *s = "\xc3\xa4;";', b"}", b""]  # fmt: skip
    loaded = load(mark + newline.encode().join(lines))
    loop, declaration = function(loaded).body.statements
    assert isinstance(loop, For)
    assert loop.header.text == "for (int i = 0; i < N; i++)"
    assert loop.body.span.text == "a[i] = 1;"
    assert declaration.span.text == 'const char *s = "\xc3\xa4;";'
    assert loaded.program.units[0].file.data() == mark + newline.encode().join(lines)


def test_every_intact_node_is_its_text(load: Load) -> None:
    """Statements start and end where C says; expressions parse as what they claim."""
    loaded = load(
        MACROS + "int g(int n, double a[n][n], int *p) {\n"
        "  int s = 0; double t[N];\n  for (int i = 0; i < n; i += 2) { for (int j = n - 1; j >= 0; --j)\n"
        "    a[i][j] = a[i][n - j - 1] * (i + j) / 2.0f; s += p[i] > 3 ? -p[i] : 1; }\n"
        "  do { t[s % N] = s; } while (s-- > 0);\n  switch (s) { case 1: return 2; default: break; }\n  return s;\n}\n"
    )
    ends: dict[type[Node], str] = {ExprStmt: ";", DeclStmt: ";", Return: ";", Block: "}", Switch: "}", Empty: ";"}
    starts: dict[type[Node], str] = {Block: "{", If: "if", For: "for", Switch: "switch", Case: "", Return: "return"}
    body = function(loaded, "g").body
    for node in walk(body):
        assert node.span.text.startswith(starts.get(type(node), ""))
        assert node.span.text.endswith(ends.get(type(node), "")), node
        assert node.span.text == node.span.text.strip()
        assert body.span.contains(node.span)
    assert [loop.header.text for loop, _ in loops(body)] == [
        "for (int i = 0; i < n; i += 2)", "for (int j = n - 1; j >= 0; --j)", "do",
    ]  # fmt: skip


def test_what_skipped_text_names_may_have_dollars(load: Load) -> None:
    text = "int x$y = 0, y = 0; if (n)\n#ifdef FLAG\n{ x$y = 1; }\n#else\n{ n = 1; }\n#endif\n"
    (make_opaque,) = (s for s in statements(load, text) if isinstance(s, Verbatim) and "x$y" in s.text)
    assert {s.name for s in make_opaque.writes} == {"n", "x$y"}
