"""The views of one object: references that see it in one shape are compared by subscripts, those of two views are not.

    for (i < n*n) a[i] = 0;                          view a[i]          strides 1
    for (i < n) for (k < n) s += a[i*n + k];         view a[i*n + k]    strides n, 1

Invariant: two references of one view touch one element exactly where their subscripts are equal; what two of different
views touch together is not known (it may be any element). One view for all is looked for first, without guards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.regions.region import Element, ViewStep
from warpsmith.poly.regions.state import State
from warpsmith.poly.regions.subscripts.delinearize import Reference, layout, shape, stride_monomials

__all__ = ["View", "elements", "layouts"]


class View(Struct, frozen=True):
    """References with one layout: the subscripts of each, outermost first, and the stride of each subscript."""

    references: tuple[Reference, ...]
    subscripts: tuple[tuple[Polynomial, ...], ...]
    strides: tuple[Polynomial, ...]


def layouts(state: State, references: Sequence[Reference], *, guards: bool) -> tuple[View, ...] | None:
    """Return the views of references to the elements of one array; None where one of them may be any element.

    Several views without guards come before one view under a guard, which only `guards` allow: bounds can be taken of
    each.
    """
    parts = [list(references)], _by_strides(state, references)
    for allowed in (False, True) if guards and state.guards else (False,):
        for groups in parts if len(parts[1]) > 1 else parts[:1]:
            with _attempt(state, guards=allowed) as attempt:
                found = [_view(state, group) for group in groups]
                views = tuple(view for view in found if view is not None)
                attempt.kept = len(views) == len(groups)
            if attempt.kept:
                return views
    return None


def elements(state: State, references: Sequence[Reference]) -> list[Element | None]:
    """Return comparable subscripts for every reference to one object (None: any element): those of all views but the
    first begin with a step of their own, which tells nothing about elements of the others."""
    with _attempt(state, guards=state.guards) as attempt:
        found = shape(state, references)
        left = [k for k, element in enumerate(found) if element is None and references[k][1].known]
        attempt.kept = not left
    if attempt.kept:
        return found
    if state.guards:
        # what fits only under guards is no reason for them, if it does not make all fit
        with _attempt(state, guards=False):
            found = shape(state, references)
        left = [k for k, element in enumerate(found) if element is None and references[k][1].known]
    groups = _by_strides(state, [references[k] for k in left])
    if len(left) == len(references) and len(groups) < 2:
        return shape(state, references)
    for number, group in enumerate(groups):
        members = [k for k in left if any(references[k] is one for one in group)]
        for k, element in zip(members, shape(state, group), strict=True):
            found[k] = None if element is None else (ViewStep(number), *element)
    return found


def _view(state: State, references: Sequence[Reference]) -> View | None:
    found = layout(state, references)
    if found is None:
        return None
    subscripts, strides = found
    return View(tuple(references), tuple(map(tuple, subscripts)), tuple(strides))


def _by_strides(state: State, references: Sequence[Reference]) -> list[list[Reference]]:
    """Return the references grouped by the products that stand beside a counter in them, in the order of the text."""
    groups: dict[object, list[Reference]] = {}
    for reference in references:
        groups.setdefault(stride_monomials(state, reference[1]), []).append(reference)
    return list(groups.values())


class _Attempt(Struct):
    kept: bool = False


@contextmanager
def _attempt(state: State, *, guards: bool) -> Iterator[_Attempt]:
    """Try something with or without guards: what it assumed is taken back unless it is `kept`."""
    allowed, context, assumed, unproved = state.guards, state.context, len(state.assumptions), len(state.unproved)
    state.guards = guards
    attempt = _Attempt()
    try:
        yield attempt
    finally:
        state.guards = allowed
        if not attempt.kept:
            state.context = context
            del state.assumptions[assumed:]
            if guards or allowed:
                del state.unproved[unproved:]
