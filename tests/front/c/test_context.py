"""The state of building a unit: symbols, keys, what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.conftest import Load, function, parsed
from tests.poly.analysis import program_of
from warpsmith.front.clang import kinds
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.effects.effects import effects
from warpsmith.tree.effects.file import house_effects
from warpsmith.tree.library_texts import is_assertion
from warpsmith.tree.nodes import Name, VerbatimExpr
from warpsmith.tree.walk import walk


def test_several_files_are_one_program(tmp_path: Path) -> None:
    (tmp_path / "shared.h").write_text("extern double table[];\nstatic int twice(int x) { return 2 * x; }\n")
    start = '#include "shared.h"\nstatic int help(void) { return 1; }\nstatic int k;\n'
    (tmp_path / "a.c").write_text(
        f"{start}double table[8];\nint f(void) {{ table[0] = 1; return help() + k + twice(k); }}\n"
    )
    (tmp_path / "b.c").write_text(f"{start}int f(void); int g(void) {{ table[1] = 2; return help() + f() + k; }}\n")
    program = load_program([str(tmp_path / "a.c"), str(tmp_path / "b.c")], FrontOptions()).program
    functions = [(f.symbol.name, f.static) for _, f in program.functions()]
    assert functions == [("twice", True), ("help", True), ("f", False), ("twice", True), ("help", True), ("g", False)]
    used = [
        {n.symbol.name: n.symbol for n in walk(unit.functions[-1]) if isinstance(n, Name)} for unit in program.units
    ]
    assert used[0]["table"] == used[1]["table"]
    assert used[0]["table"].key == "table"
    assert used[0]["help"] != used[1]["help"]
    assert used[0]["k"] != used[1]["k"]
    assert used[1]["f"] == program.units[0].functions[-1].symbol
    # One SourceFile a file, also for the header that both include.
    headers = [unit.functions[0].span.file for unit in program.units]
    assert headers[0] is headers[1]
    for unit in program.units:
        main = [n.span.file for function in unit.functions[1:] for n in walk(function)]
        assert all(file is unit.file for file in main)


def test_storage_and_keys_of_symbols(load: Load) -> None:
    loaded = load(
        "enum { E = 7 }; int g; static int h; int f(int p) { static int s; int l; { int l; l = 0; }"
        " extern int x; l = E; return g + h + p + s + l + x; }"
    )
    symbols = {(n.symbol.name, n.symbol.storage, n.symbol.value) for n in walk(function(loaded)) if isinstance(n, Name)}
    assert symbols == {
        ("g", "global", None), ("h", "static", None), ("p", "parameter", None), ("s", "static local", None),
        ("l", "local", None), ("x", "global", None), ("E", "enumerator", 7),
    }  # fmt: skip
    keys = {n.symbol.key for n in walk(function(loaded)) if isinstance(n, Name) and n.symbol.name == "l"}
    assert len(keys) == 2


LOCALS = """
#define PAIR(a) { int t = a; } { int t = a + 1; }
static int hidden; int open; extern void unseen(void);
int f(int x) { PAIR(x) return x + open + hidden; }
"""


def test_each_declaration_has_a_key_of_its_own(tmp_path: Path) -> None:
    context = parsed(tmp_path, LOCALS).context
    assert context is not None
    rows = {context.key(row): declared[1] for row, declared in enumerate(context.dump.declared)}
    assert [name for name in rows.values() if name == "t"] == ["t", "t"]
    assert rows["open"] == "open" and rows["f"] == "f"
    assert {key for key, name in rows.items() if name == "hidden"} & {"hidden"} == set()
    assert context.defines("f") and not context.defines("unseen") and not context.defines("open")


CALLED = """
#include <algorithm>
#include <cstring>
#include <cstdio>
void own(int &);
int f(int n, int *a, FILE *file) {
    auto kept = [&](int k) { return n + k; };
    auto copied = [=](int k) { return n + k; };
    auto both = [&, n](int k) { return n + k + a[0]; };
    auto made = [&m = n](int k) { return m + k; };
    std::for_each(a, a + n, copied);
    std::for_each(a, a + n, [&](int k) { n += k; });
    auto back = std::for_each(a, a + n, [&](int k) { n += k; });
    memset(a, 0, sizeof(int)); own(n); fflush(file);
    return kept(1) + both(2) + made(3);
}
"""


def test_lambdas_and_what_they_hold(tmp_path: Path) -> None:
    context = parsed(tmp_path, CALLED, name="case.cpp").context
    assert context is not None
    table = context.table
    found = [row for row, kind in enumerate(table.kind) if kind == kinds.LAMBDA]
    assert [context.captures_keep(row) for row in found] == [True, False, False, False, True, True]
    assert [row in context.only_called for row in found] == [True, False, True, True, True, False]
    named = {
        context.dump.declared[table.aux[row]][1]: row for row, kind in enumerate(table.kind) if kind == kinds.DECL_REF
    }
    assert context.lambda_of(named["kept"]) == found[0] and context.lambda_of(named["copied"]) == found[1]
    assert context.lambda_of(named["a"]) is None and context.lambda_of(found[2]) == found[2]
    keys = set(context.library_keys(house_effects()))
    assert "memset" in keys and "own" not in keys and not any("own" in key for key in keys)


def test_variables_of_a_subtree_and_what_it_may_call(tmp_path: Path) -> None:
    text = "int g; int h(int k);\nvoid f(int n) { int a = n + g; a = a + n; h(a); }\nvoid e(void) { g = 1; }\n"
    context = parsed(tmp_path, text).context
    assert context is not None
    functions = [row for row, _ in context.dump.tops if context.table.body(row) is not None]
    assert [[s.name for s in context.variables(row)] for row in functions] == [["a", "n", "g"], ["g"]]
    assert [context.may_call(row) for row in functions] == [True, False]
    text = "int f(int n) { auto l = [](int k) { int m = k; return m; }; return l(n); }\n"
    made = parsed(tmp_path, text, name="case.cpp").context
    assert made is not None
    assert [s.name for s in made.variables(made.dump.tops[0][0])] == ["l", "n"]
    assert len(made.bodies) == 1


ASSERTIONS = """
void __assert_fail(const char *, const char *, unsigned, const char *);
int g(int *), n;
#define assert(e) ({ if (e) ; else __assert_fail(#e, "f.c", 1, "f"); })
#define checked(e) ({ if (e) ; else g(0); })
#define noted(e) ({ int was = (e); if (was) ; else __assert_fail(#e, "f.c", 1, "f"); })
"""


@pytest.mark.parametrize(
    ("test", "reads", "writes"),
    [
        ("assert(k > 0 && a[k] < 3)", {"k", "a"}, set()),
        ("assert(!a || *a)", {"a"}, set()),
        ("assert(k++)", {"k"}, {"k"}),
        ("assert(k = 3)", {"k"}, {"k"}),
        ("assert((k += 3) > 1)", {"k"}, {"k"}),
        ("assert(g(a))", {"a"}, {"a"}),
        ("assert(&k)", {"k"}, {"k"}),
        ("checked(k)", {"k"}, {"k"}),
        ("noted(k)", {"k", "was"}, {"k", "was"}),
    ],
)
def test_what_an_assertion_does(test: str, reads: set[str], writes: set[str]) -> None:
    program = program_of(f"{ASSERTIONS} void f(int k, int *a) {{ {test}; }}")
    (one,) = (one for _, one in program.functions())
    opaque = [n for n in walk(one) if isinstance(n, VerbatimExpr)]
    assert len(opaque) == (not any(is_assertion(n) for n in walk(one)))
    for node in opaque:
        assert {s.name for s in node.reads} == reads and {s.name for s in node.writes} == writes
        assert node.calls == bool(writes)
    done = effects(program, one.body)
    assert writes - {"was", "a"} <= {s.name for s in done.direct_writes}
    assert {s.name for s in done.direct_writes} <= writes | {"n"}
