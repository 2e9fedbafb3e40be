"""From the sum that an address is to what a request costs, wherever it may start."""

from __future__ import annotations

from warpsmith.analysis.affine.symbols import Atom, Form, from_atom
from warpsmith.analysis.memory.lanes import BlockLanes
from warpsmith.analysis.memory.spread import AddressLayout, Spread, Spreads, layout, spread
from warpsmith.analysis.uniformity.facts import Count, Dim
from warpsmith.analysis.uniformity.seeds import Threads

N = Atom("n", "shared", 100)
M = Atom("m", "shared", 101)
A = Atom("a", "shared", 102)


def lanes(block: Dim = (32, 1, 1)) -> BlockLanes:
    return BlockLanes(block, 32, Threads("warp", block))


def cost(
    form: Form, of: BlockLanes, access: tuple[str, int, int] = ("sectors", 4, 4), aligned: int = 0, asks: int = 1024
) -> Spread | None:
    laid = layout(form, of, {A: aligned} if aligned else {})
    assert laid is not None
    return spread(laid, of, frozenset(range(min(asks, of.count))), access)


def test_a_row_of_words_is_four_sectors_or_five_where_the_start_is_not_known() -> None:
    of = lanes()
    row = from_atom(A, 64).plus(of.axis(0, 64), 4)
    assert cost(row, of, aligned=5) == Spread(Count(4, 4), Count(4, 4), addresses=Count(32, 32))
    found = cost(row, of)
    assert found is not None and found.proven == Count(4, 5)
    shifted = cost(row.plus(Form(64, {(): 4})), of, aligned=8)
    assert shifted is not None and shifted.proven == Count(5, 5)


def test_only_starts_that_keep_the_promise_of_alignment_count() -> None:
    of = lanes((1, 1, 1))
    one = from_atom(A, 64)
    promised, not_promised = cost(one, of, ("sectors", 8, 8)), cost(one, of, ("sectors", 8, 1))
    assert promised is not None and promised.proven == Count(1, 1)
    assert not_promised is not None and not_promised.proven == Count(1, 2)


def test_a_start_that_breaks_the_promise_still_has_a_cost() -> None:
    of = lanes((1, 1, 1))
    found = cost(from_atom(A, 64).plus(Form(64, {(): 1})), of, ("sectors", 4, 4), aligned=8)
    assert found is not None and found.proven == Count(1, 1)


def test_nobody_asks() -> None:
    of = lanes()
    assert cost(from_atom(A, 64), of, asks=0) is None


def test_the_cost_is_that_of_all_warps() -> None:
    of = lanes((48, 1, 1))
    found = cost(from_atom(A, 64).plus(of.axis(0, 64), 4), of, aligned=8)
    # the second warp has 16 lanes
    assert found is not None and (found.proven, found.addresses) == (Count(2, 4), Count(16, 32))
    few = cost(from_atom(A, 64).plus(of.axis(0, 64), 4), of, aligned=8, asks=8)
    assert few is not None and few.proven == Count(1, 1)


def test_rows_that_are_an_unknown_apart() -> None:
    of = lanes((8, 4, 1))
    product = from_atom(N, 64).times(of.axis(1, 64))
    assert product is not None
    form = from_atom(A, 64).plus(of.axis(0, 64), 4).plus(product, 4)
    found = cost(form, of, aligned=8)
    assert found is not None
    # at worst two sectors for each row but the first, which is aligned; at best all rows are one
    assert found.proven == Count(1, 7) and found.apart == Count(4, 7)
    # 4·n·(y+1) is beyond the row of 28 bytes and the sector around it: n >= (28 + 32) / 4
    assert found.unknown == (N,) and found.least == 15
    assert found.addresses == Count(8, 32)


def test_two_unknowns_or_banks_have_no_count_of_rows_that_are_apart() -> None:
    of = lanes((8, 2, 2))
    one, two = from_atom(N, 64).times(of.axis(1, 64)), from_atom(M, 64).times(of.axis(2, 64))
    assert one is not None and two is not None
    both = cost(from_atom(A, 64).plus(one, 4).plus(two, 4), of)
    assert both is not None and both.apart is None and both.unknown == ()
    of = lanes((8, 4, 1))
    product = from_atom(N, 64).times(of.axis(1, 64))
    assert product is not None
    banks = cost(from_atom(A, 64).plus(product, 4), of, ("banks", 4, 4))
    assert banks is not None and banks.apart is None


def test_an_unknown_of_the_threads_own_has_no_layout() -> None:
    of = lanes()
    assert layout(from_atom(Atom("v", "own", 7), 64), of, {}) is None
    assert layout(from_atom(Atom("w", "wrap", 7), 64), of, {}) is None


def test_a_layout_has_the_number_of_each_thread_the_factors_and_where_it_starts() -> None:
    of = lanes((4, 1, 1))
    x = of.axes[0]
    laid = layout(Form(64, {(A,): 1, (x,): 4, (x, N): 8, (): 3}), of, {A: 8})
    assert laid == AddressLayout((0, 4, 8, 12), {(N,): (0, 8, 16, 24)}, (3, 8))
    assert laid.is_plain([2]) and not laid.is_plain([0, 1])
    assert layout(from_atom(A, 64), of, {}) == AddressLayout((0, 0, 0, 0), {}, (0, 0))


def test_costs_are_worked_out_once_and_starts_matter_in_a_sector_only() -> None:
    of = lanes((4, 1, 1))
    spreads, everyone = Spreads(of), frozenset(range(4))
    one = AddressLayout((0, 4, 8, 12), {}, (32, 8))
    found = spreads.of(one, everyone, ("sectors", 4, 4))
    assert found is spreads.of(AddressLayout((0, 4, 8, 12), {}, (64, 9)), everyone, ("sectors", 4, 4))
    other = spreads.of(AddressLayout((0, 4, 8, 12), {}, (24, 8)), everyone, ("sectors", 4, 4))
    assert found is not None and other is not None
    assert (found.proven, other.proven) == (Count(1, 1), Count(2, 2))
    assert spreads.of(one, frozenset({0}), ("sectors", 4, 4)) is not found
