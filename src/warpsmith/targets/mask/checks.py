"""What machines refuse whose values are words of 32 bits: other types, the upper half of 64 bits, addresses as numbers.

Numbers of 64 bits are kept by their lower word there, which is all that the offset of an address needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from warpsmith.base.errors import InputError
from warpsmith.base.source import Span
from warpsmith.ssa.nodes import Instruction, Operand, Value
from warpsmith.ssa.types import F32, I1, I32, I64, Type
from warpsmith.targets.mask.addresses import MIXED, NUMBER

__all__ = ["WordChecks"]


class WordChecks(Struct, frozen=True):
    """`machine`: what it is called; `refuse`: makes the error of a message, a place and helps."""

    machine: str
    refuse: Callable[..., InputError]

    def check_types(self, operands: Sequence[Operand], span: Span | None) -> None:
        """Raise InputError where an operand is neither a word, nor a number of 64 bits, nor a predicate."""
        for one in operands:
            if one.type not in (I1, I32, F32, I64):
                raise self.of_type(one.type, span)

    def check_words(self, operands: Sequence[Operand], span: Span | None) -> None:
        """Raise InputError where an operand is no word."""
        for one in operands:
            if one.type not in (I32, F32):
                raise self.of_type(one.type, span)

    def check_bases(self, bases: Mapping[Value, str], i: Instruction) -> None:
        """Raise InputError where an address is used as a number, or starts from two arguments."""
        if bases.get(i.result, NUMBER) == MIXED:
            raise self.of_two_views(i.span)
        if i.result.type == I64 and bases[i.result] != NUMBER:
            return
        for one in i.operands:
            if isinstance(one, Value) and bases.get(one, NUMBER) != NUMBER:
                message = f"the 64 bits of {bases[one]} are used as a number"
                raise self.refuse(message, i.span, "an address is a view and an offset: use 32-bit numbers")

    def of_type(self, type: Type, span: Span | None) -> InputError:
        """Return the error of a type that is none."""
        message = f"{self.machine} has words of 32 bits, and this is {type}"
        return self.refuse(message, span, "use int, unsigned or float")

    def of_64_bits(self, i: Instruction) -> InputError:
        """Return the error of an instruction that asks for more than lower words."""
        return self.refuse(f"this {i.op} needs all 64 bits of a number", i.span, "use 32-bit numbers: int, unsigned")

    def of_two_views(self, span: Span | None) -> InputError:
        """Return the error of an address that starts from two arguments."""
        message = "this address may start from one of two arguments"
        return self.refuse(message, span, "a view is named in the instruction")
