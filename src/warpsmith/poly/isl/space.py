"""The one place where isl is loaded: sets and relations from formulas, by dimension name, under a work budget.

The tuple of a set is the counters in the order that the caller names, its existentials are the quotients, and its
parameters are every other atom. Parameters are matched by name when two objects meet, so no caller ever counts
positions among them. A set with quotients is read as text, any other made of its constraints.

Limits: one isl context a process, whose work is bounded by budgets (budgets/budget.py). An operation takes the longer
the more quotients there are: a set with many narrows the budget that it is made in.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import assert_never

from msgspec import Struct

from warpsmith.poly.isl.budgets.budget import (
    Effort,
    OutOfBudgetError,
    budget,
    count_steps,
    narrow_budget,
    part_of_budget,
    shared_effort,
    side_budget,
)
from warpsmith.poly.isl.budgets.kept import kept
from warpsmith.poly.isl.constraints import condition_of, map_of, set_of
from warpsmith.poly.isl.formula import And, Compare, Formula, Or, atoms_of, both, either
from warpsmith.poly.isl.library import isl
from warpsmith.poly.isl.polynomial import Polynomial, atom
from warpsmith.poly.isl.vocabulary import AtomVocabulary

__all__ = [
    "Effort",
    "Floored",
    "Map",
    "OutOfBudgetError",
    "Set",
    "all_pairs",
    "at_zero",
    "between",
    "budget",
    "count_steps",
    "deltas",
    "drop_quotients",
    "earlier",
    "ends",
    "far",
    "farthest",
    "find_undecided",
    "floors",
    "gist",
    "hull",
    "image",
    "in_other_chunks",
    "is_bounded",
    "later_round",
    "lexicographic",
    "make_map",
    "make_schedule_map",
    "make_set",
    "nearest",
    "order",
    "pairs_apart",
    "parameter_formula",
    "parameters_of",
    "part_of_budget",
    "pieces",
    "point",
    "prefix",
    "remove_points",
    "same_beside",
    "shallow",
    "shared_effort",
    "side_budget",
    "whole_number",
    "widen_relation",
]

Set = isl.Set
Map = isl.Map

_SET = isl.dim_type.set
_PARAM = isl.dim_type.param
# what the nearest pair of a conflict may cost, in isl operations: a sixth of a second. The pairs of PolyBench that are
# found take up to 60,000, most of them less than 1,000.
_NEAREST_EFFORT = 100_000
_MOST_READ = 8192
# each quotient more than so many halves the budget. Tiles as they are generated have up to three, in skewed time up to
# seven: an operation takes five times as long there.
_FEW_QUOTIENTS = 5


class Floored(Struct, frozen=True):
    """floor((polynomial + sum of factor * floored) / divisor)."""

    polynomial: Polynomial
    floors: tuple[tuple[int, Floored], ...]
    divisor: int


def whole_number(value: isl.Val) -> int:
    """Return the number of a value that is one. Raises OutOfBudgetError: isl prints it, which takes steps too, and its
    binding returns None for a text that could not be made."""
    text = value.to_str()
    if text is None:
        raise OutOfBudgetError("a number could not be read any more")
    return int(text)


def make_set(vocabulary: AtomVocabulary, dims: Sequence[str], formula: Formula) -> isl.Set:
    """Return {[dims] : formula} as an isl set."""
    body = _Body.of(vocabulary, dims, formula, ())
    if not body.hidden:
        return set_of(body.parameters, tuple(dims), condition_of(body.formula))
    return _read_set(f"[{', '.join(body.parameters)}] -> {{ [{', '.join(dims)}] : {body.text(())} }}")


def make_map(
    vocabulary: AtomVocabulary, dims: Sequence[str], outputs: Sequence[Polynomial], formula: Formula
) -> isl.Map:
    """Return {[dims] -> [outputs] : formula} as an isl relation; the outputs are linear polynomials."""
    body = _Body.of(vocabulary, dims, formula, outputs)
    names = tuple(f"o{k}" for k in range(len(outputs)))
    if not body.hidden:
        equations = [atom(name) - output for name, output in zip(names, outputs, strict=True)]
        return map_of(body.parameters, tuple(dims), names, condition_of(body.formula, equations))
    text = body.text([f"{name} = {_sum(output)}" for name, output in zip(names, outputs, strict=True)])
    return _read_map(f"[{', '.join(body.parameters)}] -> {{ [{', '.join(dims)}] -> [{', '.join(names)}] : {text} }}")


@functools.lru_cache(maxsize=_MOST_READ)
def _read_set(text: str) -> isl.Set:
    return isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text)


@functools.lru_cache(maxsize=_MOST_READ)
def _read_map(text: str) -> isl.Map:
    return isl.Map.read_from_str(isl.DEFAULT_CONTEXT, text)


class _Body(Struct, frozen=True):
    """What elements meet: a formula without extremes, in which the quotients, which are `hidden`, are defined."""

    parameters: tuple[str, ...]
    hidden: tuple[str, ...]
    formula: Formula

    @classmethod
    def of(
        cls, vocabulary: AtomVocabulary, dims: Sequence[str], formula: Formula, outputs: Sequence[Polynomial]
    ) -> _Body:
        """Return the body of {[dims] -> [outputs] : formula}."""
        formula = vocabulary.drop_extremes(formula)
        used = atoms_of(formula).union(*(p.atoms() for p in outputs))
        quotients, definitions = vocabulary.definitions(used)
        narrow_budget(len(quotients - set(dims)) - _FEW_QUOTIENTS)
        parameters = sorted(used.union(*map(atoms_of, definitions)) - quotients - set(dims))
        return cls(tuple(parameters), tuple(sorted(quotients - set(dims))), both((formula, *definitions)))

    def text(self, equations: Sequence[str]) -> str:
        """Return the constraint text with `equations`, the quotients quantified."""
        return f"exists ({', '.join(self.hidden)} : {' and '.join([_text(self.formula), *equations])})"


def _text(formula: Formula) -> str:
    match formula:
        case Compare(polynomial, equality):
            return f"{_sum(polynomial)} {'=' if equality else '>='} 0"
        case And(parts):
            return "(" + " and ".join(_text(p) for p in parts) + ")" if parts else "true"
        case Or(parts):
            return "(" + " or ".join(_text(p) for p in parts) + ")" if parts else "false"
        case _:
            assert_never(formula)


def _sum(polynomial: Polynomial) -> str:
    """Return a linear polynomial as isl text."""
    pieces = [f"{value}{monomial[0]}" if monomial else str(value) for monomial, value in polynomial.terms.items()]
    return " + ".join(pieces) or "0"


def order(depth_in: int, depth_out: int, *, descending: bool) -> isl.Map:
    """Return {[i, …] -> [i', …]} where i runs before i' in a loop that counts up (down where `descending`)."""
    left = ["i", *(f"a{k}" for k in range(1, depth_in))]
    right = ["j", *(f"b{k}" for k in range(1, depth_out))]
    text = f"{{ [{', '.join(left)}] -> [{', '.join(right)}] : i {'>' if descending else '<'} j }}"
    return _read_map(text)


def same_beside(length: int, names: Sequence[str], fact: str) -> isl.Map:
    """Return {[d, …, x1, …] -> [d, …, x2, …] : fact}, `length` numbers d the same on both sides; a name x of `names` is
    written x1 and x2 in the fact."""
    shared = [f"d{k}" for k in range(length)]
    left, right = ([*shared, *(f"{name}{side}" for name in names)] for side in (1, 2))
    return _read_map(f"{{ [{', '.join(left)}] -> [{', '.join(right)}] : {fact} }}")


def far(depth_in: int, depth_out: int, distance: int) -> isl.Map:
    """Return { x -> y : the first coordinates are at least `distance` apart }."""
    left = ["i", *(f"a{k}" for k in range(1, depth_in))]
    right = ["j", *(f"b{k}" for k in range(1, depth_out))]
    apart = f"j >= i + {distance} or i >= j + {distance}"
    return _read_map(f"{{ [{', '.join(left)}] -> [{', '.join(right)}] : {apart} }}")


def in_other_chunks(depth_in: int, depth_out: int, first: int, size: int) -> isl.Map:
    """Return { x -> y : the first coordinates are in different ones of the intervals [first + k size, … + size) }."""
    left = ["i", *(f"a{k}" for k in range(1, depth_in))]
    right = ["j", *(f"b{k}" for k in range(1, depth_out))]
    apart = f"floor((i - ({first}))/{size}) != floor((j - ({first}))/{size})"
    return _read_map(f"{{ [{', '.join(left)}] -> [{', '.join(right)}] : {apart} }}")


def later_round(depth_in: int, depth_out: int, step: int, *, next_only: bool) -> isl.Map:
    """Return { [t, …] -> [u, …] } where u is t + step (`next_only`), or any later value of a loop with that step."""
    left = ["t", *(f"a{k}" for k in range(1, depth_in))]
    right = ["u", *(f"b{k}" for k in range(1, depth_out))]
    fact = f"u = t + ({step})" if next_only else f"u {'>' if step > 0 else '<'} t"
    return _read_map(f"{{ [{', '.join(left)}] -> [{', '.join(right)}] : {fact} }}")


def floors(divisors: Sequence[int]) -> isl.Map:
    """Return { [d0, …] -> [floor(d0 / divisor), …] }."""
    names = [f"d{k}" for k in range(len(divisors))]
    parts = ", ".join(f"floor({name}/{divisor})" for name, divisor in zip(names, divisors, strict=True))
    return _read_map(f"{{ [{', '.join(names)}] -> [{parts}] }}")


def at_zero(relation: isl.Map) -> isl.Set:
    """Return the elements that a relation maps to zeros."""
    zeros = ", ".join("0" for _ in range(relation.dim(isl.dim_type.out)))
    return relation.intersect_range(_read_set(f"{{ [{zeros}] }}")).domain()


def all_pairs(domain: isl.Set, values: isl.Set) -> isl.Map:
    """Return { x -> y } for all x of one set and all y of another."""
    return isl.Map.from_domain_and_range(domain, values)


def _same_place(values: isl.Set, position: int) -> isl.Map:
    """Return { x -> y } of the elements, cut behind `position`, that agree in all dimensions before it."""
    cut = values.project_out(_SET, position + 1, values.dim(_SET) - position - 1)
    left, right = [f"a{k}" for k in range(position + 1)], [f"b{k}" for k in range(position + 1)]
    same = " and ".join(f"a{k} = b{k}" for k in range(position)) or "true"
    text = f"{{ [{', '.join(left)}] -> [{', '.join(right)}] : {same} }}"
    relation = _read_map(text)
    return relation.intersect_domain(cut).intersect_range(cut)


def farthest(values: isl.Set, position: int) -> int | None:
    """Return how far apart two elements may be in one dimension that agree in those before it, over all parameters;
    None where there is no limit."""
    return _finite(
        _same_place(values, position).deltas().project_out(_PARAM, 0, values.dim(_PARAM)).dim_max_val(position)
    )


def pairs_apart(values: isl.Set, position: int, distance: int) -> isl.Set:
    """Return the parameters with two elements at least so far apart in one dimension that agree in those before it."""
    left, right = [f"a{k}" for k in range(position + 1)], [f"b{k}" for k in range(position + 1)]
    text = f"{{ [{', '.join(left)}] -> [{', '.join(right)}] : b{position} >= a{position} + {distance} }}"
    return _same_place(values, position).intersect(_read_map(text)).params()


def ends(values: isl.Set, name: str) -> tuple[int | None, int | None]:
    """Return the least and the greatest value of a parameter in a set over parameters (None: there is none)."""
    whole = isl.Set.from_params(values)
    position = whole.find_dim_by_name(_PARAM, name)
    if position < 0 or whole.is_empty():
        return None, None
    moved = whole.move_dims(_SET, 0, _PARAM, position, 1)
    alone = moved.project_out(_PARAM, 0, moved.dim(_PARAM))
    return _finite(alone.dim_min_val(0)), _finite(alone.dim_max_val(0))


def parameter_formula(values: isl.Set, limit: int = 4) -> Formula | None:
    """Return a set's projection onto its parameters as a formula; None where it needs quotients or `limit` pieces."""
    projected = values.params().coalesce()
    if projected.n_basic_set() > limit:
        return None
    options: list[Formula] = []
    for piece in projected.get_basic_sets():
        if piece.dim(isl.dim_type.div) > 0:
            return None
        options.append(both(_comparison(c) for c in piece.get_constraints()))
    return either(options)


def _comparison(constraint: isl.Constraint) -> Formula:
    terms: dict[tuple[str, ...], int] = {}
    for k in range(constraint.dim(_PARAM)):
        value = whole_number(constraint.get_coefficient_val(_PARAM, k))
        if value:
            terms[(str(constraint.get_dim_name(_PARAM, k)),)] = value
    number = whole_number(constraint.get_constant_val())
    return Compare(Polynomial({**terms, **({(): number} if number else {})}), constraint.is_equality())


def point(values: isl.Set) -> tuple[Mapping[str, int], tuple[int, ...]] | None:
    """Return one element: the parameters by name, and the tuple; None for the empty set."""
    if values.is_empty():
        return None
    sample = values.sample_point()
    space = sample.get_space()
    parameters = {
        str(space.get_dim_name(_PARAM, k)): whole_number(sample.get_coordinate_val(_PARAM, k))
        for k in range(space.dim(_PARAM))
    }
    return parameters, tuple(whole_number(sample.get_coordinate_val(_SET, k)) for k in range(space.dim(_SET)))


@kept
def pieces(values: isl.Set, *, greatest: bool) -> list[tuple[Formula, tuple[Floored, ...]]] | None:
    """Return the lexicographic extreme of a set as a function of its parameters: (where, value of each dimension).

    None where a condition cannot be written without quotients. Raises OutOfBudgetError where the set is unbounded.
    """
    extreme = values.lexmax_pw_multi_aff() if greatest else values.lexmin_pw_multi_aff()
    collected: list[tuple[isl.Set, isl.MultiAff]] = []
    extreme.coalesce().foreach_piece(lambda where, value: collected.append((where, value)))
    found: list[tuple[Formula, tuple[Floored, ...]]] = []
    for where, value in collected:
        condition = parameter_formula(where)
        if condition is None:
            return None
        found.append((condition, tuple(_floor(value.get_at(k)) for k in range(value.dim(isl.dim_type.out)))))
    return found


@kept
def find_undecided(values: isl.Set, *, greatest: bool) -> isl.Set:
    """Return parameters without which the conditions of `pieces` need no quotients: each condition is widened to one
    that needs none, and what that adds is in the answer."""
    extreme = values.lexmax_pw_multi_aff() if greatest else values.lexmin_pw_multi_aff()
    found: list[isl.Set] = []
    extreme.coalesce().foreach_piece(lambda where, _: found.append(where.params()))
    added = [hull(wide.subtract(where)) for where in found if not (wide := where.remove_divs()).is_equal(where)]
    return reduce(lambda a, b: a.union(b), added, values.params().subtract(values.params()))


def _floor(value: isl.Aff) -> Floored:
    scale = value.get_denominator_val()
    terms: dict[tuple[str, ...], int] = {}
    for k in range(value.dim(_PARAM)):
        factor = whole_number(value.get_coefficient_val(_PARAM, k) * scale)
        if factor:
            terms[(str(value.get_dim_name(_PARAM, k)),)] = factor
    number = whole_number(value.get_constant_val() * scale)
    divs = isl.dim_type.div
    factors = [whole_number(value.get_coefficient_val(divs, k) * scale) for k in range(value.dim(divs))]
    # A quotient lists all quotients too, itself included, with factor 0.
    used = tuple((factor, _floor(value.get_div(k))) for k, factor in enumerate(factors) if factor)
    return Floored(Polynomial({**terms, **({(): number} if number else {})}), used, whole_number(scale))


def parameters_of(values: isl.Set) -> list[str]:
    """Return the names of a set's parameters."""
    space = values.get_space()
    return [str(space.get_dim_name(_PARAM, k)) for k in range(space.dim(_PARAM))]


def deltas(relation: isl.Map, common: int) -> list[tuple[int | None, int | None]]:
    """Return the least and greatest difference (None: unbounded) of each of the first `common` dimensions."""
    kinds = isl.dim_type.in_, isl.dim_type.out
    for kind in kinds:
        relation = relation.project_out(kind, common, relation.dim(kind) - common)
    difference = relation.deltas().project_out(_PARAM, 0, relation.dim(_PARAM))
    return [(_finite(difference.dim_min_val(k)), _finite(difference.dim_max_val(k))) for k in range(common)]


def _finite(value: isl.Val) -> int | None:
    return whole_number(value) if value.is_int() else None


def image(relation: isl.Map) -> isl.Set:
    """Return the range of a relation."""
    return relation.range()


def between(values: isl.Set) -> isl.Set:
    """Return {[x] : some a <= x <= b, a and b elements of a set of numbers}: the set without its gaps."""
    above, under = (_read_map(f"{{ [a] -> [x] : x {relation} a }}") for relation in (">=", "<="))
    return values.apply(above).intersect(values.apply(under))


def is_bounded(values: isl.Set) -> bool:
    """Whether every dimension has a least and a greatest value for fixed parameters."""
    return bool(values.is_bounded())


def gist(vocabulary: AtomVocabulary, formula: Formula, known: Formula) -> Formula:
    """Return a formula over parameters made simpler by what is known; as it is where that needs quotients."""
    simple = parameter_formula(make_set(vocabulary, (), formula).gist(make_set(vocabulary, (), known)))
    return formula if simple is None else simple


def nearest(relation: isl.Map, *, latest: bool) -> isl.Map:
    """Keep for each sink its lexicographically latest source (`latest`), or for each source its earliest sink.

    The relation itself where that is too much work: what is then said of a conflict is true, but not the nearest one.
    """
    try:
        with side_budget(_NEAREST_EFFORT):
            return relation.reverse().lexmax().reverse() if latest else relation.lexmin()
    except OutOfBudgetError:
        return relation


def drop_quotients(values: isl.Set) -> isl.Set:
    """Return a superset whose projection onto the parameters needs no quotients."""
    return values.params().remove_divs()


def hull(values: isl.Set) -> isl.Set:
    """Return a convex superset whose bounds are all bounds of `values`."""
    return isl.Set.from_basic_set(values.simple_hull())


def earlier(depth_in: int, depth_out: int, steps: Sequence[int], *, held: int, ties: bool) -> isl.Map:
    """Return {[x] -> [y] : y runs before x, the first `held` counters the same} for two statements whose common loops
    have `steps`, outermost first; where all common counters agree, y is before x if `ties`."""
    left, right = [f"x{k}" for k in range(depth_in)], [f"y{k}" for k in range(depth_out)]
    same = [f"x{k} = y{k}" for k in range(len(steps))]
    cases = [" and ".join([*same[:k], f"y{k} {'<' if steps[k] > 0 else '>'} x{k}"]) for k in range(held, len(steps))]
    if ties:
        cases.append(" and ".join(same) or "true")
    body = " or ".join(f"({case})" for case in cases) or "false"
    text = f"{{ [{', '.join(left)}] -> [{', '.join(right)}] : {body} }}"
    return _read_map(text)


def remove_points(relation: isl.Map, gone: isl.Map) -> isl.Map:
    """Return the pairs of `relation` that are not in `gone`."""
    return relation.subtract(gone)


def one_pair(relation: isl.Map) -> isl.Map:
    """Return one pair of a relation, for one value of its parameters; nothing where it is empty."""
    return isl.Map.from_basic_map(relation.sample())


def make_schedule_map(dims: Sequence[str], rows: Sequence[tuple[Polynomial, int]]) -> isl.Map:
    """Return {[dims] -> [floor(value / divisor), …]}, one output a row; the values are linear polynomials."""
    used = frozenset[str]().union(*(value.atoms() for value, _ in rows))
    parameters = ", ".join(sorted(used - set(dims)))
    outputs = ", ".join(f"floor(({_sum(value)})/{divisor})" if divisor != 1 else _sum(value) for value, divisor in rows)
    text = f"[{parameters}] -> {{ [{', '.join(dims)}] -> [{outputs}] }}"
    return _read_map(text)


def lexicographic(first: isl.Map, second: isl.Map) -> isl.Map:
    """Return {x -> y : first(x) < second(y)} in lexicographic order; both give vectors of one length."""
    return first.lex_lt_map(second).coalesce()


def shallow(relation: isl.Map, depth: int) -> isl.Map:
    """Return the relation of the first `depth` dimensions of its domain: the others are projected out."""
    return relation.project_out(isl.dim_type.in_, depth, relation.dim(isl.dim_type.in_) - depth)


def widen_relation(relation: isl.Map, depth_in: int, depth_out: int) -> isl.Map:
    """Return the relation with dimensions of any value appended on both sides."""
    more_in, more_out = (
        depth - relation.dim(kind) for kind, depth in ((isl.dim_type.in_, depth_in), (isl.dim_type.out, depth_out))
    )
    return relation.add_dims(isl.dim_type.in_, more_in).add_dims(isl.dim_type.out, more_out)


def prefix(relation: isl.Map, length: int) -> isl.Map:
    """Return the relation with only the first `length` input dimensions kept."""
    return relation.project_out(isl.dim_type.in_, length, relation.dim(isl.dim_type.in_) - length)
