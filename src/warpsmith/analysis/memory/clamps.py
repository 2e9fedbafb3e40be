"""Addresses through min and max as they are away from the edge, where neither cuts anything off.

    a[max(tid - 1, low)]        tid - 1, in all lanes but those at the edge: dense
    w = tid - 1;  a[w < low ? low : w]

What is known of such an address is conditional: a lane beyond the bound asks for what its neighbor asks for.
"""

from __future__ import annotations

from typing import Final

from warpsmith.analysis.affine.symbols import Atom, Form
from warpsmith.analysis.memory.forms import Forms
from warpsmith.ssa.nodes import Instruction, Operand, Value
from warpsmith.ssa.ops import OPS

__all__ = ["CUT_OFF", "unclamp"]

CUT_OFF: Final = "min and max cut off at the edge only"
_EXTREMES: Final = ("smin", "smax", "umin", "umax")
_DEEPEST: Final = 4


def unclamp(forms: Forms, address: Form) -> Form | None:
    """Return an address without the bounds that cut it off; None where something else is unknown of it."""
    for _ in range(_DEEPEST):
        own = [atom for atom in set(address.atoms()) if atom.kind == "own"]
        if not own:
            return address
        inside = _find_inside(forms, forms.named.get(own[0]))
        changed = None if inside is None else _put(address, own[0], inside)
        if changed is None:
            return None
        address = changed
    return None


def _find_inside(forms: Forms, value: Value | None) -> Form | None:
    """Return what a bound cuts off, where a value is the extreme of it and of a number that all threads share."""
    made = None if value is None else forms.answer.definitions.get(value)
    if value is None or not isinstance(made, Instruction):
        return None
    sides = _sides(forms, made)
    if len(sides) != 2:
        return None
    home = forms.answer.homes[value]
    found = [forms.of(operand, home) for operand in sides]
    varying = [form for form in found if form is not None and form.has("own", "index")]
    shared = [form for form in found if form is not None and not form.has("own", "index", "wrap")]
    return varying[0] if len(varying) == len(shared) == 1 else None


def _sides(forms: Forms, made: Instruction) -> tuple[Operand, ...]:
    """Return the two numbers of which a value is the smaller or the larger."""
    if made.op in _EXTREMES:
        return made.operands
    if made.op != "select":
        return ()
    condition, *sides = made.operands
    test = forms.answer.definitions.get(condition) if isinstance(condition, Value) else None
    if not isinstance(test, Instruction) or OPS[test.op].shape != "compare" or test.op in ("eq", "ne"):
        return ()
    return tuple(sides) if set(map(_key, test.operands)) == set(map(_key, sides)) else ()


def _key(operand: Operand) -> object:
    return operand if isinstance(operand, Value) else str(operand)


def _put(address: Form, atom: Atom, inside: Form) -> Form | None:
    """Return a sum with another one in the place of an unknown."""
    made = Form(address.bits, {})
    for monomial, coefficient in address.terms.items():
        term: Form | None = Form(address.bits, {(): coefficient})
        for factor in monomial:
            part = Form(address.bits, inside.terms if factor is atom else {(factor,): 1})
            term = None if term is None else term.times(part)
        if term is None:
            return None
        made = made.plus(term)
    return made
