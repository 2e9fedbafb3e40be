"""Answers about a clock of a machine with clocks: what each slot does, what it waits for, who has the units.

    clock 12                                                      # active   - masked off   . no thread
    slot 0  wave 0  active                ####----  line 7: add.u32 r0.x, r0.x, u(1)
    slot 1  wave 1  waits for memory      ########  line 9: mul.u32 r3.x, r2.x, u(4); r2 up to clock 40
            locked: r2 up to clock 40, by memory
    ALU 0   wave 0 up to clock 13

Locks, stacks and registers are those with which the clock begins: they decide who may issue in it. `up to clock 40`:
in clock 40 it is free.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from warpsmith.flows.stepping.answers import name_lanes
from warpsmith.machine.simt.parameters import ClockMachine
from warpsmith.simt.clocks.core import SlotMoment
from warpsmith.simt.clocks.watching import ClockLook, CoreLook, SlotLook
from warpsmith.simt.mask.disassembler import instruction_text
from warpsmith.simt.mask.nodes import LaneRegister, MaskProgram

__all__ = ["HELP", "Stepped", "describe_clock", "describe_locks", "describe_stack", "explain_slot", "lane_picture"]

HELP: Final = """\
next [N]         go on by a clock, or by N
back [N]         go back by a clock, or by N
clock N          go to clock N
change [SLOT]    go on until a slot, or this one, does something else
until LINE       go on until a wave issues the instruction of a line
continue         go on to the end
why SLOT         why a wave issues, or does not
locks [SLOT]     which registers are locked, up to which clock
stack [SLOT]     the masks on the stack, and where their lanes go on
print R [SLOT]   a register (r0, r0.x) of the waves, or of one; numbers, or print R SLOT f as floats
where            all slots and units in this clock
quit             leave"""
_STATES: Final = {
    "active": "active", "memory": "waits for memory", "dependency": "waits for a result",
    "ready": "ready, not issued", "empty": "no wave",
}  # fmt: skip


_Told = Callable[[SlotLook, Sequence[int], int, int], list[str]]
"""Says which registers are locked in lanes of a mask in a clock."""


class Stepped(Struct, frozen=True, eq=False):
    """What is stepped through."""

    program: MaskProgram
    machine: ClockMachine

    def slot_name(self, core: int, slot: int) -> str:
        """Return how a slot is called: by its core too where there are several."""
        return f"{core}.{slot}" if self.machine.cores > 1 else str(slot)

    def line(self, index: int) -> int:
        """Return the line of an instruction."""
        return self.program.instructions[index].span.line

    def text(self, index: int) -> str:
        """Return an instruction with its line."""
        return f"line {self.line(index)}: {instruction_text(self.program.instructions[index])}"


def lane_picture(mask: int, there: int, width: int) -> str:
    """Return a sign for each lane: # active, - masked off, . no thread.

    >>> lane_picture(0b0101, 0b0111, 4)
    '#-#.'
    """
    return "".join("#" if mask >> n & 1 else "-" if there >> n & 1 else "." for n in range(width))


def describe_clock(stepped: Stepped, look: ClockLook, lanes: dict[int, int]) -> Iterator[str]:
    """Yield what slots and units do in a clock; `lanes`: those of each wave that have a thread."""
    yield f"clock {look.clock:,}"
    for number, core in enumerate(look.cores):
        free = []
        for at, (slot, moment) in enumerate(zip(core.slots, core.moments, strict=True)):
            if slot is None:
                free.append(stepped.slot_name(number, at))
                continue
            yield _slot_line(stepped, (number, at), slot, (moment, look.clock), lanes)
            locks = _locks(slot, look.clock, _briefly)
            if locks:
                yield f"{'':<8}locked: {'; '.join(locks)}"
        if free:
            yield f"no wave in slot{'s' if len(free) > 1 else ''} {', '.join(free)}"
        yield from _units(stepped, number, core, look.clock)


def _slot_line(
    stepped: Stepped, which: tuple[int, int], slot: SlotLook, done: tuple[SlotMoment, int], lanes: dict[int, int]
) -> str:
    moment, clock = done
    name = f"slot {stepped.slot_name(*which)}"
    there = lanes.get(moment.wave, moment.mask)
    picture = lane_picture(moment.mask, there, stepped.machine.width)
    waits = ""
    if moment.state in ("memory", "dependency"):
        waits = f"; {', '.join(_waited_for(stepped, slot, clock, _briefly))}"
    return f"{name:<8}wave {moment.wave:<3} {_STATES[moment.state]:<18} {picture}  {stepped.text(moment.index)}{waits}"


def _units(stepped: Stepped, number: int, core: CoreLook, clock: int) -> Iterator[str]:
    prefix = f"core {number} " if stepped.machine.cores > 1 else ""
    for alu, taken in enumerate(core.alus):
        yield f"{prefix}ALU {alu:<4}" + ("free" if taken is None else f"wave {taken.wave} up to clock {taken.end:,}")
    for name, free in (("memory", core.memory_free), ("sampler", core.sampler_free)):
        if free > clock:
            yield f"{prefix}{name:<8}taken up to clock {free:,}"


def _waited_for(stepped: Stepped, slot: SlotLook, clock: int, told: _Told) -> list[str]:
    """Return the registers that the next instruction waits for, in words."""
    instruction = stepped.program.instructions[slot.pc]
    if instruction.op.form == "return":
        return told(slot, range(len(slot.ready)), _every(stepped.machine.width), clock)
    named = dict.fromkeys(one.number for one in instruction.operands if isinstance(one, LaneRegister))
    return told(slot, list(named), slot.mask, clock)


def _every(width: int) -> int:
    return (1 << width) - 1


def _locked(slot: SlotLook, registers: Sequence[int], mask: int, clock: int) -> list[str]:
    """Return which of some registers are locked in lanes of a mask: `r2 in lanes 0-3 up to clock 40`."""
    found = []
    for register in registers:
        ends: dict[int, list[int]] = defaultdict(list)
        for lane in np.flatnonzero(slot.ready[register] > clock).tolist():
            if mask >> lane & 1:
                ends[int(slot.ready[register, lane])].append(lane)
        for end, lanes in sorted(ends.items()):
            whole = len(lanes) == mask.bit_count()
            found.append(f"r{register}{'' if whole else f' in {name_lanes(lanes)}'} up to clock {end:,}")
    return found


def _briefly(slot: SlotLook, registers: Sequence[int], mask: int, clock: int) -> list[str]:
    """Return the same without lanes: `r2 up to clocks 36 to 40`."""
    found = []
    for register in registers:
        ends = {int(slot.ready[register, lane]) for lane in range(slot.ready.shape[1]) if mask >> lane & 1}
        late = sorted(end for end in ends if end > clock)
        if late:
            until = f"clock {late[0]:,}" if len(late) == 1 else f"clocks {late[0]:,} to {late[-1]:,}"
            found.append(f"r{register} up to {until}")
    return found


def describe_locks(stepped: Stepped, look: ClockLook, which: tuple[int, int]) -> str:
    """Return the registers of a slot that are locked as a clock begins, and by what."""
    slot = look.cores[which[0]].slots[which[1]]
    name = f"slot {stepped.slot_name(*which)}"
    if slot is None:
        return f"{name}: no wave"
    return f"{name}, wave {slot.wave}: {'; '.join(_locks(slot, look.clock, _locked)) or 'nothing is locked'}"


def _locks(slot: SlotLook, clock: int, told: _Told) -> list[str]:
    """Return the registers of a wave that are locked as a clock begins, and by what."""
    found = []
    for register in range(len(slot.ready)):
        for kind, by in (("memory", slot.by_memory[register]), ("an ALU", ~slot.by_memory[register])):
            mask = sum(1 << lane for lane in np.flatnonzero(by).tolist())
            found += [f"{text}, by {kind}" for text in told(slot, [register], mask, clock)]
    return found


def describe_stack(stepped: Stepped, look: ClockLook, which: tuple[int, int]) -> str:
    """Return the entries of a slot's mask stack as a clock begins, the one on top first."""
    slot = look.cores[which[0]].slots[which[1]]
    name = f"slot {stepped.slot_name(*which)}"
    if slot is None:
        return f"{name}: no wave"
    width = stepped.machine.width
    rows = [f"{name}, wave {slot.wave}: mask {lane_picture(slot.mask, 0, width).replace('.', '-')}"]
    for mask, target in reversed(slot.entries):
        rows.append(f"  {lane_picture(mask, _every(width), width)} go on at {stepped.text(target)}")
    return "\n".join(rows) if slot.entries else f"{rows[0]}, nothing on the stack"


def explain_slot(stepped: Stepped, look: ClockLook, which: tuple[int, int]) -> str:
    """Return why the wave of a slot issues in a clock, or does not."""
    core = look.cores[which[0]]
    slot, moment = core.slots[which[1]], core.moments[which[1]]
    name = f"slot {stepped.slot_name(*which)}"
    if slot is None:
        return f"{name} has no wave: all that are left have begun elsewhere"
    who = f"wave {slot.wave}"
    match moment.state:
        case "active" if moment.index == slot.pc:
            return f"{who} issues {stepped.text(slot.pc)}"
        case "active":
            return f"{who} still takes in {stepped.text(moment.index)}"
        case "memory" | "dependency":
            waited = ", ".join(_waited_for(stepped, slot, look.clock, _locked))
            what = "memory" if moment.state == "memory" else "a result"
            return f"{who} waits for {what}: {stepped.text(slot.pc)} needs {waited}"
        case _:
            return f"{who} is ready for {stepped.text(slot.pc)}, {_no_turn(stepped, core, (slot, look.clock))}"


def _no_turn(stepped: Stepped, core: CoreLook, waiting: tuple[SlotLook, int]) -> str:
    """Return why a wave that could issue does not."""
    slot, clock = waiting
    unit = stepped.program.instructions[slot.pc].op.unit
    if unit == "alu" and all(core.alus):
        taken = ", ".join(
            f"ALU {n} by wave {one.wave} up to clock {one.end:,}" for n, one in enumerate(core.alus) if one
        )
        return f"and no ALU is free: {taken}"
    free = {"memory": core.memory_free, "sampler": core.sampler_free}.get(unit, 0)
    if free > clock:
        return f"and the {'memory unit' if unit == 'memory' else unit} is taken up to clock {free:,}"
    machine = stepped.machine
    return f"and others are asked first: {machine.scheduler}, {machine.issue} issued in a clock at most"
