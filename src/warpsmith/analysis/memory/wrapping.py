"""How often a sum has wrapped, and what its bits are: what widening, dividing and masking make of it.

    index = 4·n·tid.y + tid.x          32 bits; as 64 bits: the same sum - 2**32 · wraps

How often is 0 where the range of the sum says so; the same for all threads of a group where what they share is a
multiple of a power of two that the rest stays below (no thread can step over the edge alone); else an unknown `wrap`.
"""

from __future__ import annotations

import math
from typing import Final

from warpsmith.analysis.affine.symbols import Atom, Form, Range, constant_form, from_atom
from warpsmith.analysis.memory.lanes import BlockLanes

__all__ = ["Wrapping"]

_FAR: Final = 1 << 62


class Wrapping:
    """The answers for the threads of one group."""

    def __init__(self, lanes: BlockLanes) -> None:
        self.lanes = lanes

    def extend(self, form: Form, bits: int, *, signed: bool) -> Form | None:
        """Return the number that a sum is once it has wrapped, in more bits."""
        if form.bits < 8:
            numbers = self.lanes.numbers(form)
            return None if numbers is None else self.lanes.form([-n if signed else n for n in numbers], bits)
        wraps = self.wraps(form, signed=signed)
        # a coefficient may have been any number modulo 2**bits; the sum is the one that is taken from here on
        whole = Form(bits, dict(form.terms))
        return whole.plus(wraps.resize(bits), -(1 << form.bits))

    def wraps(self, form: Form, *, signed: bool) -> Form:
        """Return floor((form + half) / 2**bits) as a form of 64 bits; half is 0 for unsigned numbers."""
        bits = form.bits
        half = 1 << (bits - 1) if signed else 0
        low, high = form.range()
        if math.isfinite(low) and math.isfinite(high):
            first, last = (int(low) + half) >> bits, (int(high) + half) >> bits
            if first == last:
                return constant_form(first, 64)
        numbers = self.lanes.numbers(form)
        if numbers is not None:
            # coefficients are near 0, but the sum may still be far from it
            total = self._whole(form)
            if total is not None:
                return self.lanes.form([(n + half) >> bits for n in total], 64, "wraps")
        alike = self.steps_together(form)
        cycles = frozenset(c for atom in form.atoms() for c in atom.cycles)
        atom = self.lanes.atom(
            ("wraps", form.key, signed),
            Atom(
                "wraps",
                "shared" if alike else "wrap",
                cycles=cycles,
                wraps=True,
                memory=any(a.memory for a in form.atoms()),
            ),
        )
        return from_atom(atom, 64)

    def steps_together(self, form: Form) -> bool:
        """Whether no thread of a group can be beyond the edge of the range while another is not."""
        if form.has("own", "wrap"):
            return False
        rest, own = split(form)
        if any(atom.kind == "index" for atom in rest.atoms()):
            return False
        numbers = self._whole(own)
        r, power = rest.residue()
        power = min(power, form.bits - 1)
        r %= 1 << power
        if numbers is None:
            return False
        return all(len({(r + numbers[t]) >> power for t in group}) == 1 for group in self.lanes.groups())

    def _whole(self, form: Form) -> tuple[int, ...] | None:
        """Return the sum of each thread as it is before it wraps; None where that is not known."""
        low, high = form.range()
        return self.lanes.numbers(Form(64, dict(form.terms))) if low > -_FAR and high < _FAR else None

    # --- bits

    def low(self, form: Form, count: int) -> tuple[int, ...] | None:
        """Return the low bits of each thread, None where they are not known."""
        rest, own = split(form)
        numbers = self.lanes.numbers(own)
        r, power = rest.residue()
        if numbers is None or power < count:
            return None
        return tuple((r + n) % (1 << count) for n in numbers)

    def shared_bits(self, form: Form) -> int:
        """Return how many low bits of what threads share are known."""
        return min(split(form)[0].residue()[1], form.bits)

    def shifted_right(self, form: Form, amount: int, *, signed: bool) -> Form | None:
        """Return the number that a sum is once it has wrapped, divided by 2**amount and rounded down."""
        bits = form.bits
        if form.numeric or bits < 8:
            return None
        if not 0 < amount < bits:
            return None
        rest, own = split(form)
        numbers = self._whole(own)
        if rest.residue()[1] <= amount and self.steps_together(form):
            return self._shared_bits(form, amount, signed=signed)
        if numbers is None or any(c % (1 << amount) for c in rest.terms.values()):
            return None
        wide = Form(64, {m: c >> amount for m, c in rest.terms.items()})
        table = self.lanes.form([n >> amount for n in numbers], 64)
        wraps = self.wraps(form, signed=signed)
        return wide.plus(table).plus(wraps, -(1 << (bits - amount))).resize(bits)

    def _shared_bits(self, form: Form, amount: int, *, signed: bool) -> Form:
        """Return the high bits of a sum, which no thread of a group changes by what it adds."""
        cycles = frozenset(c for atom in form.atoms() for c in atom.cycles)
        bits = form.bits - amount
        range: Range = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        atom = self.lanes.atom(
            ("high", form.key, amount, signed),
            Atom(
                "high bits",
                "shared",
                range=range,
                cycles=cycles,
                memory=any(atom.memory for atom in form.atoms()),
            ),
        )
        return from_atom(atom, form.bits)


def split(form: Form) -> tuple[Form, Form]:
    """Return what threads do not know by their index, and what they do, numbers included."""
    own = {m: c for m, c in form.terms.items() if all(a.kind == "index" for a in m)}
    return Form(form.bits, {m: c for m, c in form.terms.items() if m not in own}), Form(form.bits, own)
