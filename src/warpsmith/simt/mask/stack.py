"""The execution mask of a wave, and its stack: how lanes that go different ways are brought together again.

A wave walks the control-flow graph depth first; each entry of the stack is (mask, instruction): the lanes to go on with
where the way that is walked ends, and where they do.

    push_mask L        push (exec, L)
    pop_mask           exec, pc = pop
    mask_nz r          lanes = exec & (r != 0);  none: exec, pc = pop;  else exec = lanes
    br_push r, E, C    push (exec, C);  if lanes with r == 0 exist: push (exec & (r == 0), E)
                       if lanes with r != 0 exist: exec = those;  else exec, pc = pop
    jmp L              pc = L
    ret                the whole wave ends, whatever its mask is

Invariant: exec is never 0; no entry has a lane that the wave did not begin with. The arm of lanes with r != 0 is always
walked first. Source: A. Schreiner, What's up with my branch on GPU? (2019); rules in docs/reference/mask-isa.md.

Limits: no lane ends by itself; lanes whose entries are still there when `ret` is reached never go on (`left_lanes`).
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from warpsmith.base.findings import Finding
from warpsmith.simt.mask.nodes import MaskInstruction, MaskProgram

__all__ = ["FAULTS", "FaultKind", "MaskFault", "MaskStack", "StackError", "control", "describe_fault"]

FaultKind = Literal["none", "underflow", "overflow", "outside", "misaligned", "pixel", "endless"]
FAULTS: Final[tuple[FaultKind, ...]] = ("none", "underflow", "overflow", "outside", "misaligned", "pixel", "endless")


class MaskFault(Struct, frozen=True):
    """Why a run was stopped at an instruction: the wave, for accesses the lane and where it went (a byte, or a pixel),
    for the stack how deep it is, for what is endless after how many clocks."""

    kind: FaultKind
    index: int
    wave: int
    lane: int = -1
    at: tuple[int, int] = (0, 0)


class StackError(Exception):
    """The stack is empty, or full."""

    def __init__(self, kind: Literal["underflow", "overflow"]) -> None:
        super().__init__(kind)
        self.kind: Literal["underflow", "overflow"] = kind


class MaskStack(Struct):
    """Where a wave is: its execution mask (bit 0: lane 0), its next instruction, and at most `depth` entries."""

    exec: int
    depth: int
    pc: int = 0
    entries: list[tuple[int, int]] = []

    def push(self, mask: int, target: int) -> None:
        """Put an entry on top; raises StackError where there is no room."""
        if len(self.entries) >= self.depth:
            raise StackError("overflow")
        self.entries.append((mask, target))

    def pop(self) -> None:
        """Go on with the entry on top; raises StackError where there is none."""
        if not self.entries:
            raise StackError("underflow")
        self.exec, self.pc = self.entries.pop()

    def left_lanes(self) -> int:
        """Return the lanes that wait in entries and are not active."""
        waiting = 0
        for mask, _ in self.entries:
            waiting |= mask
        return waiting & ~self.exec


def control(state: MaskStack, instruction: MaskInstruction, true: int) -> bool:
    """Execute a control instruction; `true`: the lanes whose value is not 0. Return whether the wave has ended."""
    targets = instruction.targets
    match instruction.op.form:
        case "push":
            state.push(state.exec, targets[0])
            state.pc += 1
        case "pop":
            state.pop()
        case "nonzero":
            _keep(state, state.exec & true)
        case "branch":
            otherwise, converge = targets
            state.push(state.exec, converge)
            if state.exec & ~true:
                state.push(state.exec & ~true, otherwise)
            _keep(state, state.exec & true)
        case "jump":
            state.pc = targets[0]
        case "return":
            return True
        case "map" | "length" | "normalize" | "load" | "store" | "sample":
            raise ValueError(f"{instruction.op.name} is no control instruction")
    return False


def _keep(state: MaskStack, lanes: int) -> None:
    """Go on with these lanes, with those on the stack where there are none."""
    if lanes:
        state.exec = lanes
        state.pc += 1
    else:
        state.pop()


def describe_fault(program: MaskProgram, fault: MaskFault) -> Finding:
    """Return what a fault is, at its line, with a remedy."""
    instruction = program.instructions[fault.index]
    name, who = instruction.op.name, f"wave {fault.wave}"
    first, second = fault.at
    texts: dict[FaultKind, tuple[str, str]] = {
        "underflow": (
            f"{name} pops the mask stack of {who}, which is empty",
            "every pop_mask, and every mask_nz that no lane passes, needs a push_mask or br_push before it",
        ),
        "overflow": (
            f"{name} pushes onto the mask stack of {who}, whose {first} entries are all taken",
            "does a loop push and never pop? else set stack in the machine's file higher",
        ),
        "outside": (
            f"lane {fault.lane} of {who} accesses byte {first}, outside of the {second} bytes of the view",
            "keep such lanes off with mask_nz or br_push, or give a larger buffer",
        ),
        "misaligned": (
            f"lane {fault.lane} of {who} accesses byte {first}, which is no multiple of 4",
            "addresses are in bytes, words have four: multiply the index by u(4)",
        ),
        "pixel": (
            f"lane {fault.lane} of {who} writes the pixel ({first}, {second}), outside of the image",
            "keep such lanes off with mask_nz or br_push, or give a larger image",
        ),
        "endless": (
            f"{who} is still running here after {first:,} clocks",
            "does a loop ever let its last lane go? else raise --max-clocks",
        ),
    }
    message, remedy = texts[fault.kind]
    rule = "MSK004" if fault.kind == "endless" else "MSK003"
    return Finding(rule, "error", message, instruction.span, (remedy,))
