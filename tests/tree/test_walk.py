"""Walking, rebuilding, comparing."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Binary, Expr, For, InitList, Literal, MacroUse, Name, Node, Unary, replace
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, Symbol
from warpsmith.tree.walk import (
    children,
    is_constant,
    loop_names,
    loops,
    names,
    peel,
    rebuild,
    root_symbol,
    same,
    statements_of,
    walk,
    written_symbols,
)

HERE = Span(SourceFile("none.c", ""), 0, 0)
A = Symbol("a", "a", INT, "local")
TEXT = """\
struct s { int x; };
#define ONE 1
void f(int n, int *p, struct s q, int **r) {
  int i, j, t = 0;
  for (i = 0; i < n; i++) {
    for (j = 0; j < n; j++) p[i] = t;
    for (j = 0; j < n; j++) { q.x = ONE; r[0][j]++; }
    while (t > 0) t--;
  }
}
"""


def load(tmp_path: Path) -> Program:
    path = tmp_path / "a.c"
    path.write_text(TEXT)
    return load_program([str(path)], FrontOptions()).program


def use(symbol: Symbol = A) -> Name:
    return Name(span=HERE, type=INT, symbol=symbol)


def test_walk_goes_parents_first_in_source_order(tmp_path: Path) -> None:
    function = load(tmp_path).units[0].functions[0]
    seen = list(walk(function))
    assert seen[0] is function
    assert len(seen) == len({id(node) for node in seen})
    for node in seen:
        parts = list(children(node))
        assert all(seen.index(part) > seen.index(node) for part in parts)
    starts = [loop.span.start for loop, _ in loops(function)]
    assert starts == sorted(starts)


def test_loops_have_addresses(tmp_path: Path) -> None:
    function = load(tmp_path).units[0].functions[0]
    assert list(loop_names(function).values()) == ["f/i", "f/i/j", "f/i/j#2", "f/i/while"]
    assert [len(around) for _, around in loops(function)] == [0, 1, 1, 1]


def test_rebuild_changes_what_is_asked_and_keeps_the_rest(tmp_path: Path) -> None:
    function = load(tmp_path).units[0].functions[0]
    assert rebuild(function, lambda node: node) is function

    def change(node: Node) -> Node:
        if isinstance(node, Name) and node.symbol.name == "t":
            return replace(node, symbol=A)
        return node

    new = rebuild(function, change)
    assert new is not function and not new.intact and function.intact
    first, second = [loop for loop, _ in loops(new)][1:3]
    old_first, old_second = [loop for loop, _ in loops(function)][1:3]
    assert first is not old_first and not first.intact
    assert second is old_second and second.intact
    assert A in {n.symbol for n in names(new)} and A not in {n.symbol for n in names(function)}
    assert not same(new, function)
    assert same(rebuild(new, lambda n: n), new)


def test_depth_is_no_limit() -> None:
    deep: Expr = use()
    for _ in range(5000):
        deep = Unary(span=HERE, type=INT, op="-", operand=deep)
    other = Symbol("b", "b", INT, "local")
    new = rebuild(deep, lambda node: use(other) if isinstance(node, Name) else node)
    assert sum(1 for _ in walk(new)) == 5001
    assert same(deep, deep) and not same(deep, new)


def test_same_is_about_structure_not_place() -> None:
    there = Span(SourceFile("b.c", "a"), 0, 1)
    assert same(use(), Name(span=there, intact=True, type=INT, symbol=A))
    one = Literal(span=HERE, type=INT, text="1", value=1)
    assert not same(one, use())
    left = Binary(span=HERE, type=INT, op="+", left=use(), right=one)
    assert same(left, replace(left, span=there)) and not same(left, replace(left, op="-"))


def _is_same(left: object, right: object) -> bool:
    """The definition of `same`, as it is said."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(_is_same, left, right))
    if not isinstance(left, Node) or type(left) is not type(right):
        return not isinstance(left, Node) and left == right
    parts = [name for name in left.__struct_fields__ if name not in ("span", "intact", "header", "cause", "opener")]
    return all(_is_same(getattr(left, name), getattr(right, name)) for name in parts)


def test_same_is_what_it_says_of_all_pairs_of_nodes(tmp_path: Path) -> None:
    first, second = load(tmp_path).units[0].functions[0], load(tmp_path).units[0].functions[0]
    pairs = [(a, b) for a in walk(first) for b in walk(second)]
    alike = [_is_same(a, b) for a, b in pairs]
    assert [same(a, b) for a, b in pairs] == alike
    assert 50 < sum(alike) < len(alike) / 2


def test_what_is_written(tmp_path: Path) -> None:
    function = load(tmp_path).units[0].functions[0]
    # p[i] = … and r[0][j]++ write what is pointed to, not the variable; q.x = … writes a part of q.
    assert {s.name for s in written_symbols(function.body)} == {"i", "j", "t", "q"}
    # the answer is the caller's own
    written_symbols(function.body).clear()
    assert len(written_symbols(function.body)) == 4


def test_small_questions(tmp_path: Path) -> None:
    function = load(tmp_path).units[0].functions[0]
    macro = next(node for node in walk(function) if isinstance(node, MacroUse))
    assert isinstance(peel(macro), Literal) and is_constant(macro) and not is_constant(use())
    assert root_symbol(Unary(span=HERE, type=INT, op="*", operand=use())) == A
    assert root_symbol(macro) is None
    loop = next(loop for loop, _ in loops(function) if isinstance(loop, For))
    assert len(statements_of(loop.body)) == 3
    assert statements_of(loop) == (loop,)


@pytest.mark.parametrize("count", [3, 499, 500, 501, 25_000])
def test_a_walk_is_the_same_whether_it_is_short_enough_to_be_remembered(count: int) -> None:
    parts = tuple(Name(span=HERE, type=INT, symbol=A) for _ in range(count))
    whole = InitList(span=HERE, type=INT, items=parts)
    for _ in range(2):
        assert list(walk(whole)) == [whole, *parts]
        assert tuple(children(whole)) == parts
    first = next(walk(whole))
    assert first is whole


def test_rebuild_does_not_look_below_what_is_kept(tmp_path: Path) -> None:
    function = load(tmp_path).units[0].functions[0]
    first, second = [loop for loop, _ in loops(function)][1:3]
    seen: list[Node] = []

    def change(node: Node) -> Node:
        seen.append(node)
        return replace(node, symbol=A) if isinstance(node, Name) else node

    new = rebuild(function, change, frozenset({first}))
    assert not set(walk(first)) & set(seen) and any(node is first for node in walk(new))
    assert second not in set(walk(new)) and A in {n.symbol for n in names(new)}
