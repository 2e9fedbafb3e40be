"""`assert` of the C library is a test that ends the program, in C and in C++; what only looks like it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.analysis import program_of
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.effects.effects import effects
from warpsmith.tree.library_texts import is_assertion
from warpsmith.tree.nodes import Call, Node, VerbatimExpr
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.program import Program
from warpsmith.tree.walk import walk

HEAD = "#include <assert.h>\nstruct on { operator bool() const { return true; } };\n"


def of_text(text: str, folder: Path, name: str, *arguments: str) -> Program:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return load_program([str(path)], FrontOptions(arguments=arguments)).program


def find_tested(program: Program) -> list[str]:
    """Return the conditions of the assertions of function f, and `opaque` for what is not modelled there."""
    (one,) = (function for _, function in program.functions() if function.symbol.name == "f")

    def written(node: Node) -> str | None:
        if is_assertion(node) and isinstance(node, Call):
            return Printer().expr(node.arguments[0])
        return "opaque" if isinstance(node, VerbatimExpr) else None

    return [text for node in walk(one) if (text := written(node)) is not None]


@pytest.mark.parametrize("arguments", [(), ("-std=c99",), ("-std=c99", "-pedantic")])
@pytest.mark.parametrize("name", ["a.c", "a.cpp"])
@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("k > 0 && a[k] < 3.5", ["k > 0 && a[k] < 3.5"]),
        ("k", ["k"]),
        ("a[k]", ["a[k]"]),
        ("(int)a[k]", ["(int)a[k]"]),
        ("k++ < 3", ["k++ < 3"]),
        ("a != 0", ["a != 0"]),
    ],
)
def test_an_assertion_is_a_call(
    condition: str, expected: list[str], name: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    if name.endswith("cpp") and arguments:
        pytest.skip("a standard of C")
    head = HEAD if name.endswith("cpp") else "#include <assert.h>\n"
    text = f"{head}void f(int k, double *a) {{ assert({condition}); a[k] = 1; }}\n"
    program = of_text(text, tmp_path, name, *arguments)
    assert find_tested(program) == expected
    done = effects(program, next(f for _, f in program.functions() if f.symbol.name == "f"))
    assert done.asserts and not done.io and not done.calls_unknown


def test_an_assertion_within_another_macro(tmp_path: Path) -> None:
    text = "#include <assert.h>\n#define NEED(e) do { assert(e); } while (0)\n#define HAVE(e) assert((e) > 0)\n"
    program = of_text(f"{text}void f(int k) {{ HAVE(k); }}\n", tmp_path, "a.c")
    assert find_tested(program) == ["k > 0"]


def test_an_assertion_that_is_off_is_nothing(tmp_path: Path) -> None:
    program = of_text("#include <assert.h>\nvoid f(int k) { assert(k); }\n", tmp_path, "a.c", "-DNDEBUG")
    assert find_tested(program) == []
    assert not effects(program, next(f for _, f in program.functions())).asserts


@pytest.mark.parametrize(
    ("name", "text"),
    [
        # the program has a function of its own for what fails
        (
            "a.c",
            "void __assert_fail(const char *a, const char *f, unsigned l, const char *g) {}\n"
            "void f(int k) { assert(k); }\n",
        ),
        ("a.c", "#define noted(e) ({ int was = (e); if (was) ; else __assert_fail(#e, \"\", 1, \"\"); })\n"
                "void f(int k) { noted(k); }\n"),
        ("a.c", "int g;\n#define counted(e) ({ if (e) g++; else __assert_fail(#e, \"\", 1, \"\"); })\n"
                "void f(int k) { counted(k); }\n"),
        ("a.c", "int g(void);\n#define called(e) ({ if (e) ; else g(); })\nvoid f(int k) { called(k); }\n"),
        ("a.c", "#define chosen(e) ({ if (e) __assert_fail(#e, \"\", 1, \"\"); else ; })\n"
                "void f(int k) { chosen(k); }\n"),
        ("a.c", "void f(double *a) { assert(a); }\n"),
        ("a.cpp", "void f(on k) { assert(k); }\n"),
        ("a.cpp", "int g();\n#define chosen(e) ((e) ? g() : (__assert_fail(#e, \"\", 1, \"\"), 0))\n"
                  "void f(int k) { chosen(k); }\n"),
    ],
)  # fmt: skip
def test_what_only_looks_like_an_assertion(name: str, text: str, tmp_path: Path) -> None:
    program = of_text((HEAD if name == "a.cpp" else "#include <assert.h>\n") + text, tmp_path, name)
    assert not any(condition != "opaque" for condition in find_tested(program))


def test_a_cast_of_the_users_stays(tmp_path: Path) -> None:
    text = '#define mine(e) ((int)(e) ? (void)0 : __assert_fail(#e, "", 1, ""))\nvoid f(double k) { mine(k); }\n'
    assert find_tested(of_text(HEAD + text, tmp_path, "a.cpp")) == ["(int)k"]


def test_who_may_see_the_end_of_the_program() -> None:
    text = "#include <assert.h>\n#include <signal.h>\nint g; void h(int k) { g = k; }\n"
    body = "void f(int k) { assert(k); }\n"
    caught = program_of(f"{text}void m(void) {{ signal(SIGABRT, h); }}\n{body}")
    plain = program_of(f"{text}{body}")
    of = [effects(p, next(f for _, f in p.functions() if f.symbol.name == "f")) for p in (caught, plain)]
    assert [(done.calls_unknown, done.reason) for done in of] == [(True, "assert may end the program"), (False, "")]
