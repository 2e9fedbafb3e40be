"""The rows of times as isl sets: which values they take, which bounds that gives, what is known after a few of them.

    for (w …)              points: { [w, t, i] : 0 <= t < T and 1 <= i < n - 1 and 1 <= w - 4t - 2i < n - 1 }
        for (t …)          upto(t): { [w, t, *] : 0 <= t < T and 6 - 3n + w <= 4t <= w - 3 }
            for (i …)

Invariant: `hull` is implied by the points, so a loop over its bounds misses none; `rest` is what is left to test where
something is known already. All points of one scan have the same dimensions, one a row, by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from warpsmith.poly.isl.library import isl
from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.isl.space import Map, Set, whole_number

__all__ = ["Floor", "Points", "QuotientError", "Test", "drop_impossible"]

_SET = isl.dim_type.set
_PARAM = isl.dim_type.param
_DIV = isl.dim_type.div


class QuotientError(Exception):
    """A condition has a quotient inside a quotient."""


class Floor(Struct, frozen=True):
    """factor * floor(value / divisor)."""

    factor: int
    value: Polynomial
    divisor: int


class Test(Struct, frozen=True):
    """value + floors >= 0, or = 0 where `equality`."""

    value: Polynomial
    equality: bool
    floors: tuple[Floor, ...] = ()


class Points(Struct, frozen=True, eq=False):
    """A set of row vectors; every method that says so returns another one."""

    values: Set
    _known: dict[tuple[tuple[tuple[str, ...], int], ...], bool] = field(default_factory=dict)

    @classmethod
    def of(cls, domain: Set, times: Map, names: Sequence[str]) -> Points:
        """Return the rows that `schedules` gives to the points of `domain`."""
        values = domain.apply(times).coalesce()
        for k, name in enumerate(names):
            values = values.set_dim_name(_SET, k, name)
        return cls(values)

    @classmethod
    def context(cls, parameters: Set, names: Sequence[str]) -> Points:
        """Return all row vectors, for the parameters of a set without dimensions."""
        values = isl.Set.from_params(parameters.params()).add_dims(_SET, len(names))
        for k, name in enumerate(names):
            values = values.set_dim_name(_SET, k, name)
        return cls(values)

    def meet(self, other: Points) -> Points:
        """Return the points of both."""
        return Points(self.values.intersect(other.values))

    def join(self, others: Iterable[Points]) -> Points:
        """Return the points of any."""
        values = self.values
        for other in others:
            values = values.union(other.values)
        return Points(values.coalesce())

    def apart(self, other: Points) -> bool:
        """Whether there is no point of both."""
        return bool(self.values.is_disjoint(other.values))

    @property
    def empty(self) -> bool:
        """Whether there is no point."""
        return bool(self.values.is_empty())

    def upto(self, level: int) -> Points:
        """Return what the points say of rows 0 … level; later rows are free."""
        count = self.values.dim(_SET)
        return Points(self.values.eliminate(_SET, level + 1, count - level - 1).coalesce())

    def only(self, levels: Iterable[int]) -> Points:
        """Return what the points say of some rows; the others are free."""
        kept = set(levels)
        values = self.values
        for k in range(values.dim(_SET)):
            if k not in kept:
                values = values.eliminate(_SET, k, 1)
        return Points(values.coalesce())

    def drop_row(self, level: int) -> Points:
        """Return the points without a row (it is zero then)."""
        return Points(self.values.eliminate(_SET, level, 1).fix_val(_SET, level, isl.Val(0)))

    def where(self, value: Polynomial, *, equality: bool = False) -> Points:
        """Return the points at which value >= 0 (= 0)."""
        aff = self._aff(value)
        condition = aff.zero_basic_set() if equality else _nonnegative(aff)
        return Points(self.values.intersect(isl.Set.from_basic_set(condition)))

    def multiple(self, value: Polynomial, divisor: int) -> Points:
        """Return the points at which `divisor` divides `value`."""
        condition = self._aff(value).mod_val(isl.Val(divisor)).zero_basic_set()
        return Points(self.values.intersect(isl.Set.from_basic_set(condition)))

    def holds(self, value: Polynomial) -> bool:
        """Whether value >= 0 at every point."""
        number = value.number
        if number is not None:
            return number >= 0 or self.empty
        key = tuple(sorted(value.terms.items()))
        if key not in self._known:
            self._known[key] = self.where((-value).shift(-1)).empty
        return self._known[key]

    def always(self, value: Polynomial) -> bool:
        """Whether value = 0 at every point."""
        return not value.terms or (self.holds(value) and self.holds(-value))

    def before(self, other: Points, level: int) -> bool:
        """Whether row `level` is less here than in any point of `other` that agrees in the rows before it."""
        left = self.upto(level).values.insert_dims(_SET, level + 1, 1)
        right = other.upto(level).values.insert_dims(_SET, level, 1)
        both = left.intersect(right)
        space = isl.LocalSpace.from_space(both.get_space())
        zero = isl.Aff.zero_on_domain(space)
        late = zero.add_coefficient_val(_SET_IN, level, isl.Val(1))
        late = late.add_coefficient_val(_SET_IN, level + 1, isl.Val(-1))
        return bool(both.intersect(isl.Set.from_basic_set(_nonnegative(late))).is_empty())

    # --- reading constraints

    def hull(self, known: Points) -> list[Test]:
        """Return constraints that hold at every point, those that are known left out; quotients are not among them."""
        values = self.values.remove_divs().coalesce()
        if values.n_basic_set() != 1:
            values = isl.Set.from_basic_set(values.simple_hull())
        simple = values.gist(known.values.remove_divs()).simple_hull().remove_redundancies()
        return [_test(c) for c in simple.get_constraints()]

    def rest(self, known: Points) -> list[list[Test]]:
        """Return exact conditions for the points among the known ones: one of the lists must hold as a whole."""
        simple = self.values.gist(known.values).compute_divs().coalesce()
        if simple.plain_is_universe():
            return [[]]
        return [[_test(c) for c in piece.get_constraints()] for piece in simple.get_basic_sets()]

    def stride(self, level: int) -> tuple[int, Polynomial | None]:
        """Return (s, p): row `level` is p modulo s at every point; p None where it has a quotient."""
        info = self.upto(level).values.get_stride_info(level)
        offset = info.get_offset()
        stride = whole_number(info.get_stride())
        if stride == 1 or not offset.get_denominator_val().is_one() or offset.dim(_DIV) > 0:
            return stride, None
        return stride, _polynomial(offset)

    def _aff(self, value: Polynomial) -> isl.Aff:
        space = self.values.get_space()
        missing = [n for n in sorted(value.atoms()) if min(_find(space, n)) < 0 and max(_find(space, n)) < 0]
        for name in missing:
            space = space.add_dims(_PARAM, 1).set_dim_name(_PARAM, space.dim(_PARAM), name)
        aff = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space)).add_constant_val(
            isl.Val(str(value.constant_term))
        )
        for monomial, factor in value.terms.items():
            if monomial:
                at_set, at_param = _find(space, monomial[0])
                kind, position = (_SET_IN, at_set) if at_set >= 0 else (_PARAM, at_param)
                aff = aff.add_coefficient_val(kind, position, isl.Val(str(factor)))
        return aff


_SET_IN = isl.dim_type.in_


def drop_impossible(context: Set, impossible: Set) -> Set:
    """Return the parameters of `context` for which `impossible` has no point; all of them where that is not convex."""
    left = context.subtract(isl.Set.from_params(impossible.params())).coalesce()
    return left if left.n_basic_set() == 1 else context


def _nonnegative(aff: isl.Aff) -> isl.BasicSet:
    return aff.ge_basic_set(isl.Aff.zero_on_domain(aff.get_domain_local_space()))


def _find(space: isl.Space, name: str) -> tuple[int, int]:
    """Return the position of a name among the rows and among the parameters, -1 where it is not there."""
    return space.find_dim_by_name(_SET, name), space.find_dim_by_name(_PARAM, name)


def _test(constraint: isl.Constraint) -> Test:
    aff = constraint.get_aff()
    floors: list[Floor] = []
    for k in range(aff.dim(_DIV)):
        factor = aff.get_coefficient_val(_DIV, k)
        if not factor.is_zero():
            inner = aff.get_div(k)
            if any(not inner.get_coefficient_val(_DIV, d).is_zero() for d in range(inner.dim(_DIV))):
                raise QuotientError("the new order has a quotient inside a quotient")
            scale = inner.get_denominator_val()
            floors.append(Floor(whole_number(factor), _polynomial(inner.scale_val(scale)), whole_number(scale)))
    return Test(_polynomial(aff), constraint.is_equality(), tuple(floors))


def _polynomial(aff: isl.Aff) -> Polynomial:
    """Return the part of an integral affine form that has no quotients."""
    terms: dict[tuple[str, ...], int] = {}
    for kind in (_PARAM, _SET_IN):
        for k in range(aff.dim(kind)):
            factor = aff.get_coefficient_val(kind, k)
            if not factor.is_zero():
                terms[(str(aff.get_dim_name(kind, k)),)] = whole_number(factor)
    number = whole_number(aff.get_constant_val())
    return Polynomial({**terms, **({(): number} if number else {})})
