"""How often a sum has wrapped, and what its bits are: what holds for every number that the unknowns may be."""

from __future__ import annotations

import random

from warpsmith.analysis.affine.symbols import Atom, Form, constant_form, from_atom
from warpsmith.analysis.memory.lanes import BlockLanes
from warpsmith.analysis.memory.wrapping import Wrapping, split
from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.analysis.uniformity.seeds import Threads

N = Atom("n", "shared", 50, (-(2**31), 2**31 - 1))
SMALL = Atom("small", "shared", 51, (0, 1000))
EVEN = Atom("even", "shared", 52, (-(2**31), 2**31 - 1), (0, 6))


def of(block: Dim = (8, 1, 1), warp: int = 8) -> Wrapping:
    return Wrapping(BlockLanes(block, warp, Threads("warp", block, warp)))


def form(t: Wrapping, coefficient: int, atom: Atom | None = None, factor: int = 1, bits: int = 32) -> Form:
    made = t.lanes.axis(0, bits).scale(coefficient)
    return made if atom is None else made.plus(from_atom(atom, bits), factor)


def test_a_sum_whose_range_fits_does_not_wrap() -> None:
    t = of()
    assert t.wraps(form(t, 4, SMALL), signed=True).constant == 0
    assert t.wraps(form(t, 4, SMALL), signed=False).constant == 0
    # 8 bits: 0 to 127 as a signed number, up to 255 as another
    assert t.wraps(form(t, 18, bits=8), signed=True).constant == 0
    assert t.wraps(constant_form(-1, 32), signed=False).constant == -1
    assert t.wraps(constant_form(-1, 32), signed=True).constant == 0


def test_a_known_number_wraps_as_often_as_it_does() -> None:
    t = of()
    found = t.wraps(form(t, 40, bits=8), signed=False)
    assert t.lanes.numbers(found) == tuple((40 * x) >> 8 for x in range(8))
    signed = t.wraps(form(t, 40, bits=8), signed=True)
    assert t.lanes.numbers(signed) == tuple((40 * x + 128) >> 8 for x in range(8))


def test_threads_wrap_together_where_none_can_step_over_the_edge_alone() -> None:
    t = of()
    # a multiple of 64, and at most 7 more
    (together,) = t.wraps(form(t, 1, EVEN), signed=True).atoms()
    assert (together.kind, together.wraps) == ("shared", True)
    (apart,) = t.wraps(form(t, 1, N), signed=True).atoms()
    assert apart.kind == "wrap"
    (too_far,) = t.wraps(form(t, 16, EVEN), signed=True).atoms()
    assert too_far.kind == "wrap"
    assert t.steps_together(form(t, 9, EVEN)) and not t.steps_together(form(t, 10, EVEN))
    assert not t.steps_together(form(t, 1, Atom("own", "own", 60, residue=(0, 6))))
    product = form(t, 1).times(from_atom(EVEN, 32))
    assert product is not None and not t.steps_together(product)


def test_each_warp_steps_for_itself() -> None:
    one, two = of((128, 1, 1), 64), of((128, 1, 1), 128)
    assert one.steps_together(form(one, 1, EVEN))
    assert not two.steps_together(form(two, 1, EVEN))


def test_a_number_in_more_bits_is_what_it_is_once_it_has_wrapped() -> None:
    t, chance = of(), random.Random(1)
    for _ in range(60):
        bits = chance.choice((8, 16))
        made = form(t, chance.randrange(-70, 70), bits=bits).plus(constant_form(chance.randrange(-200, 200), bits))
        for signed in (False, True):
            wide = t.extend(made, 64, signed=signed)
            assert wide is not None
            for number, low in zip(t.lanes.numbers(wide) or (), t.lanes.numbers(made) or (), strict=True):
                least = -(1 << bits - 1) if signed else 0
                assert least <= number < least + (1 << bits) and (number - low) % (1 << bits) == 0


def test_a_bit_is_0_or_1_or_minus_1() -> None:
    t = of()
    bit = t.lanes.form([0, 1] * 4, 1)
    plain, signed = t.extend(bit, 32, signed=False), t.extend(bit, 32, signed=True)
    assert plain is not None and t.lanes.numbers(plain) == (0, 1) * 4
    assert signed is not None and t.lanes.numbers(signed) == (0, -1) * 4
    assert t.extend(from_atom(N, 1), 32, signed=True) is None


def test_low_bits() -> None:
    t = of()
    assert t.low(form(t, 3, EVEN), 6) == tuple(3 * x % 64 for x in range(8))
    assert t.low(form(t, 3, EVEN), 7) is None
    assert t.low(form(t, 1, EVEN, 2), 7) == tuple(range(8))
    assert t.low(form(t, 1, N), 1) is None and t.low(form(t, 1, N, 4), 2) == (0, 1, 2, 3) * 2
    assert t.shared_bits(form(t, 1, EVEN)) == 6 and t.shared_bits(form(t, 1)) == 32


def test_a_quotient_by_a_power_of_two() -> None:
    t = of()
    found = t.shifted_right(form(t, 1, SMALL, 4), 2, signed=False)
    assert found is not None
    assert found.terms == {(SMALL,): 1, **t.lanes.form([x >> 2 for x in range(8)], 32).terms}
    minus = t.shifted_right(form(t, -1, SMALL, 4), 1, signed=True)
    assert minus is not None and minus.terms[SMALL,] == 2
    assert t.lanes.numbers(split(minus)[1]) == tuple(-x >> 1 for x in range(8))
    # n is no multiple of 4
    assert t.shifted_right(form(t, 1, SMALL, 2), 2, signed=False) is None
    assert t.shifted_right(form(t, 1), 2, signed=False) is None
    assert t.shifted_right(form(t, 1, SMALL), 0, signed=False) is None
    assert t.shifted_right(form(t, 1, SMALL), 32, signed=False) is None


def test_the_high_bits_of_a_sum_that_threads_do_not_change() -> None:
    t = of()
    found = t.shifted_right(form(t, 1, EVEN), 6, signed=False)
    assert found is not None
    (atom,) = found.atoms()
    assert (atom.name, atom.kind, atom.range) == ("high bits", "shared", (0, 2**26 - 1))
    signed = t.shifted_right(form(t, 1, EVEN), 6, signed=True)
    assert signed is not None
    assert [a.range for a in signed.atoms()] == [(-(2**25), 2**25 - 1)]


def test_what_threads_know_by_their_index_and_what_they_do_not() -> None:
    t = of()
    x = t.lanes.axes[0]
    rest, own = split(Form(32, {(x,): 2, (N,): 3, (N, x): 4, (): 5}))
    assert (rest.terms, own.terms) == ({(N,): 3, (N, x): 4}, {(x,): 2, (): 5})
