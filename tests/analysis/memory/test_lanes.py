"""Threads of a block as rows of numbers, and the sums that have them."""

from __future__ import annotations

from warpsmith.analysis.affine.symbols import Atom, Form, constant_form, from_atom
from warpsmith.analysis.memory.lanes import BlockLanes, hull
from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.analysis.uniformity.seeds import Threads


def lanes(block: Dim, level: str = "warp", warp: int = 4) -> BlockLanes:
    return BlockLanes(block, warp, Threads("block" if level == "block" else "warp", block, warp))


def test_threads_are_counted_along_x_first() -> None:
    of = lanes((4, 2, 2))
    assert [atom.table[:9] for atom in of.axes] == [
        (0, 1, 2, 3, 0, 1, 2, 3, 0), (0, 0, 0, 0, 1, 1, 1, 1, 0), (0, 0, 0, 0, 0, 0, 0, 0, 1)
    ]  # fmt: skip
    assert [atom.range for atom in of.axes] == [(0, 3), (0, 1), (0, 1)]
    assert of.count == 16


def test_an_axis_of_one_thread_is_0() -> None:
    of = lanes((4, 1, 1))
    assert of.axis(1, 32).constant == 0 and of.axis(0, 32).constant is None


def test_groups_are_warps_the_last_of_which_may_be_short_or_the_block() -> None:
    assert lanes((6, 1, 1)).groups() == [range(4), range(4, 6)]
    assert lanes((6, 1, 1), "block").groups() == [range(6)]
    assert lanes((6, 1, 1), "block").warps() == [range(4), range(4, 6)]


def test_numbers_of_a_sum() -> None:
    of = lanes((4, 2, 1))
    x, y = of.axis(0, 32), of.axis(1, 32)
    assert of.numbers(x.scale(3).plus(y, 10).plus(constant_form(1, 32))) == (1, 4, 7, 10, 11, 14, 17, 20)
    assert of.numbers(constant_form(-2, 32)) == (-2,) * 8
    product = x.times(y.plus(x))
    assert product is not None
    assert of.numbers(product) == (0, 1, 4, 9, 0, 2, 6, 12)
    assert of.numbers(from_atom(Atom("n", "shared", 99), 32)) is None
    # modulo 2**8, nearest to 0
    assert of.numbers(of.axis(0, 8).scale(100)) == (0, 100, -56, 44, 0, 100, -56, 44)


def test_a_table_that_is_linear_is_written_as_such() -> None:
    of = lanes((4, 2, 1))
    assert of.form([5, 7, 9, 11, 4, 6, 8, 10], 32).same(
        of.axis(0, 32).scale(2).plus(of.axis(1, 32), -1).plus(constant_form(5, 32))
    )
    assert of.form([3] * 8, 32).constant == 3
    bent = of.form([0, 1, 2, 3, 1, 2, 3, 5], 32)
    ((atom,),) = bent.terms
    assert atom.table == (0, 1, 2, 3, 1, 2, 3, 5) and atom.range == (0, 5) and atom.kind == "index"
    assert of.form([0, 1, 2, 3, 1, 2, 3, 5], 32).same(bent)
    assert of.numbers(of.form([255, 0, 1, 2, 255, 0, 1, 2], 8)) == (-1, 0, 1, 2, -1, 0, 1, 2)


def test_linear_along_z() -> None:
    of = lanes((2, 1, 2))
    assert of.form([0, 1, 7, 8], 32).same(of.axis(0, 32).plus(of.axis(2, 32), 7))


def test_unknowns_with_other_facts_are_others() -> None:
    of = lanes((4, 1, 1))
    one = of.atom("n", Atom("n", "shared", range=(0, 3)))
    assert of.atom("n", Atom("another name", "shared", range=(0, 3))) is one
    other = of.atom("n", Atom("n", "shared", range=(0, 4)))
    assert other is not one and other.number != one.number
    assert of.atom("m", Atom("n", "shared", range=(0, 3))) is not one


def test_the_factors_of_unknowns_in_each_thread() -> None:
    of = lanes((4, 1, 1))
    n = of.atom("n", Atom("n", "shared"))
    x = of.axes[0]
    parts = of.parts(Form(32, {(x,): 4, (x, n): 2, (n,): 3, (): 1}))
    assert parts == {(): (1, 5, 9, 13), (n,): (3, 5, 7, 9)}


def test_a_hull_holds_all() -> None:
    assert hull([(0, 3), (-2, 1), (1, 9)]) == (-2, 9)
