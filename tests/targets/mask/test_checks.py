"""What machines with words of 32 bits refuse."""

from __future__ import annotations

import pytest

from warpsmith.base.errors import InputError
from warpsmith.ssa.nodes import Constant, Instruction, Value
from warpsmith.ssa.types import F32, F64, I1, I32, I64
from warpsmith.targets.mask.addresses import MIXED, NUMBER
from warpsmith.targets.mask.checks import WordChecks
from warpsmith.targets.mask.refused import refuse

CHECKS = WordChecks("the machine", refuse)


def test_types() -> None:
    CHECKS.check_types([Value(one) for one in (I1, I32, F32, I64)], None)
    CHECKS.check_words([Value(I32), Constant(F32, 0)], None)
    for check, type in ((CHECKS.check_types, F64), (CHECKS.check_words, I1), (CHECKS.check_words, I64)):
        with pytest.raises(InputError, match="the machine has words of 32 bits, and this is"):
            check([Value(type)], None)


def test_an_address_is_no_number() -> None:
    address, number = Value(I64), Value(I64)
    bases = {address: "a", number: NUMBER}
    moved = Instruction("add", (address, number), (Value(I64),))
    CHECKS.check_bases({**bases, moved.result: "a"}, moved)
    with pytest.raises(InputError, match="the 64 bits of a are used as a number"):
        CHECKS.check_bases(bases, Instruction("eq", (address, number), (Value(I1),)))
    with pytest.raises(InputError, match="this address may start from one of two arguments"):
        CHECKS.check_bases({**bases, moved.result: MIXED}, moved)
