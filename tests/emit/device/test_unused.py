"""Variables and functions that only kernels use now are dropped from host text, or marked as used; others stay."""

from __future__ import annotations

import msgspec.structs
import pytest

from tests.emit.examples import lu
from tests.poly.analysis import program_of
from warpsmith.emit.device import unused
from warpsmith.emit.device.unused import drop_unused
from warpsmith.emit.host.cuda import emit_cuda
from warpsmith.tree.nodes import Block, Launch, Name, Node, replace
from warpsmith.tree.printing.printer import print_stmt
from warpsmith.tree.walk import walk

HEAD = "static int helper(int x) { return 2 * x; }\nstatic inline int quiet(int x) { return x; }\n"
HEAD += "static int table[2];\nint shared;\n"


def host_text(body: str, moved: int, *, head: str = HEAD, more: str = "") -> str:
    """Return the body of f after its statement number `moved` has become a launch with the argument n."""
    program = program_of(f"{head}void f(int n, int unread, int *a)\n{{\n{body}\n}}\n{more}")
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    old = function.body.statements[moved]
    n = function.parameters[0]
    argument = Name(span=old.span, type=n.type, symbol=n)
    launch = Launch(span=old.span, kernel="k", arguments=(argument,), region="f")
    statements = tuple(launch if s is old else s for s in function.body.statements)
    body_of = replace(function.body, statements=statements)
    new = program.with_function(function, replace(function, body=body_of))
    unit = drop_unused(program.units[0], new.units[0])
    made = next(f for f in unit.functions if f.symbol == function.symbol)
    assert any(item is made for item in unit.items)
    # a launch has no words of its own here
    kept = tuple(s for s in made.body.statements if not isinstance(s, Launch))
    return " ".join(print_stmt(Block(span=made.body.span, statements=kept)).split())


PRIVATE = "#pragma omp parallel for private(j)\n"
CASES = [
    # a clause of a loop that stays names j, which is declared once more inside
    (f"int j; for (j = 0; j < n; j++) a[j] = 1;\n{PRIVATE} for (int i = 0; i < n; i++) a[i] = i;", 1, "int j;", "(v"),
    ("int i, j; for (i = 0; i < n; i++) a[i] = i; j = n; a[0] = j;", 1, "int j;", "int i"),
    ("int i, j; for (i = 0; i < n; i++) a[i] = i; j = n; a[0] = j;", 1, "int j; j = n;", "(void)"),
    # a value of a function is worked out still, and nobody reads it
    ("int t = helper(n); a[0] = t;", 1, "int t = helper(n); (void)a; (void)t;", ""),
    ("int t = 4; a[0] = t;", 1, "{ (void)a; }", "t"),
    ("static int t; a[0] = t;", 1, "(void)t;", ""),
    # it is only set now
    ("int t = 1; a[0] = t; t = 5; t++;", 1, "int t = 1; (void)a; (void)t; t = 5; t++;", ""),
    ("int t = 1; a[0] = t; a[1] = t;", 1, "int t = 1; a[1] = t;", "(void)"),
    # a size names it
    ("int t = 1; a[0] = t; a[1] = sizeof(t);", 1, "int t = 1; a[1]", "(void)"),
    ("int t = 1; a[0] = t; { int row[t]; row[0] = 1; a[0] = row[0]; }", 1, "int t = 1; {", "(void)"),
    # nobody read these to begin with: the user has the warning already
    ("int t = 1; a[0] = n;", 1, "int t = 1;", "(void)t"),
    ("a[0] = n; a[1] = unread;", 1, "(void)unread;", "(void)n"),
    ("a[0] = helper(n) + table[1] + shared + quiet(n);", 0, "(void)helper;", "shared"),
    ("a[0] = helper(n) + table[1] + shared + quiet(n);", 0, "(void)table;", "(void)n"),
    ("a[0] = helper(n); a[1] = helper(2);", 0, "a[1] = helper(2);", "(void)helper"),
    # nothing comes between a pragma and its loop
    ("#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[i] = helper(i);", 1, "(void)helper;", "for (void"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "moved", "said", "unsaid"), CASES)
def test_host_text_after_a_statement_has_moved(body: str, moved: int, said: str, unsaid: str) -> None:
    text = host_text(body, moved)
    assert said in text, text
    assert not unsaid or unsaid not in text, text
    assert "quiet" not in text


def test_what_another_function_calls_is_used() -> None:
    assert "(void)helper" in host_text("a[0] = helper(n);", 0)
    assert "(void)helper" not in host_text("a[0] = helper(n);", 0, more="int g(void) { return helper(3); }\n")


def test_a_program_that_did_not_change_is_left() -> None:
    unit = program_of("static int idle(void) { return 1; }\nvoid f(int n) { int t; }\n").units[0]
    again = drop_unused(unit, msgspec.structs.replace(unit))
    assert all(a is b for a, b in zip(unit.items, again.items, strict=True))


def test_counters_that_only_kernels_use_lose_their_declaration() -> None:
    made = lu()
    host = emit_cuda(made.original, made.ported)[0].text
    assert "    int k;\n" in host
    assert "        /* the row */\n        ws_lu_1(ws_gpu, N, k);\n" in host


def test_what_stands_as_it_did_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    real = unused.count_uses.__wrapped__

    def count(root: Node) -> object:
        counted.append(sum(1 for _ in walk(root)))
        return real(root)

    monkeypatch.setattr(unused, "count_uses", count)
    block = "{ int k = n; a[k] = k; }"
    for many in (1, 40):
        counted.clear()
        text = host_text("int t = 4; a[0] = t;" + block * many, 1)
        assert text.count("int k = n;") == many and "int t" not in text
    assert len(counted) < 20, "the blocks are not asked one by one"
