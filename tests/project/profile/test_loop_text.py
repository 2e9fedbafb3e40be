from __future__ import annotations

import pytest

from warpsmith.project.profile.loop_text import find_loops


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("for (i = 0; i < n; i++) a[i] = 0; b = 1;", ["a[i] = 0;"]),
        ("for (;;) { x(); } y();", ["{ x(); }"]),
        ("for (i) for (j) s++; t++;", ["s++;", "s++;"]),
        ("for (i) if (a) s++; else t++; u++;", ["t++;"]),
        ("for (i) if (a) if (b) s++; else t++; else u++; v++;", ["u++;"]),
        ("do s++; while (s < 3); t++;", ["(s < 3);"]),
        ("do do s++; while (a); while (b);", ["(b);", "(a);"]),
        ("while (a) do b(); while (c); d();", ["(c);", "(c);"]),
        ("while (a[f(1, 2)]) ; x++;", [";"]),
        ('for (i) puts("; } {"); x();', ['puts("; } {");']),
        ("for (i) x = (struct s){ 1, 2 }; y();", ["x = (struct s){ 1, 2 };"]),
        ("for (auto &x : v) x += [&] { for (int q : w) return q; return 0; }(); y();", ["0; }();", "return q;"]),
        ("for (i) switch (i) { case 0: x(); break; default: y(); } z();", ["y(); }"]),
        ("for (i) try { x(); } catch (int e) { y(); } z();", ["{ y(); }"]),
        ("for (i) /* } ; */ x(); // for (j) y();\nz();", ["x();"]),
        ("#define EACH(i) for (i = 0; i < 3; i++) \\\n  x(i);\nEACH(k) y();", []),
        ("a.for_each(b); s->do_it(); p.while_(1);", []),
        ("const char *s = R\"x(for (i) y();)x\"; int n = 1'000'000; for (;;) z();", ["z();"]),
        ("fo\\\nr (;;) x(); // for (;;) y();\rwhi\\ \nle (a) z(); y();", ["x();", "z();"]),
        ("for (;;) <% x(); %> y();", ["%>"]),
        ("#include <a/*b>\nfor (;;) x(); y();", ["x();"]),
        ("k<<<1, 2>>>(a); for (;;) $for(); y();", ["$for();"]),
    ],
)
def test_where_loops_end(text: str, ends: list[str]) -> None:
    loops = find_loops(text)
    assert [text[: loop.end].endswith(end) for loop, end in zip(loops, ends, strict=True)] == [True] * len(ends)
    assert not any(loop.refused for loop in loops)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("#ifdef A\nfor (i = 0; i < n; i++) {\n#else\nfor (i = 1; i < n; i++) {\n#endif\nx(); }", "cuts"),
        ("for (i = 0; i < n; i++) { x();\n#ifdef A\ny(); }\n#else\nz(); }\n#endif\n", "cuts"),
        ("for (i) { x(); again: y(); } goto again;", "label"),
        ("switch (n) { case 0: do { x(); case 1: y(); } while (--n); }", "switch"),
        ("constexpr int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }", "constexpr"),
        ("__global__ void f(int n) { for (int i = 0; i < n; i++) x(); }", "device"),
        ("for (i) x()", "end"),
    ],
)
def test_what_cannot_be_changed_says_why(text: str, why: str) -> None:
    assert any(why in loop.refused for loop in find_loops(text))


def test_a_conditional_inside_is_no_obstacle() -> None:
    (loop,) = find_loops("for (i) {\n#ifdef A\nx();\n#else\ny();\n#endif\n}")
    assert not loop.refused


@pytest.mark.parametrize(
    ("text", "start", "pragmas"),
    [
        ("x();\n#pragma omp parallel for\nfor (i) y();", 5, 1),
        ("x();\n#pragma omp parallel\n#pragma omp for\nfor (i) y();", 5, 2),
        ("x();\n#ifdef _OPENMP\n#pragma omp parallel for\n#endif\nfor (i) y();", 5, 1),
        ("#ifdef A\nx();\n#endif\n#pragma omp parallel for\nfor (i) y();", 21, 1),
        ("#ifdef A\nx();\n#pragma omp parallel for\n#endif\nfor (i) y();", 0, 1),
        ("#pragma omp section\nfor (i) y();", 20, 0),
        ("#include <a.h>\nfor (i) y();", 15, 0),
    ],
)
def test_pragmas_belong_to_the_loop(text: str, start: int, pragmas: int) -> None:
    (loop,) = find_loops(text)
    assert loop.before == start and len(loop.pragmas) == pragmas


def test_lines_and_columns() -> None:
    loops = find_loops("int f() {\n  for (;;)\n    while (1) ;\n}\n")
    assert [(loop.line, loop.column, loop.kind) for loop in loops] == [(2, 3, "for"), (3, 5, "while")]


@pytest.mark.parametrize("comment", ["// collapse(2)", "/* collapse(2)\n */", "// collapse \\\n (2)"])
def test_pragmas_are_read_without_their_comments(comment: str) -> None:
    text = f"void f() {{\n#pragma omp parallel \\\r\n for {comment}\n  for (;;) x(); }}"
    assert [loop.pragmas for loop in find_loops(text)] == [("omp parallel for",)]
    assert [loop.pragmas for loop in find_loops(text.replace("#", "%: "))] == [("omp parallel for",)]
