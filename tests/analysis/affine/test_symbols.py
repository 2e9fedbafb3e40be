"""Sums of products of unknowns, modulo 2**bits: their arithmetic, range, residue and text."""

from __future__ import annotations

import math
import random

import pytest

from warpsmith.analysis.affine.symbols import Atom, Form, center, constant_form, from_atom, text_of

X = Atom("tid.x", "index", 0, (0, 3), table=(0, 1, 2, 3))
N = Atom("n", "shared", 1, (1, 10))
M = Atom("m", "shared", 2, (-4, 5), (2, 3))
V = Atom("v", "own", 3)
x, n, m, v = (from_atom(atom, 32) for atom in (X, N, M, V))


def number(k: int, bits: int = 32) -> Form:
    return constant_form(k, bits)


@pytest.mark.parametrize(
    ("of", "bits", "expected"),
    [(0, 32, 0), (2**31, 32, 2**31), (2**31 + 1, 32, 1 - 2**31), (-1, 32, -1), (2**32 + 3, 32, 3), (3, 1, 1),
     (-1, 1, 1), (255, 8, -1)],
)  # fmt: skip
def test_a_coefficient_is_the_number_nearest_to_zero(of: int, bits: int, expected: int) -> None:
    assert center(of, bits) == expected


def test_sums() -> None:
    assert x.plus(n).plus(x).same(Form(32, {(X,): 2, (N,): 1}))
    assert x.plus(x, -1).constant == 0 and not x.plus(x, -1).terms
    assert x.plus(number(2**31)).plus(number(2**31)).same(x)
    assert not x.same(from_atom(X, 64))
    assert number(5).constant == 5 and x.constant is None and x.plus(number(1)).constant is None
    assert x.scale(0).terms == {} and x.scale(2**31).scale(2).terms == {}


def test_products() -> None:
    product = x.plus(number(1)).times(n.plus(number(-1)))
    assert product is not None
    assert product.same(Form(32, {(X, N): 1, (X,): -1, (N,): 1, (): -1}))
    # the order of factors does not matter
    turned = n.times(x)
    assert turned is not None and turned.same(Form(32, {(X, N): 1}))
    gone = x.scale(2**16).times(n.scale(2**16))
    assert gone is not None and gone.constant == 0


def test_products_that_are_too_long_are_none() -> None:
    four = Form(32, {(N, N, N, N): 1})
    assert Form(32, {(N, N, N): 1}).times(n) is not None
    assert four.times(n) is None
    atoms = [Atom(f"a{k}", "shared", 10 + k) for k in range(25)]
    wide = Form(32, {(atom,): 1 for atom in atoms})
    assert wide.times(n) is None
    assert Form(32, {(atom,): 1 for atom in atoms[:24]}).times(n) is not None
    assert Form(32, {(atom,): 1 for atom in atoms[:10]}).times(Form(32, {(a,): 1 for a in atoms[10:20]})) is None


def test_other_sizes() -> None:
    assert Form(64, {(X,): 2**32, (N,): 3}).resize(32).same(Form(32, {(N,): 3}))
    assert Form(32, {(X,): -1}).resize(64).terms == {(X,): -1}
    assert x.resize(32) is x


def test_kinds_of_unknowns() -> None:
    sum_ = Form(32, {(X,): 1, (N,): 2, (X, N): 3, (V,): 4, (): 5})
    assert sum_.varying().terms == {(X,): 1, (X, N): 3, (V,): 4}
    assert sum_.common().terms == {(N,): 2, (): 5}
    assert sum_.drop_atoms([N]).terms == {(X,): 1, (V,): 4, (): 5}
    assert sum_.has("own") and not sum_.has("wrap") and not sum_.numeric
    assert x.plus(number(3)).numeric


def test_the_range_holds_every_value() -> None:
    assert Form(32, {(X,): -2, (): 7}).range() == (1, 7)
    assert Form(32, {(N, M): 1}).range() == (-40, 50)
    assert Form(32, {(V,): 1, (N,): 1}).range() == (-math.inf, math.inf)
    assert Form(32, {}).range() == (0, 0)
    # an unknown without bounds, times what may be 0 and nothing else
    assert Form(32, {(V, Atom("z", "shared", 9, (0, 0))): 1}).range() == (0, 0)


def test_residues_are_those_of_all_numbers_that_it_may_be() -> None:
    assert number(12).residue() == (12, 32)
    assert Form(32, {(M,): 4}).residue() == (8, 5)
    assert Form(32, {(M,): 1, (): 1}).residue() == (3, 3)
    assert Form(32, {(N,): 12}).residue() == (0, 2)
    assert Form(32, {(N,): 1}).residue({N: 4}) == (0, 4)
    assert Form(32, {(N,): 1, (V,): 1}).residue({N: 4}) == (0, 0)


def test_residues_of_products_against_numbers() -> None:
    chance = random.Random(3)
    for _ in range(200):
        atoms = [Atom(c, "shared", k, residue=(chance.randrange(8), chance.randrange(4))) for k, c in enumerate("ab")]
        atoms = [
            Atom(a.name, a.kind, a.number, residue=(a.residue[0] % 2 ** a.residue[1], a.residue[1])) for a in atoms
        ]
        a, b = atoms
        p, q, r = (chance.randrange(-9, 10) or 1 for _ in range(3))
        rest, power = Form(32, {(a, b): p, (a,): q, (): r}).residue()
        for _ in range(6):
            i, j = (atom.residue[0] + (chance.randrange(-6, 7) << atom.residue[1]) for atom in atoms)
            assert (p * i * j + q * i + r - rest) % 2**power == 0


def test_a_sum_for_people() -> None:
    assert text_of(Form(64, {})) == "0"
    assert text_of(Form(64, {(X,): -1})) == "-tid.x"
    assert text_of(Form(64, {(): 3})) == "3"
    assert text_of(Form(64, {(X,): 4, (N, X): -2, (N,): 1, (): -8, (V,): 1})) == "n - 2·n·tid.x + v + 4·tid.x - 8"
