"""The transfer functions of instructions on sums over unknowns: where numbers come from, and the results of ops.

tid, laneid, sizes        numbers that each thread knows
ctaid, parameters         unknowns that all threads share, with what the launch says of them
ops with a rule (ops.py)  sums again
any other                 for each thread by itself where all operands are numeric; else an unknown
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from warpsmith.analysis.affine.symbols import Atom, Form, Kind, Range, Residue, constant_form, from_atom
from warpsmith.analysis.memory.lanes import BlockLanes
from warpsmith.analysis.memory.ops import RULES
from warpsmith.analysis.memory.wrapping import Wrapping
from warpsmith.analysis.uniformity.facts import LaunchShape, ParameterBound
from warpsmith.analysis.uniformity.uniformity import Uniformity
from warpsmith.machine.limits import MAX_GRID
from warpsmith.ssa.nodes import (
    Address,
    Barrier,
    Callee,
    Convert,
    Exchange,
    Fence,
    Float,
    Instruction,
    Memory,
    Module,
    NoWrap,
    Param,
    Query,
    Symbol,
    Text,
    Value,
)
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics.lane import lanes as computed

__all__ = ["TransferRules", "short_name"]

Operands = Sequence[Form | None]

_LOCAL_NAME: Final = re.compile(r"_ZZ.*E(\d+)(\w+?)(?:_\d+)?$")
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


class TransferRules:
    """The rules, for one function, group and launch shape."""

    def __init__(self, module: Module, answer: Uniformity, lanes: BlockLanes, shape: LaunchShape) -> None:
        self.answer, self.lanes, self.shape = answer, lanes, shape
        inside = (symbol for function in module.functions for symbol in function.symbols)
        self.symbols: dict[str, Symbol] = {symbol.name: symbol for symbol in (*module.symbols, *inside)}
        self.entry_parameters = {p.name for p in answer.function.parameters}
        self.wrapping = Wrapping(lanes)
        self._by_thread: dict[object, Form] = {}

    def result(self, i: Instruction, value: Value, operands: Operands, cycles: frozenset[str]) -> Form:
        """Return what a result of an instruction is."""
        made = self._source(i, value, cycles)
        known = [form for form in operands if form is not None]
        if made is None and len(known) == len(operands) and len(i.results) == 1:
            rule = RULES.get(i.op)
            made = rule(self.wrapping, i, known) if rule is not None else None
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
            case Param():
                return self._param(i.detail, value.type.bits) or self._value(value, cycles)
            case Address(symbol):
                return self._address(symbol, value.type.bits) or self._value(value, cycles)
            case Memory():
                return self._value(value, cycles, memory=True)
            case Barrier() | Callee() | Convert() | Exchange() | Fence() | Float() | NoWrap() | Text() | None:
                return None

    def _query(self, register: str, bits: int) -> Form | None:
        base, _, axis = register.partition(".")
        at = "xyz".find(axis) if axis else -1
        if base == "tid" and at >= 0:
            return self.lanes.axis(at, bits)
        if base in ("ntid", "ctaid", "nctaid") and at >= 0:
            return self._launch_form(base, at, bits)
        if register == "laneid":
            return self.lanes.form([t % self.lanes.warp for t in range(self.lanes.count)], bits, "laneid")
        if register.startswith("lanemask_"):
            lanes, rule = (t % self.lanes.warp for t in range(self.lanes.count)), _LANE_MASKS[register[-2:]]
            return self.lanes.form([rule(1 << lane) & ((1 << self.lanes.warp) - 1) for lane in lanes], bits, register)
        if register == "nwarpid":
            return constant_form(-(-self.lanes.count // self.lanes.warp), bits)
        return None

    def _launch_form(self, base: str, axis: int, bits: int) -> Form:
        grid = self.shape.grid
        if base == "ntid":
            return constant_form(self.lanes.block[axis], bits)
        if grid is not None and (base == "nctaid" or grid[axis] == 1):
            return constant_form(grid[axis] if base == "nctaid" else 0, bits)
        name = f"{base}.{'xyz'[axis]}"
        most = MAX_GRID[axis]
        range: Range = (1, most) if base == "nctaid" else (0, (grid[axis] if grid else most) - 1)
        made = Atom(name, "shared", range=range, of_block=base == "ctaid", of_grid=base == "nctaid")
        return from_atom(self.lanes.atom(name, made), bits)

    def _param(self, read: Param, bits: int) -> Form | None:
        name, offset = read.parameter, read.offset
        if name not in self.entry_parameters or not self.answer.function.kernel:
            return None
        short = short_name(name)
        for given in (name, short):
            if given in self.shape.arguments and offset == 0:
                return constant_form(self.shape.arguments[given], bits)
        bounds = [b for b in self.shape.assumptions if b.parameter in (name, short) and offset == 0]
        low, high = self.any_of(bits)
        for bound in bounds:
            low, high = _narrow((low, high), bound)
        even = math.lcm(*(bound.multiple for bound in bounds))
        shown = f"{short}{read.member}" if read.member or not offset else f"{short}+{offset}"
        residue = (0, (even & -even).bit_length() - 1)
        atom = self.lanes.atom(
            ("param", name, offset, bits), Atom(shown, "shared", range=(low, high), residue=residue, argument=shown)
        )
        return from_atom(atom, bits)

    def _address(self, name: str, bits: int) -> Form | None:
        symbol = self.symbols.get(name)
        if symbol is None:
            return None
        small = symbol.space in ("shared", "local")
        atom = self.lanes.atom(
            ("symbol", name),
            Atom(
                short_name(name),
                "shared",
                range=(0, 1 << 24) if small else (0, 1 << 62),
                residue=(0, max(1, symbol.align).bit_length() - 1),
                space=symbol.space,
                argument=name,
            ),
        )
        return from_atom(atom, bits)

    # --- unknowns

    def _value(self, value: Value, cycles: frozenset[str], *, memory: bool = False, residue: Residue = (0, 0)) -> Form:
        """Return an unknown that stands for a value of which nothing else is known."""
        bits = value.type.bits
        kind: Kind = "own" if value in self.answer.divergent else "shared"
        atom = self.lanes.atom(
            ("value", value),
            Atom(
                value.name or "value",
                kind,
                range=self.any_of(bits),
                residue=residue,
                cycles=cycles,
                memory=memory,
            ),
        )
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
        same = alike or value not in self.answer.divergent
        # the same for those that are here, made of what is not: others may make something else of it elsewhere
        here = value if same and not alike else None
        atom = self.lanes.atom(
            (i.op, i.detail, bits, tuple(form.key for form in known), here),
            Atom(
                value.name or i.op,
                "shared" if same else "own",
                range=self._range(i, known, bits),
                cycles=cycles,
                memory=memory,
            ),
        )
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
            constant = all(form.constant is not None for form in operands)
            try:
                made = computed(i, [self._patterns(form, constant=constant) for form in operands])
            except KeyError:
                return None
            bits = i.result.type.bits
            self._by_thread[key] = constant_form(made[0], bits) if constant else self.lanes.form(made, bits)
        return self._by_thread[key]

    def _patterns(self, form: Form, *, constant: bool) -> list[int]:
        """Return the bits of a numeric form in each thread; `constant`: in one that stands for all."""
        numbers = (form.constant or 0,) if constant else self.lanes.numbers(form) or ()
        return [n % (1 << form.bits) for n in numbers]


def _narrow(range: Range, bound: ParameterBound) -> Range:
    low, high = range
    return (
        low if bound.least is None else max(low, bound.least),
        high if bound.most is None else min(high, bound.most),
    )
