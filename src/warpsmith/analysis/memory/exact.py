"""Numbers that are widened, as the sums that they are before: a language without overflow makes them exact.

    sext(a +nsw b · c)   =   sext a + sext b · sext c              so that nothing is said of a wrap
    i = phi(start, i +nsw step)          sext i = sext start + iteration · sext step

Invariant: a form is of 64 bits and equals the signed number that the value is, in every run that has a meaning.
"""

from __future__ import annotations

from typing import Final, Protocol

from warpsmith.analysis.affine.symbols import Atom, Form, constant_form, from_atom
from warpsmith.analysis.memory.transfer import TransferRules
from warpsmith.analysis.uniformity.uniformity import Uniformity
from warpsmith.ssa.graph import Cycle
from warpsmith.ssa.nodes import Constant, Instruction, NoWrap, Operand, Phi, Value
from warpsmith.ssa.semantics.patterns import to_signed

__all__ = ["KnownForms", "exact", "is_exact"]

WIDE: Final = 64
_DEEPEST: Final = 12


class KnownForms(Protocol):
    """The forms of a function's values as far as they are known (forms.py): `found` has each value's where it is made,
    `headers` the loop that a block begins."""

    answer: Uniformity
    transfer: TransferRules
    found: dict[Value, Form]
    headers: dict[str, Cycle]

    def form_used(self, form: Form, *blocks: str) -> Form:
        """Return a form as it holds in a block, or along an edge."""
        ...

    def iteration(self, cycle: Cycle) -> Atom:
        """Return the number of the iteration of a loop, from 0."""
        ...


def is_exact(forms: KnownForms, operand: Operand) -> bool:
    """Whether more is known of a number that is widened than its sum modulo a power of two."""
    made = forms.answer.definitions.get(operand) if isinstance(operand, Value) else None
    return isinstance(made, Phi) or _is_flagged(made)


def _is_flagged(made: Instruction | Phi | None) -> bool:
    return isinstance(made, Instruction) and isinstance(made.detail, NoWrap) and made.detail.signed


def exact(forms: KnownForms, operand: Operand, *blocks: str, depth: int = 0) -> Form | None:
    """Return the signed number that an operand is where a block uses it, or an edge; None where nothing is known."""
    if isinstance(operand, Constant):
        return constant_form(to_signed(operand.bits, operand.type), WIDE)
    if not isinstance(operand, Value):
        return None
    made, home = forms.answer.definitions.get(operand), forms.answer.homes.get(operand, blocks[0])
    found: Form | None = None
    if depth < _DEEPEST and isinstance(made, Instruction) and _is_flagged(made):
        found = _combine(made.op, [exact(forms, o, home, depth=depth + 1) for o in made.operands])
    elif depth < _DEEPEST and isinstance(made, Phi):
        found = _find_counted(forms, made, home, depth)
    if found is None:
        narrow = forms.found.get(operand)
        found = None if narrow is None else forms.transfer.wrapping.extend(narrow, WIDE, signed=True)
    return None if found is None else forms.form_used(found, *blocks)


def _combine(op: str, sides: list[Form | None]) -> Form | None:
    left, right = sides
    if left is None or right is None:
        return None
    return left.times(right) if op == "mul" else left.plus(right, 1 if op == "add" else -1)


def _find_counted(forms: KnownForms, phi: Phi, home: str, depth: int) -> Form | None:
    """Return what a loop counts: its start and, for each iteration, the same step, which never overflows."""
    cycle = forms.headers.get(home)
    if cycle is None or len(cycle.entries) > 1:
        return None
    outside = [(before, o) for before, o in phi.incoming if before not in cycle.blocks]
    inside = [(before, o) for before, o in phi.incoming if before in cycle.blocks]
    steps = [_step(forms, phi, before, o, depth) for before, o in inside]
    if len(outside) != 1 or not steps or steps[0] is None:
        return None
    step = steps[0]
    start = exact(forms, outside[0][1], outside[0][0], home, depth=depth + 1)
    if start is None or any(other is None or not other.same(step) for other in steps[1:]):
        return None
    changing = [atom for form in (start, step) for atom in form.atoms() if home in atom.cycles]
    product = None if changing else step.times(from_atom(forms.iteration(cycle), WIDE))
    return None if product is None else start.plus(product)


def _step(forms: KnownForms, phi: Phi, before: str, back: Operand, depth: int) -> Form | None:
    """Return what one way back adds to a phi, where that is one sum that does not overflow."""
    made = forms.answer.definitions.get(back) if isinstance(back, Value) else None
    if not isinstance(made, Instruction) or not _is_flagged(made) or made.op == "mul":
        return None
    one, other = made.operands
    home = forms.answer.homes.get(made.result, before)
    if one == phi.result:
        step = exact(forms, other, home, depth=depth + 1)
        return None if step is None else step.scale(1 if made.op == "add" else -1)
    return exact(forms, one, home, depth=depth + 1) if other == phi.result and made.op == "add" else None
