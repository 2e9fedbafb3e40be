"""Basis of the code generator: vectors of lanes, masks, and one builder of LLVM IR.

A warp of W lanes is a vector of V ≥ W elements, V the next power of two from 8 on; lanes beyond W are never active. A
value of the kernel IR is <V x T>: predicates <V x i1>, floats as floats (half precision as its bits). A mask in
control flow is one integer of V bits, lane 0 lowest: joins and tests are scalar arithmetic then; where a vector is
selected it is cast to <V x i1>."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from llvmlite import ir

from warpsmith.ssa.types import BF16, F16, F32, F64, Type

__all__ = [
    "I1",
    "I8",
    "I32",
    "I64",
    "POINTER",
    "VOID",
    "Emit",
    "Ir",
    "constants",
    "element",
    "element_of",
    "lanes_of",
    "scalar_of",
    "undefined",
]

Ir = Any
"""A value, type or block of llvmlite, which has no types for mypy."""

I1: Final[Ir] = ir.IntType(1)
I8: Final[Ir] = ir.IntType(8)
I32: Final[Ir] = ir.IntType(32)
I64: Final[Ir] = ir.IntType(64)
POINTER: Final[Ir] = ir.PointerType()
VOID: Final[Ir] = ir.VoidType()


_SIGNS: Final = 8
"""Lanes of 32 bits whose signs AVX takes at once."""


def lanes_of(width: int) -> int:
    """Return how many elements a vector has for a warp of `width` lanes.

    >>> [lanes_of(width) for width in (1, 8, 9, 32, 33, 64)]
    [8, 8, 16, 32, 64, 64]
    """
    return max(8, 1 << (width - 1).bit_length())


def element(type: Type) -> Ir:
    """Return the LLVM type of a value in one lane."""
    if type == F32:
        return ir.FloatType()
    if type == F64:
        return ir.DoubleType()
    return ir.IntType(16 if type in (F16, BF16) else type.bits)


def element_of(type: Ir) -> Ir:
    """Return the LLVM type of one lane of a vector; of what is one lane, its own."""
    return type.element if isinstance(type, ir.VectorType) else type


def scalar_of(value: Ir) -> Ir:
    """Return the LLVM type of a value in one lane."""
    return element_of(value.type)


@lru_cache(maxsize=256)
def _vector(scalar: Ir, lanes: int) -> Ir:
    """Return the type of a vector, the same each time, since llvmlite keeps the text of each."""
    return ir.VectorType(scalar, lanes)


class _Vector(ir.Constant):  # type: ignore[misc]
    """A vector that is the same in all lanes, and written so: llvmlite would write each of them."""

    def __init__(self, type: Ir, one: Ir, text: str) -> None:
        self.type, self.constant, self.text = type, (one,) * type.count, text

    def _get_reference(self) -> str:
        return self.text


@lru_cache(maxsize=4096)
def _splat(scalar: Ir, lanes: int, number: int) -> Ir:
    """Return a vector of integers that are the same, the same vector each time."""
    one = ir.Constant(scalar, number)
    return _Vector(_vector(scalar, lanes), one, f"splat ({one})")


@lru_cache(maxsize=1024)
def constants(scalar: Ir, values: tuple[int, ...]) -> Ir:
    """Return a vector of integers, the same vector each time."""
    return ir.Constant(_vector(scalar, len(values)), values)


@lru_cache(maxsize=256)
def undefined(scalar: Ir, lanes: int) -> Ir:
    """Return a vector that has nothing in any lane yet."""
    return _Vector(_vector(scalar, lanes), ir.Undefined, "undef")


class Emit:
    """A builder at a place in a function, for vectors that hold a warp of `width` lanes. How many lanes a warp has, the
    code does not know: what needs it reads it from the record of the launch."""

    def __init__(self, module: Ir, width: int) -> None:
        self.module = module
        self.lanes = lanes_of(width)
        self.mask_type: Ir = ir.IntType(self.lanes)
        self.b: Ir = ir.IRBuilder()
        self.takes_signs = False
        """Whether processors take the signs of eight numbers at once (AVX), and have no registers of masks."""

    def again(self) -> Emit:
        """Return a builder for another function."""
        made = Emit(self.module, self.lanes)
        made.takes_signs = self.takes_signs
        return made

    def at(self, block: Ir) -> None:
        """Write to the end of an LLVM block from now on."""
        self.b.position_at_end(block)

    def vector(self, scalar: Ir) -> Ir:
        """Return the type of a vector of lanes."""
        return _vector(scalar, self.lanes)

    # --- constants

    def splat_constant(self, scalar: Ir, number: int) -> Ir:
        """Return a vector with one integer in all lanes."""
        return _splat(scalar, self.lanes, number)

    def pattern(self, scalar: Ir, bits: int) -> Ir:
        """Return a vector with one bit pattern in all lanes."""
        if isinstance(scalar, ir.IntType):
            return self.splat_constant(scalar, bits)
        whole = ir.IntType(32 if isinstance(scalar, ir.FloatType) else 64)
        return self.b.bitcast(self.splat_constant(whole, bits), self.vector(scalar))

    def real(self, scalar: Ir, number: float) -> Ir:
        """Return a vector with one floating-point number in all lanes."""
        return ir.Constant(self.vector(scalar), [ir.Constant(scalar, number)] * self.lanes)

    def each_lane(self, scalar: Ir, number: Callable[[int], int]) -> Ir:
        """Return a vector with a constant for each lane."""
        return constants(scalar, tuple(map(number, range(self.lanes))))

    def mask(self, number: int) -> Ir:
        """Return a constant mask."""
        return ir.Constant(self.mask_type, number)

    def splat(self, value: Ir) -> Ir:
        """Return a vector with one scalar in all lanes."""
        nothing = undefined(value.type, self.lanes)
        return self.b.shuffle_vector(
            self.b.insert_element(nothing, value, I32(0)), nothing, self.splat_constant(I32, 0)
        )

    # --- masks

    def unpack_mask(self, mask: Ir) -> Ir:
        """Return a mask as <V x i1>."""
        return self.b.bitcast(mask, self.vector(I1))

    def bits(self, predicate: Ir) -> Ir:
        """Return <V x i1> as a mask. Where a comparison makes numbers that are all ones or zero, to take their signs
        eight at a time is less work than to pack the whole."""
        compared = getattr(predicate, "opname", "") in ("icmp", "fcmp")
        if not self.takes_signs or not compared or _bits_of(predicate.operands[0]) != 32:
            return self.b.bitcast(predicate, self.mask_type)
        signs = self.b.bitcast(self.b.sext(predicate, self.vector(I32)), self.vector(ir.FloatType()))
        type = I64 if self.lanes == 64 else I32
        whole: Ir = None
        for start in range(0, self.lanes, _SIGNS):
            places = constants(I32, tuple(range(start, start + _SIGNS)))
            part = self.b.shuffle_vector(signs, undefined(ir.FloatType(), self.lanes), places)
            taken = self.intrinsic("llvm.x86.avx.movmsk.ps.256", (), (part,), I32)
            if self.lanes == 64:
                taken = self.b.zext(taken, type)
            whole = taken if whole is None else self.b.or_(whole, self.b.shl(taken, type(start)))
        return whole if self.lanes >= 32 else self.b.trunc(whole, self.mask_type)

    def any(self, mask: Ir) -> Ir:
        """Return whether a mask has a lane."""
        return self.b.icmp_unsigned("!=", mask, ir.Constant(mask.type, 0))

    def count(self, mask: Ir) -> Ir:
        """Return how many lanes a mask has, as i64."""
        number = self.intrinsic("llvm.ctpop", (mask.type,), (mask,))
        return number if mask.type == I64 else self.b.zext(number, I64)

    def lowest(self, mask: Ir) -> Ir:
        """Return the number of the lowest lane of a mask that has one, as i64."""
        number = self.intrinsic("llvm.cttz", (mask.type,), (mask, ir.Constant(I1, 1)))
        return number if mask.type == I64 else self.b.zext(number, I64)

    # --- memory

    def word(self, record: Ir, number: int) -> Ir:
        """Return the address of a 64-bit word of a record."""
        return self.b.gep(record, [ir.Constant(I64, number)], source_etype=I64)

    def read(self, record: Ir, number: int) -> Ir:
        """Return a word of a record."""
        return self.b.load(self.word(record, number), typ=I64, align=8)

    def write(self, record: Ir, number: int, value: Ir) -> None:
        """Set a word of a record."""
        self.b.store(value, self.word(record, number), align=8)

    def read_at(self, record: Ir, number: Ir) -> Ir:
        """Return a word of a record whose number is known when it runs."""
        return self.b.load(self.b.gep(record, [number], source_etype=I64), typ=I64, align=8)

    def write_at(self, record: Ir, number: Ir, value: Ir) -> None:
        """Set a word of a record whose number is known when it runs."""
        self.b.store(value, self.b.gep(record, [number], source_etype=I64), align=8)

    def raise_to(self, record: Ir, number: int, value: Ir) -> None:
        """Set a word to a signed number where that is more."""
        old = self.read(record, number)
        self.write(record, number, self.b.select(self.b.icmp_signed(">", value, old), value, old))

    def is_asked(self, record: Ir, number: int) -> Ir:
        """Return whether a word that other threads write is not 0, as it is now."""
        word = self.b.load_atomic(self.word(record, number), "monotonic", 8, typ=I64)
        return self.b.icmp_unsigned("!=", word, I64(0))

    def add_to(self, address: Ir, value: Ir) -> None:
        """Add to a 64-bit word in memory."""
        self.b.store(self.b.add(self.b.load(address, typ=I64, align=8), value), address, align=8)

    def pointer(self, address: Ir) -> Ir:
        """Return an address, or a vector of them, as a pointer."""
        vector = isinstance(address.type, ir.VectorType)
        return self.b.inttoptr(address, self.vector(POINTER) if vector else POINTER)

    # --- calls and control

    def intrinsic(self, name: str, types: Sequence[Ir], operands: Sequence[Ir], made: Ir = None) -> Ir:
        """Call an intrinsic of LLVM: its suffixes are `types`, its result is of type `made` (default: operand 0's)."""
        full = ".".join([name, *(_suffix(type) for type in types)])
        found = self.module.globals.get(full)
        if found is None:
            result = operands[0].type if made is None else made
            found = ir.Function(self.module, ir.FunctionType(result, [o.type for o in operands]), full)
        return self.b.call(found, operands)

    def block(self, name: str) -> Ir:
        """Return a new LLVM block of the function that is being written."""
        return self.b.function.append_basic_block(name)

    def when(self, condition: Ir, body: Callable[[], None], *, likely: bool | None = None) -> None:
        """Write `if (condition) body`."""
        with self.b.if_then(condition, likely=likely):
            body()

    def while_bits(self, mask: Ir, body: Callable[[Ir, Ir], Ir]) -> None:
        """Write a loop that goes on while a mask has lanes: `body` gets the mask and its lowest lane, and returns what
        is left."""
        slot = self.slot(mask.type)
        self.b.store(mask, slot)
        head, inside, done = self.block("head"), self.block("body"), self.block("done")
        self.b.branch(head)
        self.at(head)
        left = self.b.load(slot, typ=mask.type)
        self.b.cbranch(self.any(left), inside, done)
        self.at(inside)
        self.b.store(body(left, self.lowest(left)), slot)
        self.b.branch(head)
        self.at(done)

    def count_up(self, first: Ir, last: Ir, body: Callable[[Ir], None]) -> None:
        """Write `for (number = first; number < last; number++) body`, of 64 bits."""
        slot = self.slot(I64)
        self.b.store(first, slot)
        head, inside, done = self.block("head"), self.block("inside"), self.block("done")
        self.b.branch(head)
        self.at(head)
        number = self.b.load(slot, typ=I64)
        self.b.cbranch(self.b.icmp_unsigned("<", number, last), inside, done)
        self.at(inside)
        body(number)
        self.b.store(self.b.add(self.b.load(slot, typ=I64), I64(1)), slot)
        self.b.branch(head)
        self.at(done)

    def slot(self, type: Ir) -> Ir:
        """Return a variable of the function, which LLVM turns into a register."""
        entry = self.b.function.entry_basic_block
        with self.b.goto_block(entry):
            if entry.instructions:
                self.b.position_before(entry.instructions[0])
            made = self.b.alloca(type)
            made.type = POINTER  # llvmlite still thinks of what it points to
            return made

    def remove_lanes(self, mask: Ir, lanes: Ir) -> Ir:
        """Return a mask without some lanes."""
        return self.b.and_(mask, self.b.not_(lanes))

    def remove_lowest(self, mask: Ir) -> Ir:
        """Return a mask without its lowest lane."""
        return self.b.and_(mask, self.b.sub(mask, ir.Constant(mask.type, 1)))


def _bits_of(vector: Ir) -> int:
    """Return how many bits an element has."""
    return {"float": 32, "double": 64}.get(str(vector.type.element)) or int(getattr(vector.type.element, "width", 64))


def _suffix(type: Ir) -> str:
    if isinstance(type, ir.VectorType):
        return f"v{type.count}{_suffix(type.element)}"
    if isinstance(type, ir.PointerType):
        return "p0"
    return {"float": "f32", "double": "f64"}.get(str(type), str(type))
