"""One instruction of the kernel IR in the mask ISA. What is refused is refused at its line.

Numbers of 64 bits are kept by their lower word, which is all that addresses need: what asks for the upper one is
refused. A value that is the same as a phi may have its register: the phi changes only where its block begins anew, and
from there on no use of the value is reached before the value is computed anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from warpsmith.base.errors import InputError
from warpsmith.ssa.nodes import (
    BasicBlock,
    Constant,
    Convert,
    Float,
    Function,
    Instruction,
    Memory,
    Operand,
    Param,
    Query,
    Undefined,
    Value,
)
from warpsmith.ssa.types import F32, I1, I32, I64
from warpsmith.targets.mask.addresses import MIXED, NUMBER, bases_of
from warpsmith.targets.mask.checks import WordChecks
from warpsmith.targets.mask.code import LaneNumber, LaunchWord, MaskCode, Virtual, Word
from warpsmith.targets.mask.numbers import FLOATS
from warpsmith.targets.mask.refused import refuse
from warpsmith.targets.mask.words import WHOLE, opposite

__all__ = ["Instructions"]

_LOWER: Final = ("add", "sub", "mul", "neg", "and", "or", "xor", "not", "select")
"""Ops whose lower word depends on lower words alone."""
_SAME: Final = ("zext", "trunc", "bitcast", "to_generic", "from_generic")
_SPACES: Final = ("global", "generic", "constant")
_WHOLE: Final = 0xFFFFFFFF
_ALONE: Final = "lanes read registers of their own only"
_NO_SUCH: Final[Mapping[str, tuple[str, str]]] = {
    "barrier": ("barrier", "waves of a group do not wait for each other"),
    "warp_barrier": ("barrier of a warp", "lanes of a wave run together"),
    "fence": ("memory fence", "leave it out where no other thread reads what is written"),
    "call": ("calls with arguments", "write the function's body in its place"),
    "address": ("variables in memory", "views are pointer arguments"),
    "ffma": ("fused multiply-add", "mad.f32 rounds twice: write a * b + c, in PTX mul and add (nvcc -fmad=false)"),
    "atomic": ("atomic operations", "let each thread write a word of its own"),
    "vote": ("votes", _ALONE),
    "shuffle": ("shuffles", _ALONE),
    "match": ("matches", _ALONE),
    "reduce": ("reductions of a warp", _ALONE),
    "active": ("reads of the mask", _ALONE),
}

_CHECKS: Final = WordChecks("the mask ISA", refuse)


class Instructions:
    """Writes the instructions of a function. `views`: the number of each pointer argument."""

    def __init__(
        self,
        function: Function,
        code: MaskCode,
        views: Mapping[str, int],
        queries: Mapping[str, Word],
        threads: frozenset[Value],
    ) -> None:
        self.code, self.views = code, views
        self.queries, self.threads = queries, threads
        self.bases = bases_of(function)
        self.words: dict[Value, Word] = {}
        self.phis: dict[Value, Virtual] = {}
        for block in function.blocks:
            for phi in block.phis:
                _CHECKS.check_types((phi.result,), phi.span)
                if self.bases.get(phi.result) == MIXED:
                    raise _CHECKS.of_two_views(phi.span)
                self.phis[phi.result] = code.virtual()
        self.made = {i.results[0]: i for _, i in function.instructions() if i.results}

    def phi(self, value: Value) -> Virtual:
        """Return the register of a phi."""
        return self.phis[value]

    def word(self, operand: Operand) -> Word:
        """Return the word of an operand; of an address that of its offset."""
        match operand:
            case Value():
                return self.phis[operand] if operand in self.phis else self.words[operand]
            case Constant():
                return operand.bits & _WHOLE
            case Undefined():
                return 0

    def block(self, block: BasicBlock) -> None:
        """Write the instructions of a block."""
        for i in block.instructions:
            self._write(i)

    def _write(self, i: Instruction) -> None:
        missing = _NO_SUCH.get("atomic" if i.op.startswith("atomic_") else i.op)
        if missing is not None:
            raise refuse(f"the mask ISA has no {missing[0]}", i.span, missing[1])
        if i.op == "load":
            self._load(i)
        elif i.op == "store":
            self._store(i)
        elif len(i.results) != 1:
            raise _unknown(i)
        else:
            self.words[i.result] = self._value(i)

    def _value(self, i: Instruction) -> Word:
        """Return what an instruction computes."""
        if i.result in self.threads:
            return LaneNumber("thread_id")
        match i.detail:
            case Param():
                return self._parameter(i, i.detail)
            case Query():
                return self._query(i, i.detail)
            case _:
                _CHECKS.check_types((i.result, *i.operands), i.span)
        _CHECKS.check_bases(self.bases, i)
        if i.result.type == I64:
            return self._lower_word(i)
        if any(one.type == I64 for one in i.operands) and i.op != "trunc":
            raise _CHECKS.of_64_bits(i)
        return self._of_32_bits(i)

    def _of_32_bits(self, i: Instruction) -> Word:
        words = [self.word(one) for one in i.operands]
        if i.op in FLOATS and F32 in (i.result.type, i.operands[0].type):
            _check_rounding(i)
            return FLOATS[i.op](self.code, *words)
        if i.op == "bitcast" and i.operands[0].type == F32:
            self._check_bits(i)
        if i.op in _SAME:
            return self._cut(i, words[0])
        if i.op == "sext":
            return opposite(self.code, words[0])
        if i.op not in WHOLE:
            raise _unknown(i)
        if i.op == "not" and i.result.type == I1:
            return self.code.compute("sub.u32", 1, words[0])
        return WHOLE[i.op](self.code, *words)

    def _cut(self, i: Instruction, word: Word) -> Word:
        return self.code.compute("and", word, 1) if i.result.type == I1 and i.operands[0].type != I1 else word

    def _lower_word(self, i: Instruction) -> Word:
        words = [self.word(one) for one in i.operands]
        if i.op in _LOWER:
            return WHOLE[i.op](self.code, *words)
        if i.op == "shl" and isinstance(words[1], int):
            return WHOLE["shl"](self.code, *words)
        if i.op in ("smulwide", "umulwide"):
            return self.code.compute("mul.u32", *words)
        if i.op in _SAME:
            return words[0]
        if i.op == "sext":
            return opposite(self.code, words[0]) if i.operands[0].type == I1 else words[0]
        raise _CHECKS.of_64_bits(i)

    def _check_bits(self, i: Instruction) -> None:
        operand = i.operands[0]
        source = self.made.get(operand) if isinstance(operand, Value) else None
        if isinstance(operand, Value) and (source is None or source.op not in ("load", "param", "bitcast")):
            message = "the bits of a computed float are used as a number"
            raise refuse(message, i.span, "what is no number has other bits in the mask ISA")

    def _parameter(self, i: Instruction, detail: Param) -> Word:
        if i.result.type == I64 and detail.offset == 0:
            # the offset of an argument's address
            return 0
        _CHECKS.check_types((i.result,), i.span)
        if i.result.type in (I64, I1):
            raise _CHECKS.of_64_bits(i)
        return self.code.load_word(LaunchWord(detail.parameter, detail.offset))

    def _query(self, i: Instruction, detail: Query) -> Word:
        found = self.queries.get(detail.register)
        if found is None or i.result.type != I32:
            raise refuse(f"the mask ISA has no {detail.register}", i.span, "threads know their place in the launch")
        return found

    # --- memory

    def _address(self, i: Instruction) -> tuple[int, Word, Memory]:
        """Return the view of an access, its offset there, and the rest."""
        detail, address = i.detail, i.operands[0]
        assert isinstance(detail, Memory)
        if detail.space not in _SPACES:
            raise refuse(f"the mask ISA has no {detail.space} memory", i.span, "views are pointer arguments")
        if detail.order:
            raise refuse(f"the mask ISA has no {detail.order} accesses", i.span)
        base = self.bases.get(address, NUMBER) if isinstance(address, Value) else NUMBER
        if base == MIXED:
            raise _CHECKS.of_two_views(i.span)
        if base not in self.views:
            raise refuse("this address does not start from a pointer argument", i.span, "views are pointer arguments")
        return self.views[base], self.code.compute("add.u32", self.word(address), detail.offset & _WHOLE), detail

    def _load(self, i: Instruction) -> None:
        number, offset, _ = self._address(i)
        _CHECKS.check_words(i.results, i.span)
        for at, value in enumerate(i.results):
            self.words[value] = self.code.load(_component(f"t{number}", at), offset)

    def _store(self, i: Instruction) -> None:
        number, offset, _ = self._address(i)
        _CHECKS.check_words(i.operands[1:], i.span)
        for at, value in enumerate(i.operands[1:]):
            self.code.store(_component(f"u{number}", at), offset, self.word(value))


def _component(view: str, at: int) -> str:
    return view if at == 0 else f"{view}.{'xyzw'[at]}"


def _check_rounding(i: Instruction) -> None:
    """Refuse floats that are rounded in another way than by the ISA."""
    match i.detail:
        case Float():
            if i.detail.flush or i.detail.saturate or i.detail.rounding not in ("", "nearest"):
                raise refuse(f"the mask ISA rounds to nearest, and keeps all digits: no such {i.op}", i.span)
        case Convert():
            wanted = ("zero",) if i.op in ("ftosi", "ftoui") else ("", "nearest")
            if i.detail.rounding not in wanted:
                raise refuse(f"this {i.op} rounds in a way that the mask ISA has not", i.span)
        case _:
            if i.op in ("ftosi", "ftoui"):
                raise refuse(f"this {i.op} rounds to nearest, which the mask ISA has not", i.span, "cut it: (int)x")


def _unknown(i: Instruction) -> InputError:
    return refuse(
        f"the mask ISA has nothing for {i.op}", i.span, "of floats it has + - * / < >, of integers also and, or"
    )
