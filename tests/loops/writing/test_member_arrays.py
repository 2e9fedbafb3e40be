"""Arrays of one member each: of which elements, under which tests, and how they are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.programs import load
from warpsmith.base.verdict import Reason
from warpsmith.loops.linear import Linear
from warpsmith.loops.place import LoopContext
from warpsmith.loops.writing.member_arrays import MemberArray, find_member_arrays, replace_members, says_positive
from warpsmith.loops.writing.members import MemberUse, find_member_uses, member_name
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import Binary, Cast, Expr, For, Index, Literal, Name
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk


def found(nest: str, folder: Path, name: str = "p", loop: str = "f/i") -> dict[str, MemberArray] | Reason:
    """Return the member arrays of a nest in a function."""
    text = (
        "void *malloc(unsigned long); struct point { float x, y; int k; }; static struct point whole[9][8], one[30];\n"
        "void f(int n, int m, struct point *restrict p, struct point (*restrict g)[m], double (*restrict v)[3],"
        f" const int *c, struct point (*restrict e)[8]) {{ {nest} }}"
    )
    program = load(text, folder)
    place = LoopContext.of(program, loop)
    named = (part.symbol for part in walk(place.loop) if isinstance(part, Name))
    symbol = next(one for one in named if one.name == name)
    uses = find_member_uses(place.loop, symbol)
    assert not isinstance(uses, Reason), uses
    made = find_member_arrays(Facts.about(program, PolyOptions()), place, symbol, uses)
    return made if isinstance(made, Reason) else {member_name(one.path): one for one in made}


def shown(expr: Expr) -> str:
    """Return an expression's text, which may have been made of parts of the program's."""
    if isinstance(expr, Literal):
        return expr.text
    if isinstance(expr, Binary):
        return f"({shown(expr.left)} {expr.op} {shown(expr.right)})"
    return shown(expr.operand) if isinstance(expr, Cast) else expr.symbol.name if isinstance(expr, Name) else "?"


def bounds(one: MemberArray) -> list[str]:
    span = one.elements[0].past.span
    return [f"{e.low.constant} {[s.name for s in e.low.symbols]} {shown(e.bound(span))}" for e in one.elements]


def test_elements_of_each_member(tmp_path: Path) -> None:
    members = found("for (int i = 1; i < n - 1; i++) p[i].x = p[i - 1].y + p[i + 1].y;", tmp_path)
    assert not isinstance(members, Reason)
    assert bounds(members["x"]) == ["1 [] (n - 1)"] and bounds(members["y"]) == ["0 [] n"]
    x, y = members["x"], members["y"]
    assert (x.needed, x.written, x.whole) == (False, True, True)
    assert (y.needed, y.written) == (True, False)
    assert not x.tests and [shown(test) for test in y.tests] == ["(n >= 3)"]


def test_what_is_read_or_left_is_needed(tmp_path: Path) -> None:
    members = found("for (int i = 0; i < n; i += 2) { p[i].x = 1; p[i].k++; }", tmp_path)
    assert not isinstance(members, Reason)
    assert members["x"].needed and not members["x"].whole and members["k"].needed


def test_tests_say_when_the_loop_uses_any(tmp_path: Path) -> None:
    nest = "for (int t = 0; t < m; t++) for (int i = 0; i < n; i++) p[i].x += 1;"
    members = found(nest, tmp_path, loop="f/t")
    assert not isinstance(members, Reason)
    assert [shown(test) for test in members["x"].tests] == ["(m >= 1)"]


def test_rows(tmp_path: Path) -> None:
    nest = "for (int i = 1; i < n; i++) for (int j = 0; j < m - 1; j++) g[i][j].x = g[i][j + 1].y + v[i][2];"
    members = found(nest, tmp_path, "g")
    assert not isinstance(members, Reason)
    assert bounds(members["x"]) == ["1 [] n", "0 [] (m - 1)"] and bounds(members["y"]) == ["1 [] n", "1 [] m"]
    of_rows = found(nest, tmp_path, "v")
    assert not isinstance(of_rows, Reason) and bounds(of_rows["2"]) == ["1 [] n"]


@pytest.mark.parametrize(
    ("nest", "name", "why"),
    [
        # the last row need not be there as a whole
        ("for (int i = 0; i < 8; i++) for (int j = 0; j < 8 - i; j++) e[i][j].x = 1;", "e", "no rectangle"),
        ("for (int i = 1; i < n; i++) for (int j = 1; j < m; j++) g[i][j - 2].x = 1;", "g", "cannot be determined"),
        ("for (int i = 0; i < n; i++) p[c[i]].x = 1;", "p", "cannot be determined"),
        ("for (int i = 0; i < n; i++) if (c[i]) p[i].x = 1;", "p", "cannot be determined"),
        ("for (int i = 0; i < n; i++) if (p[i].k > p[0].k) p[i].x = 1;", "p", "cannot be determined"),
    ],
)
def test_elements_that_are_not_known(nest: str, name: str, why: str, tmp_path: Path) -> None:
    members = found(nest, tmp_path, name)
    assert isinstance(members, Reason) and why in members.text, members


def test_rows_of_a_declared_array_are_all_there(tmp_path: Path) -> None:
    nest = "for (int i = 0; i < 8; i++) for (int j = 0; j < 8 - i; j++) whole[i][j].x = 1;"
    members = found(nest, tmp_path, "whole")
    assert not isinstance(members, Reason)
    assert bounds(members["x"]) == ["0 [] 8", "0 [] 8"] and members["x"].needed


def test_all_of_an_array_where_nobody_knows_which_elements_are_used(tmp_path: Path) -> None:
    members = found("for (int i = 0; i < n; i++) one[c[i]].x += one[i].y;", tmp_path, "one")
    assert not isinstance(members, Reason)
    x, y = members["x"], members["y"]
    assert bounds(x) == ["0 [] 30"] and x.needed and x.written and not x.whole and not y.written
    made = "struct point *q = malloc(n * sizeof *q); for (int i = 0; i < m; i++) p[i].x += q[c[i]].y;"
    read = found(made, tmp_path, "q")
    assert not isinstance(read, Reason) and bounds(read["y"]) == ["0 [] n"]
    assert read["y"].entire and not read["y"].written
    set_too = found(made.replace("p[i].x +=", "q[i].x = q[c[i]].x +"), tmp_path, "q")
    assert not isinstance(set_too, Reason) and set_too["x"].entire and set_too["x"].written


def test_rows_that_may_change_their_length(tmp_path: Path) -> None:
    nest = "m = 3; for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) g[i][j].x = 1;"
    members = found(nest, tmp_path, "g")
    assert isinstance(members, Reason) and "how long the rows of g are" in members.text


def test_elements_are_named_from_the_first(tmp_path: Path) -> None:
    far = found("for (int i = m; i < n; i++) p[i].x = 1;", tmp_path)
    near = found("for (int i = 2; i < n; i++) p[i].x = 1;", tmp_path)
    assert not isinstance(far, Reason) and not isinstance(near, Reason)
    (one,), (other,) = far.values(), near.values()
    span = one.elements[0].past.span
    array = Symbol("p_x", "p_x", one.type, "local", span)
    index = Name(span=span, type=far["x"].elements[0].past.type, symbol=Symbol("e", "e", one.type, "local", span))
    assert shown(one.element(array, [index], span).index) == "(e - m)"
    assert shown(other.element(array, [index], span).index) == "e"


def test_uses_in_subscripts_are_replaced_first(tmp_path: Path) -> None:
    text = (
        "struct point { float x; int k; };"
        " void f(int n, struct point *p) { for (int i = 0; i < n; i++) p[p[i].k].x = 1; }"
    )
    place = LoopContext.of(load(text, tmp_path), "f/i")
    symbol = place.function.parameters[1]
    order: list[str] = []

    def change(one: MemberUse) -> Expr:
        order.append(member_name(one.path))
        span = one.node.span
        array = Symbol(f"p_{member_name(one.path)}", "", one.type, "local", span)
        return Index(span=span, type=one.type, base=Name(span=span, type=one.type, symbol=array), index=one.index[0])

    new = replace_members(place.loop, symbol, change)
    assert order == ["k", "x"] and isinstance(new, For)
    assert symbol not in {part.symbol for part in walk(new) if isinstance(part, Name)}


def test_says_positive(tmp_path: Path) -> None:
    text = "void f(int n, int m, int *a) { for (int i = 0; i < n; i++) a[i] = n >= 1; }"
    place = LoopContext.of(load(text, tmp_path), "f/i")
    test = next(part for part in walk(place.loop) if isinstance(part, Binary) and part.op == ">=")
    n = place.function.parameters[0]
    assert says_positive(test, Linear(((n, 1),)))
    assert not says_positive(test, Linear(((n, 1),), -1)) and not says_positive(test, Linear((), 1))
