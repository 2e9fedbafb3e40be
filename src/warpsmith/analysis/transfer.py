"""What each op makes of sums over unknowns.

    add sub neg not mul shl trunc          of the sums themselves: they hold modulo 2**bits
    zext sext mul.wide shr                 of the number that the sum is after it has wrapped: P - 2**bits · wraps
    and or xor                             where the low bits of all threads are known
    select                                 other + condition · (one - other)
    any other                              for each thread by itself where all operands are numeric; else an unknown

How often a sum has wrapped is 0 where its range says so; the same for all threads of a group where what they share is
a multiple of a power of two that the rest stays below (no thread can step over the edge alone); else an unknown `wrap`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from warpsmith.analysis.facts import Bound, LaunchShape
from warpsmith.analysis.lanes import Lanes
from warpsmith.analysis.symbols import Form, Kind, Range, Residue, constant_form, from_atom
from warpsmith.analysis.uniformity import Uniformity
from warpsmith.machine.limits import MAX_GRID
from warpsmith.ssa.nodes import Address, Instruction, Memory, Module, Param, Query, Symbol, Text, Value
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics import lane as compute

__all__ = ["Transfer", "short_name"]

Operands = Sequence[Form | None]

_LOCAL_NAME: Final = re.compile(r"_ZZ.*E(\d+)(\w+?)(?:_\d+)?$")
_FAR: Final = 1 << 62
_PARAMETER: Final = re.compile(r".*_(param_\d+)$")


def short_name(name: str) -> str:
    """Return the name of a parameter or variable as its author wrote it, as far as the input tells.

    >>> short_name("_ZZ4scanPfE4tile"), short_name("_Z4scanPf_param_0")
    ('tile', 'param_0')
    """
    found = _LOCAL_NAME.match(name)
    if found and len(found[2]) >= int(found[1]):
        return found[2][: int(found[1])]
    parameter = _PARAMETER.match(name)
    return parameter[1] if parameter else name


_LANE_MASKS: Final[Mapping[str, Callable[[int], int]]] = {
    "eq": lambda bit: bit,
    "lt": lambda bit: bit - 1,
    "le": lambda bit: bit * 2 - 1,
    "gt": lambda bit: -2 * bit,
    "ge": lambda bit: -bit,
}


class Transfer:
    """The rules, for one function, group and launch shape."""

    def __init__(self, module: Module, answer: Uniformity, lanes: Lanes, shape: LaunchShape) -> None:
        self.answer, self.lanes, self.shape = answer, lanes, shape
        inside = (symbol for function in module.functions for symbol in function.symbols)
        self.symbols: dict[str, Symbol] = {symbol.name: symbol for symbol in (*module.symbols, *inside)}
        self.entry_parameters = {p.name for p in answer.function.parameters}
        self._by_thread: dict[object, Form] = {}

    def result(self, i: Instruction, value: Value, operands: Operands, cycles: frozenset[str]) -> Form:
        """Return what a result of an instruction is."""
        made = self._source(i, value, cycles)
        known = [form for form in operands if form is not None]
        if made is None and len(known) == len(operands) and len(i.results) == 1:
            rule = _RULES.get(i.op)
            made = rule(self, i, known) if rule is not None else None
            made = self._each(i, known) if made is None else made
        if made is None:
            made = self._opaque(i, value, operands, cycles)
        if made.has("own", "wrap") and value not in self.answer.divergent:
            memory = any(atom.memory for atom in made.atoms())
            return self._value(value, cycles, memory=memory, residue=made.residue())
        return made

    def any_of(self, bits: int) -> Range:
        """Return the range of all numbers of `bits` bits, as the sums have them: signed; a bit is 0 or 1."""
        return (0, 1) if bits == 1 else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)

    # --- where numbers come from

    def _source(self, i: Instruction, value: Value, cycles: frozenset[str]) -> Form | None:
        match i.detail:
            case Query(register):
                return self._query(register, value.type.bits) or self._value(value, cycles)
            case Param(name, offset):
                return self._param(name, offset, value.type.bits) or self._value(value, cycles)
            case Address(symbol):
                return self._address(symbol, value.type.bits) or self._value(value, cycles)
            case Memory():
                return self._value(value, cycles, memory=True)
            case _:
                return None

    def _query(self, register: str, bits: int) -> Form | None:
        base, _, axis = register.partition(".")
        at = "xyz".find(axis) if axis else -1
        if base == "tid" and at >= 0:
            return self.lanes.axis(at, bits)
        if base in ("ntid", "ctaid", "nctaid") and at >= 0:
            return self._launched(base, at, bits)
        if register == "laneid":
            return self.lanes.form([t % self.lanes.warp for t in range(self.lanes.count)], bits, "laneid")
        if register.startswith("lanemask_"):
            lanes, rule = (t % self.lanes.warp for t in range(self.lanes.count)), _LANE_MASKS[register[-2:]]
            return self.lanes.form([rule(1 << lane) & ((1 << self.lanes.warp) - 1) for lane in lanes], bits, register)
        if register == "nwarpid":
            return constant_form(-(-self.lanes.count // self.lanes.warp), bits)
        return None

    def _launched(self, base: str, axis: int, bits: int) -> Form:
        grid = self.shape.grid
        if base == "ntid":
            return constant_form(self.lanes.block[axis], bits)
        if grid is not None and (base == "nctaid" or grid[axis] == 1):
            return constant_form(grid[axis] if base == "nctaid" else 0, bits)
        name = f"{base}.{'xyz'[axis]}"
        most = MAX_GRID[axis]
        range: Range = (1, most) if base == "nctaid" else (0, (grid[axis] if grid else most) - 1)
        return from_atom(self.lanes.atom(name, name, "shared", range=range), bits)

    def _param(self, name: str, offset: int, bits: int) -> Form | None:
        if name not in self.entry_parameters or not self.answer.function.kernel:
            return None
        short = short_name(name)
        for given in (name, short):
            if given in self.shape.arguments and offset == 0:
                return constant_form(self.shape.arguments[given], bits)
        bounds = [b for b in self.shape.assumptions if b.parameter in (name, short) and offset == 0]
        low, high = self.any_of(bits)
        for bound in bounds:
            low, high = _narrowed((low, high), bound)
        even = math.gcd(*(bound.multiple for bound in bounds)) if bounds else 1
        shown = short if offset == 0 else f"{short}+{offset}"
        residue = (0, (even & -even).bit_length() - 1)
        atom = self.lanes.atom(
            ("param", name, offset, bits), shown, "shared", range=(low, high), residue=residue, argument=shown
        )
        return from_atom(atom, bits)

    def _address(self, name: str, bits: int) -> Form | None:
        symbol = self.symbols.get(name)
        if symbol is None:
            return None
        small = symbol.space in ("shared", "local")
        atom = self.lanes.atom(
            ("symbol", name), short_name(name), "shared", range=(0, 1 << 24) if small else (0, 1 << 62),
            residue=(0, max(1, symbol.align).bit_length() - 1), space=symbol.space, argument=name,
        )  # fmt: skip
        return from_atom(atom, bits)

    # --- unknowns

    def _value(self, value: Value, cycles: frozenset[str], *, memory: bool = False, residue: Residue = (0, 0)) -> Form:
        """Return an unknown that stands for a value of which nothing else is known."""
        bits = value.type.bits
        kind: Kind = "own" if value in self.answer.divergent else "shared"
        atom = self.lanes.atom(
            ("value", value), value.name or "value", kind, range=self.any_of(bits), residue=residue, cycles=cycles,
            memory=memory,
        )  # fmt: skip
        return from_atom(atom, bits)

    def _opaque(self, i: Instruction, value: Value, operands: Operands, cycles: frozenset[str]) -> Form:
        bits = value.type.bits
        known = [form for form in operands if form is not None]
        pure = OPS[i.op].pure and len(known) == len(operands) and len(i.results) == 1
        memory = any(atom.memory for form in known for atom in form.atoms())
        if not pure:
            return self._value(value, cycles, memory=memory)
        alike = all(atom.kind == "shared" for form in known for atom in form.atoms())
        cycles = frozenset(c for form in known for atom in form.atoms() for c in atom.cycles)
        atom = self.lanes.atom(
            (i.op, i.detail, bits, tuple(form.key for form in known)), value.name or i.op,
            "shared" if alike or value not in self.answer.divergent else "own",
            range=self._range(i, known, bits), cycles=cycles, memory=memory,
        )  # fmt: skip
        return from_atom(atom, bits)

    def _range(self, i: Instruction, operands: Sequence[Form], bits: int) -> Range:
        everything = self.any_of(bits)
        last = operands[-1].constant if operands else None
        ranges = [form.range() for form in operands]
        match i.op:
            case "and":
                masks = [form.constant for form in operands if (form.constant or -1) >= 0]
                return (0, min(m for m in masks if m is not None)) if masks else everything
            case "urem" if last is not None and last > 0:
                return (0, last - 1)
            case "lshr" if last is not None and 0 < last < bits:
                return (0, (1 << (bits - last)) - 1)
            case "zext" if bits > i.operands[0].type.bits:
                return (0, (1 << i.operands[0].type.bits) - 1)
            case "sext":
                return self.any_of(i.operands[0].type.bits)
            case "select":
                return min(r[0] for r in ranges[1:]), max(r[1] for r in ranges[1:])
            case _:
                return (0, bits) if OPS[i.op].shape == "count" else everything

    # --- each thread by itself

    def _each(self, i: Instruction, operands: Sequence[Form]) -> Form | None:
        """Compute the op for each thread, where every operand is a known number for each."""
        if not operands or not OPS[i.op].pure or i.result.type.kind == "float" or i.op == "lanewise":
            return None
        if not all(form.numeric for form in operands):
            return None
        key = (i.op, i.detail, i.result.type, tuple(form.key for form in operands))
        if key not in self._by_thread:
            rows = [self.lanes.numbers(form) for form in operands]
            sizes = [1 << form.bits for form in operands]
            constant = all(form.constant is not None for form in operands)
            threads = range(1 if constant else self.lanes.count)
            given = (tuple(row[t] % size for row, size in zip(rows, sizes, strict=True) if row) for t in threads)
            try:
                made = [compute(i, numbers)[0] for numbers in given]
            except KeyError:
                return None
            bits = i.result.type.bits
            self._by_thread[key] = constant_form(made[0], bits) if constant else self.lanes.form(made, bits)
        return self._by_thread[key]

    # --- how often it wrapped

    def extended(self, form: Form, bits: int, *, signed: bool) -> Form | None:
        """Return the number that a sum is once it has wrapped, in more bits."""
        if form.bits < 8:
            numbers = self.lanes.numbers(form)
            return None if numbers is None else self.lanes.form([-n if signed else n for n in numbers], bits)
        wraps = self._wraps(form, signed=signed)
        # a coefficient may have been any number modulo 2**bits; the sum is the one that is taken from here on
        whole = Form(bits, dict(form.terms))
        return whole.plus(wraps.resized(bits), -(1 << form.bits))

    def _wraps(self, form: Form, *, signed: bool) -> Form:
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
        alike = self._steps_together(form)
        cycles = frozenset(c for atom in form.atoms() for c in atom.cycles)
        atom = self.lanes.atom(
            ("wraps", form.key, signed), "wraps", "shared" if alike else "wrap", cycles=cycles, wraps=True,
            memory=any(a.memory for a in form.atoms()),
        )  # fmt: skip
        return from_atom(atom, 64)

    def _steps_together(self, form: Form) -> bool:
        """Whether no thread of a group can be beyond the edge of the range while another is not."""
        if form.has("own", "wrap"):
            return False
        rest, own = _split(form)
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
        rest, own = _split(form)
        numbers = self.lanes.numbers(own)
        r, power = rest.residue()
        if numbers is None or power < count:
            return None
        return tuple((r + n) % (1 << count) for n in numbers)

    def shifted_right(self, form: Form, amount: int, *, signed: bool) -> Form | None:
        """Return the number that a sum is once it has wrapped, divided by 2**amount and rounded down."""
        bits = form.bits
        if form.numeric or bits < 8:
            return None
        if not 0 < amount < bits:
            return None
        rest, own = _split(form)
        numbers = self._whole(own)
        if rest.residue()[1] <= amount and self._steps_together(form):
            return self._shared_bits(form, amount, signed=signed)
        if numbers is None or any(c % (1 << amount) for c in rest.terms.values()):
            return None
        wide = Form(64, {m: c >> amount for m, c in rest.terms.items()})
        table = self.lanes.form([n >> amount for n in numbers], 64)
        wraps = self._wraps(form, signed=signed)
        return wide.plus(table).plus(wraps, -(1 << (bits - amount))).resized(bits)

    def _shared_bits(self, form: Form, amount: int, *, signed: bool) -> Form:
        """Return the high bits of a sum, which no thread of a group changes by what it adds."""
        cycles = frozenset(c for atom in form.atoms() for c in atom.cycles)
        bits = form.bits - amount
        range: Range = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        atom = self.lanes.atom(
            ("high", form.key, amount, signed), "high bits", "shared", range=range, cycles=cycles,
            memory=any(atom.memory for atom in form.atoms()),
        )  # fmt: skip
        return from_atom(atom, form.bits)


def _split(form: Form) -> tuple[Form, Form]:
    """Return what threads do not know by their index, and what they do, numbers included."""
    own = {m: c for m, c in form.terms.items() if all(a.kind == "index" for a in m)}
    return Form(form.bits, {m: c for m, c in form.terms.items() if m not in own}), Form(form.bits, own)


def _narrowed(range: Range, bound: Bound) -> Range:
    low, high = range
    return (
        low if bound.least is None else max(low, bound.least),
        high if bound.most is None else min(high, bound.most),
    )


# --- rules of the ops

Rule = Callable[[Transfer, Instruction, Sequence[Form]], "Form | None"]


def _shl(t: Transfer, i: Instruction, o: Sequence[Form]) -> Form | None:
    amount = o[1].constant
    return None if amount is None else o[0].scaled(1 << min(amount % (1 << 32), o[0].bits))


def _wide(t: Transfer, i: Instruction, o: Sequence[Form]) -> Form | None:
    signed = i.op == "smulwide"
    wide = [t.extended(form, 2 * form.bits, signed=signed) for form in o]
    a, b = wide
    return None if a is None or b is None else a.times(b)


def _extend(t: Transfer, i: Instruction, o: Sequence[Form]) -> Form | None:
    return t.extended(o[0], i.result.type.bits, signed=i.op == "sext")


def _shr(t: Transfer, i: Instruction, o: Sequence[Form]) -> Form | None:
    amount = o[1].constant
    return None if amount is None else t.shifted_right(o[0], amount % (1 << 32), signed=i.op == "ashr")


def _udiv(t: Transfer, i: Instruction, o: Sequence[Form]) -> Form | None:
    by = o[1].constant
    if by is None or by <= 0 or by & (by - 1):
        return None
    return o[0] if by == 1 else t.shifted_right(o[0], by.bit_length() - 1, signed=False)


def _urem(t: Transfer, i: Instruction, o: Sequence[Form]) -> Form | None:
    by = o[1].constant
    return None if by is None or by <= 0 or by & (by - 1) else _masked(t, o[0], by.bit_length() - 1)


def _masked(t: Transfer, form: Form, count: int) -> Form | None:
    low = t.low(form, count)
    return None if low is None else t.lanes.form(low, form.bits)


def _and(t: Transfer, i: Instruction, o: Sequence[Form]) -> Form | None:
    value, mask = (o[1], o[0]) if o[0].constant is not None else (o[0], o[1])
    number = mask.constant
    if number is None or value.numeric or value.bits < 8:
        return None
    if number == -1:
        return value
    if number > 0 and not number & (number + 1):
        return _masked(t, value, number.bit_length())
    if number < 0 and not ~number & (~number + 1):
        low = _masked(t, value, (~number).bit_length())
        return None if low is None else value.plus(low, -1)
    return _low_only(t, value, mask, lambda a, b: a & b, keep=False)


def _or(t: Transfer, i: Instruction, o: Sequence[Form]) -> Form | None:
    return _either(t, o, lambda a, b: a | b)


def _xor(t: Transfer, i: Instruction, o: Sequence[Form]) -> Form | None:
    return _either(t, o, lambda a, b: a ^ b)


def _either(t: Transfer, o: Sequence[Form], combine: Callable[[int, int], int]) -> Form | None:
    value, other = (o[1], o[0]) if o[0].numeric else (o[0], o[1])
    if value.numeric or not other.numeric or value.bits < 8:
        return None
    return _low_only(t, value, other, combine, keep=True)


def _low_only(t: Transfer, value: Form, other: Form, combine: Callable[[int, int], int], *, keep: bool) -> Form | None:
    """Combine bits of which `other` has only low ones, so that the high ones of `value` stay (`keep`) or go."""
    numbers = t.lanes.numbers(other)
    if numbers is None or min(numbers) < 0:
        return None
    count = max(numbers).bit_length()
    low = t.low(value, count)
    if low is None:
        return None
    made = t.lanes.form([combine(a, b) for a, b in zip(low, numbers, strict=True)], value.bits)
    return value.plus(t.lanes.form(low, value.bits), -1).plus(made) if keep else made


def _select(t: Transfer, i: Instruction, o: Sequence[Form]) -> Form | None:
    condition, one, other = o
    if one.same(other):
        return one
    if condition.numeric:
        chosen = t.lanes.numbers(condition)
        if chosen is None or one.bits < 8:
            return None
        which = t.lanes.form([n & 1 for n in chosen], one.bits, "condition")
    elif condition.has("own", "wrap", "index") or one.bits < 8:
        return None
    else:
        cycles = frozenset(c for atom in condition.atoms() for c in atom.cycles)
        atom = t.lanes.atom(("bit", condition.key), "condition", "shared", range=(0, 1), cycles=cycles)
        which = from_atom(atom, one.bits)
    product = which.times(one.plus(other, -1))
    return None if product is None else other.plus(product)


def _window(t: Transfer, i: Instruction, o: Sequence[Form]) -> Form | None:
    space = i.detail.text if isinstance(i.detail, Text) else ""
    if space not in ("shared", "local"):
        return o[0]
    atom = t.lanes.atom(
        ("window", space), f"{space} window", "shared", range=(0, 1 << 60), residue=(0, 24), space=f"{space} window"
    )
    return o[0].plus(from_atom(atom, o[0].bits), 1 if i.op == "to_generic" else -1)


def _bitcast(t: Transfer, i: Instruction, o: Sequence[Form]) -> Form | None:
    return o[0] if i.result.type.kind == i.operands[0].type.kind and i.result.type.bits == o[0].bits else None


_RULES: Final[Mapping[str, Rule]] = {
    "add": lambda t, i, o: o[0].plus(o[1]),
    "sub": lambda t, i, o: o[0].plus(o[1], -1),
    "neg": lambda t, i, o: o[0].scaled(-1),
    "not": lambda t, i, o: constant_form(-1, o[0].bits).plus(o[0], -1),
    "mul": lambda t, i, o: o[0].times(o[1]),
    "shl": _shl,
    "smulwide": _wide,
    "umulwide": _wide,
    "zext": _extend,
    "sext": _extend,
    "trunc": lambda t, i, o: o[0].resized(i.result.type.bits),
    "bitcast": _bitcast,
    "lshr": _shr,
    "ashr": _shr,
    "udiv": _udiv,
    "urem": _urem,
    "and": _and,
    "or": _or,
    "xor": _xor,
    "select": _select,
    "to_generic": _window,
    "from_generic": _window,
}
