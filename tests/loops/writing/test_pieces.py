"""Pieces of a loop that a step writes again: iterations, tests, and numbers in the type that C gives them."""

from __future__ import annotations

import pytest

from tests.poly.programs import load
from warpsmith.loops.fresh import Fresh, declared_symbols
from warpsmith.loops.place import LoopContext
from warpsmith.loops.writing.pieces import (
    choice,
    compare_copies,
    conjunction,
    convert_to,
    guard_run,
    instance,
    once_more,
    plus,
    typed_number,
    unchangeable,
    uncopyable,
)
from warpsmith.tree.nodes import Binary, Block, Cast, Expr, If, Literal
from warpsmith.tree.printing.printer import print_expr, print_stmt
from warpsmith.tree.program import Program
from warpsmith.tree.types import CHAR, DOUBLE, INT, LONG_LONG, SIZE_T, UNSIGNED_LONG, Scalar, Type

TEXT = """
void f(int n, double *a, double *b)
{
    for (int i = 1; i < n; i++) { a[i] = i; b[i] = 2; }
    for (int j = 1; j < n; j++) { double t = a[j]; b[j] = t; }
    for (int k = 1; k < n; k++) { static int seen; a[k] = seen++; }
    for (int l = 1; l < n; l++) a[l] = 0;
    for (int m = 1; m < n; m++) { double row[m]; row[0] = a[m]; b[m] = row[0]; }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return load(TEXT, tmp_path_factory.mktemp("pieces"))


def _bound(program: Program) -> Expr:
    """Return `n`, an int."""
    return LoopContext.of(program, "f/i").require_counted().bound


def test_numbers_are_added_up_and_other_expressions_get_a_sum(program: Program) -> None:
    loop, n = LoopContext.of(program, "f/i").require_counted(), _bound(program)
    assert plus(n, 0) is n
    found = [
        print_expr(plus(e, by)) for e, by in ((loop.lower, 4), (loop.lower, -1), (loop.lower, -2), (n, 3), (n, -1))
    ]
    assert found == ["5", "0", "1 - 2", "n + 3", "n - 1"]
    (least, large) = (plus(n, 2**31 - 1), plus(convert_to(n, LONG_LONG), 2**31))
    assert isinstance(least, Binary) and least.type == INT and least.right.type == INT
    assert isinstance(large, Binary) and large.type == LONG_LONG and print_expr(large.right) == "2147483648LL"


@pytest.mark.parametrize(
    ("value", "type", "text", "own"),
    [
        (7, INT, "7", INT),
        (7, CHAR, "7", INT),
        (-7, INT, "-7", INT),
        (0, LONG_LONG, "0LL", LONG_LONG),
        (-3, LONG_LONG, "-3LL", LONG_LONG),
        (3, UNSIGNED_LONG, "3uL", UNSIGNED_LONG),
    ],
)
def test_a_number_has_the_promoted_type(value: int, type: Scalar, text: str, own: Type, program: Program) -> None:
    made = typed_number(value, type, _bound(program))
    assert (print_expr(made), made.type) == (text, own)


def test_a_cast_is_made_where_arithmetic_would_differ(program: Program) -> None:
    n = _bound(program)
    assert convert_to(n, INT) is n and convert_to(n, CHAR) is n
    wide = convert_to(n, SIZE_T)
    assert isinstance(wide, Cast) and wide.type == SIZE_T and wide.operand is n


def test_conditions_are_joined_and_of_copies(program: Program) -> None:
    loop, n = LoopContext.of(program, "f/i").require_counted(), _bound(program)
    less = compare_copies(loop.lower, "<=", n)
    assert isinstance(less, Binary) and less.type == INT and less.right is not n
    assert conjunction(()) is None and conjunction((less,)) is less
    joined = conjunction((less, compare_copies(n, "!=", loop.lower), n))
    assert joined is not None and print_expr(joined) == "1 <= n && n != 1 && n"
    real = Literal(span=n.span, type=DOUBLE, text="0.5", value=0.5)
    chosen = choice(less, n, real)
    assert (print_expr(chosen), chosen.type) == ("1 <= n ? n : 0.5", DOUBLE)


def test_statements_stand_under_a_test_or_in_a_block(program: Program) -> None:
    loop = LoopContext.of(program, "f/i").require_counted()
    assert isinstance(loop.body, Block)
    one, two = loop.body.statements
    assert guard_run(None, (one,)) is one
    block = guard_run(None, (one, two))
    assert isinstance(block, Block) and block.statements == (one, two)
    for run, then in (((one,), one), ((one, two), block)):
        made = guard_run(loop.bound, run)
        assert isinstance(made, If) and made.other is None and print_stmt(made.then) == print_stmt(then)


def test_an_iteration_is_the_body_with_the_value_in_it(program: Program) -> None:
    fresh = Fresh.of(program)
    plain, own, alone = (LoopContext.of(program, f"f/{name}").require_counted() for name in "ijl")
    assert [print_stmt(s) for s in instance(plain, plain.lower, fresh)] == ["a[1] = 1;", "b[1] = 2;"]
    assert [print_stmt(s) for s in instance(alone, alone.bound, fresh)] == ["a[n] = 0;"]
    # what the body declares stays in a block, and is another variable
    (block,) = instance(own, own.lower, fresh)
    assert isinstance(block, Block) and "a[1]" in print_stmt(block)
    assert not {s.key for s in declared_symbols(block)} & {s.key for s in declared_symbols(own)}


def test_a_second_loop_has_variables_of_its_own(program: Program) -> None:
    loop = LoopContext.of(program, "f/j").require_counted()
    again = once_more(loop, Fresh.of(program))
    assert again.variable.name == "j" and again.variable != loop.variable
    assert print_stmt(again) == print_stmt(loop)


@pytest.mark.parametrize(
    ("name", "copies", "changes"),
    [
        ("i", "", ""),
        ("j", "", ""),
        ("k", "seen is declared static", "seen is declared static"),
        ("m", "", "m stands in a text that cannot be rewritten"),
    ],
)
def test_what_cannot_stand_twice_or_be_changed_says_so(name: str, copies: str, changes: str, program: Program) -> None:
    loop = LoopContext.of(program, f"f/{name}").require_counted()
    for found, said in ((uncopyable(loop), copies), (unchangeable(loop), changes)):
        assert (found is None) == (not said)
        assert found is None or said in found.reasons[0].text
