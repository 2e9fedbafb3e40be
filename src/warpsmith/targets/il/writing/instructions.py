"""One instruction of the kernel IR in AMD IL. What is refused is refused at its line.

Numbers of 64 bits are kept by their lower word, which is all that addresses need: what asks for the upper one is
refused. A value that is the same as a phi may have its register: the phi changes only where its block begins anew, and
from there on no use of the value is reached before the value is computed anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from warpsmith.base.errors import InputError
from warpsmith.front.il.nodes import WHOLE as LETTERS
from warpsmith.front.il.nodes import IlDestination, IlRegister, IlSource
from warpsmith.front.il.ops import ATOMIC
from warpsmith.ssa.nodes import (
    Address,
    Barrier,
    BasicBlock,
    Constant,
    Convert,
    Fence,
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
from warpsmith.targets.il.writing.code import TRUE, IlCode, Word, component
from warpsmith.targets.il.writing.memory import LDS, SPACES, GroupMemory
from warpsmith.targets.il.writing.numbers import FLOATS, ROUNDED
from warpsmith.targets.il.writing.places import LaunchPlaces, find_absolute
from warpsmith.targets.il.writing.refused import refuse
from warpsmith.targets.il.writing.words import PREDICATES, WHOLE
from warpsmith.targets.mask.addresses import MIXED, NUMBER, bases_of
from warpsmith.targets.mask.checks import WordChecks
from warpsmith.targets.mask.code import LaunchWord

__all__ = ["IlInstructions"]

_LOWER: Final = ("add", "sub", "mul", "neg", "and", "or", "xor", "not", "select")
"""Ops whose lower word depends on lower words alone."""
_SAME: Final = ("zext", "trunc", "bitcast", "to_generic", "from_generic")
_WORD: Final = 4
_ALONE: Final = "threads read registers of their own only: exchange through shared memory"
_NO_SUCH: Final[Mapping[str, tuple[str, str]]] = {
    "warp_barrier": ("barrier of a warp", "a barrier of the block: __syncthreads()"),
    "call": ("calls with arguments", "write the function's body in its place"),
    "lanewise": ("functions of mathematics but roots, sines, 2^x and logarithms", "__sinf, exp2f of the hardware"),
    "unmodeled": ("such an instruction", "say it in another way"),
    "vote": ("votes", _ALONE),
    "shuffle": ("shuffles", _ALONE),
    "match": ("matches", _ALONE),
    "reduce": ("reductions of a warp", _ALONE),
    "active": ("reads of the mask", _ALONE),
}
_ATOMIC: Final = {"smin": "min", "smax": "max", "exchange": "xchg"}

_CHECKS: Final = WordChecks("AMD IL", refuse)


class IlInstructions:
    """Writes the instructions of a function. `views`: the number of each pointer argument."""

    def __init__(
        self, function: Function, code: IlCode, views: Mapping[str, int], memory: GroupMemory, places: LaunchPlaces
    ) -> None:
        self.code, self.views, self.memory, self.places = code, views, memory, places
        self.bases = bases_of(function)
        self.absolute = find_absolute(function)
        self.words: dict[Value, Word] = {}
        self.phis: dict[Value, IlRegister] = {}
        for block in function.blocks:
            for phi in block.phis:
                _CHECKS.check_types((phi.result,), phi.span)
                if self.bases.get(phi.result) == MIXED:
                    raise _CHECKS.of_two_views(phi.span)
                self.phis[phi.result] = code.register()

    def phi(self, value: Value) -> IlRegister:
        """Return the register of a phi."""
        return self.phis[value]

    def word(self, operand: Operand) -> Word:
        """Return the word of an operand; of an address that of its offset."""
        match operand:
            case Value():
                return component(self.phis[operand]) if operand in self.phis else self.words[operand]
            case Constant():
                return TRUE * operand.bits if operand.type == I1 else operand.bits & TRUE
            case Undefined():
                return 0

    def block(self, block: BasicBlock) -> None:
        """Write the instructions of a block."""
        for i in block.instructions:
            self.code.span = i.span
            self._write(i)

    def _write(self, i: Instruction) -> None:
        missing = _NO_SUCH.get(i.op)
        if missing is not None:
            raise refuse(f"AMD IL has no {missing[0]}", i.span, missing[1])
        match i.detail:
            case Memory() if i.detail.space == "local":
                self._own(i, i.detail)
            case Memory() if i.op == "load":
                self._load(i, i.detail)
            case Memory() if i.op == "store":
                self._store(i, i.detail)
            case Memory():
                self._change(i, i.detail)
            case Barrier():
                self._wait(i, i.detail)
            case Fence():
                self.code.put("fence_memory_lds" if self.memory.bytes else "fence_memory", None)
            case _ if len(i.results) != 1:
                raise _unknown(i)
            case _:
                self.words[i.result] = self._value(i)

    # --- values

    def _value(self, i: Instruction) -> Word:
        """Return what an instruction computes."""
        if i.result in self.absolute:
            return self.absolute[i.result]
        match i.detail:
            case Param():
                return self._parameter(i, i.detail)
            case Query():
                return self._query(i, i.detail)
            case Address():
                return self.memory.starts[i.detail.symbol]
            case _:
                _CHECKS.check_types((i.result, *i.operands), i.span)
        _CHECKS.check_bases(self.bases, i)
        if i.result.type == I64:
            return self._lower_word(i)
        if any(one.type == I64 for one in i.operands) and i.op != "trunc":
            raise _CHECKS.of_64_bits(i)
        return self._of_32_bits(i)

    def _of_32_bits(self, i: Instruction) -> Word:
        code, words = self.code, [self.word(one) for one in i.operands]
        own, result = i.operands[0].type, i.result.type
        if F32 in (own, result) and i.op not in ("bitcast", "select"):
            return self._of_floats(i, words)
        if i.op in _SAME or i.op == "sext":
            return self._resized(i, words[0])
        known = PREDICATES if own == I1 else WHOLE
        if i.op not in known:
            raise _unknown(i)
        return known[i.op](code, *words)

    def _of_floats(self, i: Instruction, words: list[Word]) -> Word:
        _check_rounding(i)
        code = self.code
        rounding = i.detail.rounding if isinstance(i.detail, Float | Convert) else ""
        if i.op == "fround":
            return code.compute(ROUNDED[rounding], *words)
        if i.op in ("ftosi", "ftoui"):
            name = "ftoi" if i.op == "ftosi" else "ftou"
            return code.compute(name, words[0] if rounding == "zero" else code.compute(ROUNDED[rounding], *words))
        if i.op not in FLOATS:
            raise _unknown(i)
        return FLOATS[i.op](code, *words)

    def _resized(self, i: Instruction, word: Word) -> Word:
        """Return a word as another type has it: a predicate is all ones or 0, and 1 or 0 as a number."""
        own, result = i.operands[0].type, i.result.type
        if own == I1 and result != I1:
            return word if i.op == "sext" else self.code.compute("iand", word, 1)
        if result == I1 and own != I1:
            return WHOLE["neg"](self.code, self.code.compute("iand", word, 1))
        return word

    def _lower_word(self, i: Instruction) -> Word:
        words = [self.word(one) for one in i.operands]
        if i.op in _LOWER or (i.op == "shl" and isinstance(words[1], int)):
            return WHOLE[i.op](self.code, *words)
        if i.op in ("smulwide", "umulwide"):
            return WHOLE["mul"](self.code, *words)
        if i.op in _SAME or i.op == "sext":
            return self._resized(i, words[0])
        raise _CHECKS.of_64_bits(i)

    def _parameter(self, i: Instruction, detail: Param) -> Word:
        if i.result.type == I64 and detail.offset == 0:
            # the offset of an argument's address
            return 0
        _CHECKS.check_types((i.result,), i.span)
        if i.result.type in (I64, I1) or detail.offset % _WORD:
            raise _CHECKS.of_64_bits(i)
        return self.places.word(LaunchWord(detail.parameter, detail.offset))

    def _query(self, i: Instruction, detail: Query) -> Word:
        found = self.places.query(detail.register)
        if found is None or i.result.type != I32:
            raise refuse(
                f"AMD IL has no {detail.register}", i.span, "threads know their place in the group and the grid"
            )
        return found

    # --- memory

    def _address(self, i: Instruction, detail: Memory) -> tuple[int | None, Word]:
        """Return the view of an access (None: the group's memory), and its offset there."""
        if detail.space != "shared" and detail.space not in SPACES:
            raise refuse(f"AMD IL has no {detail.space} memory here", i.span, "views are pointer arguments")
        if detail.order and i.op in ("load", "store"):
            raise refuse(f"AMD IL has no {detail.order} accesses", i.span, "use a fence, or an atomic operation")
        address = i.operands[0]
        base = self.bases.get(address, NUMBER) if isinstance(address, Value) else NUMBER
        offset = self.code.compute("iadd", self.word(address), detail.offset & TRUE)
        if base == MIXED:
            raise _CHECKS.of_two_views(i.span)
        if detail.space == "shared":
            if base != NUMBER:
                message = f"the launch says how large {base} is, the text has to"
                raise refuse(message, i.span, "declare the array in the kernel")
            return None, offset
        if base not in self.views:
            raise refuse("this address does not start from a pointer argument", i.span, "views are pointer arguments")
        return self.views[base], offset

    def _own(self, i: Instruction, detail: Memory) -> None:
        """Write an access to local variables: word n of them is x0[n].x."""
        _CHECKS.check_words((*i.results, *i.operands[1:]), i.span)
        if i.op not in ("load", "store") or detail.order:
            raise refuse(f"AMD IL has no such {i.op} of local variables", i.span, "use words")
        place = self.code.compute("iadd", self.word(i.operands[0]), detail.offset & TRUE)
        first = place >> 2 if isinstance(place, int) else self.code.compute("ushr", place, 2)
        for at, value in enumerate(i.results):
            register = self.code.register()
            self.code.put("mov", IlDestination(register, "x___"), component(self.code.element(first, at)))
            self.words[value] = component(register)
        for at, operand in enumerate(i.operands[1:]):
            self.code.put("mov", IlDestination(self.code.element(first, at), "x___"), self.word(operand))

    def _load(self, i: Instruction, detail: Memory) -> None:
        view, offset = self._address(i, detail)
        _CHECKS.check_words(i.results, i.span)
        if view is None:
            for at, value in enumerate(i.results):
                register = self.code.register()
                address = self.code.compute("iadd", offset, _WORD * at)
                self.code.put("lds_load_id", IlDestination(register, "x___"), address, resource=LDS)
                self.words[value] = component(register)
            return
        register = self.code.register()
        mask = f"{LETTERS[: len(i.results)]:_<4}"
        self.code.put("uav_raw_load_id", IlDestination(register, mask), offset, resource=view)
        for letter, value in zip(LETTERS, i.results, strict=False):
            self.words[value] = component(register, letter)

    def _store(self, i: Instruction, detail: Memory) -> None:
        view, offset = self._address(i, detail)
        values = i.operands[1:]
        _CHECKS.check_words(values, i.span)
        if view is None:
            for at, value in enumerate(values):
                address = self.code.compute("iadd", offset, _WORD * at)
                self.code.put("lds_store_id", None, address, self.word(value), resource=LDS)
            return
        target = IlDestination(IlRegister("mem"), f"{LETTERS[: len(values)]:_<4}")
        self.code.put("uav_raw_store_id", target, offset, self._gathered(values), resource=view)

    def _gathered(self, values: tuple[Operand, ...]) -> Word:
        """Return values as the components of one register."""
        if len(values) == 1:
            return self.word(values[0])
        register = self.code.register()
        for at, value in enumerate(values):
            mask = "_" * at + LETTERS[at] + "_" * (len(LETTERS) - 1 - at)
            self.code.put("mov", IlDestination(register, mask), self.word(value))
        return IlSource(register)

    def _change(self, i: Instruction, detail: Memory) -> None:
        name = i.op.removeprefix("atomic_")
        name = _ATOMIC.get(name, name)
        view, offset = self._address(i, detail)
        _CHECKS.check_words(i.operands[1:], i.span)
        compares = name == "compare" and view is not None
        if i.operands[1].type != I32 or not (compares or (name in ATOMIC and len(i.operands) == 2)):
            where = " in shared memory" if name == "compare" and view is None else ""
            helps = "integers: add, min, max, and, or, xor, and compare and swap of global memory"
            raise refuse(f"AMD IL has no {i.op} of {i.operands[1].type}{where}", i.span, helps)
        register = self.code.register()
        where, number = ("lds", LDS) if view is None else ("uav", view)
        # of a compare and swap the new value comes first
        words = offset, *map(self.word, reversed(i.operands[1:]))
        name = "cmp_xchg" if compares else name
        self.code.put(f"{where}_read_{name}_id", IlDestination(register, "x___"), *words, resource=number)
        for value in i.results:
            self.words[value] = component(register)

    def _wait(self, i: Instruction, detail: Barrier) -> None:
        if detail.reduces or not detail.waits or len(i.operands) > 1 or i.results:
            raise refuse("AMD IL has no barriers of a part of a block, or that reduce", i.span, "__syncthreads()")
        lds = "_lds" if self.memory.bytes and detail.orders != "global" else ""
        memory = "_memory" if detail.orders in ("all", "global", "unknown") else ""
        self.code.put(f"fence_threads{memory}{lds}", None)


def _check_rounding(i: Instruction) -> None:
    """Refuse floats that are rounded in another way than by IL."""
    match i.detail:
        case Float():
            wanted = tuple(ROUNDED) if i.op == "fround" else ("", "nearest")
            if i.detail.flush or i.detail.saturate or i.detail.rounding not in wanted:
                raise refuse(f"AMD IL rounds to nearest, and keeps small numbers: no such {i.op}", i.span)
        case Convert():
            wanted = tuple(ROUNDED) if i.op in ("ftosi", "ftoui") else ("", "nearest")
            if i.detail.rounding not in wanted:
                raise refuse(f"this {i.op} rounds in a way that AMD IL has not", i.span)
        case _:
            pass


def _unknown(i: Instruction) -> InputError:
    return refuse(f"AMD IL has nothing for {i.op} here", i.span, "say it by arithmetic of 32 bits")
