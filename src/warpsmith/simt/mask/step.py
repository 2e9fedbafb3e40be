"""One instruction of one wave: registers, views, the mask and its stack change as the instruction says.

What it means for time is left to others: `LaneAccesses` says which bytes were accessed, lane by lane.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from warpsmith.simt.mask.nodes import Immediate, LaneBuiltin, LaneRegister, MaskInstruction, MaskSource, sources_of
from warpsmith.simt.mask.resources import BoundView, Views, is_pixel
from warpsmith.simt.mask.sampling import sample
from warpsmith.simt.mask.stack import MaskFault, MaskStack, StackError, control
from warpsmith.simt.mask.values import Words, compute, floats

__all__ = ["FaultError", "LaneAccesses", "Wave", "begin_wave", "lanes_of", "step", "true_lanes"]


class FaultError(Exception):
    """An instruction cannot be executed."""

    def __init__(self, fault: MaskFault) -> None:
        super().__init__(fault.kind)
        self.fault = fault


class Wave(Struct, eq=False):
    """Lanes that run together: `registers` [register, component, lane], which all begin as 0; what the builtins are in
    each lane: `threads`, `lanes`, `waves`."""

    number: int
    threads: Words
    lanes: Words
    waves: Words
    registers: Words
    stack: MaskStack
    ended: bool = False

    @property
    def width(self) -> int:
        """How many lanes it has, active or not."""
        return len(self.threads)


class LaneAccesses(Struct, frozen=True):
    """The addresses that each active lane accessed, lane by lane in ascending order; () for what accesses nothing."""

    addresses: tuple[tuple[int, ...], ...] = ()


def begin_wave(number: int, first_thread: int, lanes: int, width: int, shape: tuple[int, int]) -> Wave:
    """Return a wave of `width` lanes of which the first `lanes` are there; `shape`: registers, depth of the stack."""
    registers, depth = shape
    threads = np.arange(first_thread, first_thread + width, dtype=np.uint32)
    stack = MaskStack((1 << lanes) - 1, depth, 0, [])
    builtins = (threads, np.arange(width, dtype=np.uint32), np.full(width, number & 0xFFFFFFFF, np.uint32))
    return Wave(number, *builtins, np.zeros((registers, 4, width), np.uint32), stack)


def lanes_of(mask: int, width: int) -> npt.NDArray[np.bool_]:
    """Return a mask as an array, one element a lane."""
    return np.array([mask >> lane & 1 for lane in range(width)], bool)


def step(wave: Wave, instruction: MaskInstruction, views: Views, clock: int) -> LaneAccesses:
    """Execute the instruction at the wave's program counter; raises FaultError."""
    form = instruction.op.form
    match form:
        case "map" | "length" | "normalize":
            _compute(wave, instruction, clock)
        case "load":
            return _load(wave, instruction, views, clock)
        case "store":
            return _store(wave, instruction, views, clock)
        case "sample":
            return _sample(wave, instruction, views, clock)
        case "push" | "pop" | "nonzero" | "branch" | "jump" | "return":
            _control(wave, instruction, clock)
    return LaneAccesses()


def _read(wave: Wave, source: MaskSource, clock: int) -> Words:
    """Return a source, [component, lane]."""
    match source:
        case LaneRegister(number=number, components=components):
            return wave.registers[number, list(components)]
        case Immediate(words=words):
            return np.repeat(np.array(words, np.uint32)[:, np.newaxis], wave.width, axis=1)
        case LaneBuiltin(name=name):
            match name:
                case "thread_id":
                    row = wave.threads
                case "lane_id":
                    row = wave.lanes
                case "wave_id":
                    row = wave.waves
                case "clock":
                    row = np.full(wave.width, clock & 0xFFFFFFFF, np.uint32)
            return row[np.newaxis]


def _write(wave: Wave, destination: LaneRegister, words: Words) -> None:
    active = lanes_of(wave.stack.exec, wave.width)
    for component, row in zip(destination.components, words, strict=True):
        wave.registers[destination.number, component, active] = row[active]


def _compute(wave: Wave, instruction: MaskInstruction, clock: int) -> None:
    destination = instruction.destination
    assert destination is not None
    read = [_read(wave, source, clock) for source in sources_of(instruction)]
    if instruction.op.form == "map":
        count = len(destination.components)
        read = [np.repeat(one, count, axis=0) if len(one) == 1 else one for one in read]
    _write(wave, destination, compute(instruction.op.name, tuple(read)))
    wave.stack.pc += 1


def true_lanes(wave: Wave, instruction: MaskInstruction, clock: int) -> int:
    """Return the lanes in which the value of a control instruction is not 0, 0 where it has none."""
    true = 0
    for source in sources_of(instruction):
        words = _read(wave, source, clock)[0]
        true = sum(1 << lane for lane in range(wave.width) if words[lane])
    return true


def _control(wave: Wave, instruction: MaskInstruction, clock: int) -> None:
    state, index = wave.stack, wave.stack.pc
    try:
        wave.ended = control(state, instruction, true_lanes(wave, instruction, clock))
    except StackError as error:
        raise FaultError(MaskFault(error.kind, index, wave.number, at=(len(state.entries), 0))) from error


def _active(wave: Wave) -> list[int]:
    return [lane for lane in range(wave.width) if wave.stack.exec >> lane & 1]


def _check(wave: Wave, lane: int, offset: int, words: tuple[int, ...], bound: BoundView) -> None:
    """Raise FaultError where a lane accesses what is not there."""
    index = wave.stack.pc
    if offset % 4:
        raise FaultError(MaskFault("misaligned", index, wave.number, lane, (offset, 0)))
    for word in words:
        if offset + 4 * word + 4 > bound.size:
            raise FaultError(MaskFault("outside", index, wave.number, lane, (offset + 4 * word, bound.size)))


def _load(wave: Wave, instruction: MaskInstruction, views: Views, clock: int) -> LaneAccesses:
    destination = instruction.destination
    assert destination is not None
    view = instruction.view("t")
    bound = views["t", view.number]
    which = view.components or tuple(range(len(destination.components)))
    address = _read(wave, sources_of(instruction)[0], clock)[0]
    touched = []
    for lane in _active(wave):
        offset = int(address[lane])
        _check(wave, lane, offset, which, bound)
        touched.append(tuple(bound.base + offset + 4 * word for word in which))
        for component, word in zip(destination.components, which, strict=True):
            wave.registers[destination.number, component, lane] = bound.words[offset // 4 + word]
    wave.stack.pc += 1
    return LaneAccesses(tuple(touched))


def _store(wave: Wave, instruction: MaskInstruction, views: Views, clock: int) -> LaneAccesses:
    view = instruction.view("u")
    bound = views["u", view.number]
    address, value = (_read(wave, source, clock) for source in sources_of(instruction))
    which = view.components or tuple(range(len(value)))
    if is_pixel(instruction):
        return _store_pixels(wave, bound, (address, value, which))
    touched = []
    for lane in _active(wave):
        offset = int(address[0, lane])
        _check(wave, lane, offset, which, bound)
        touched.append(tuple(bound.base + offset + 4 * word for word in which))
    # lanes in ascending order: of those that write one word, the last one stays
    for lane in _active(wave):
        for row, word in zip(value, which, strict=True):
            bound.words[int(address[0, lane]) // 4 + word] = row[lane]
    wave.stack.pc += 1
    return LaneAccesses(tuple(touched))


def _store_pixels(wave: Wave, bound: BoundView, what: tuple[Words, Words, tuple[int, ...]]) -> LaneAccesses:
    """Write channels of pixels: a number from 0 to 1 is a byte, rounded."""
    place, value, which = what
    with np.errstate(all="ignore"):
        inside = floats(compute("clamp", (np.ascontiguousarray(value),)))
        channel = (inside * np.float32(255) + np.float32(0.5)).astype(np.uint32)
    pixels = {}
    for lane in _active(wave):
        x, y = int(place[0, lane]), int(place[1, lane])
        if x >= bound.width or y >= bound.height:
            raise FaultError(MaskFault("pixel", wave.stack.pc, wave.number, lane, (x, y)))
        pixels[lane] = y * bound.width + x
    for lane, pixel in pixels.items():
        word = int(bound.words[pixel])
        for row, shift in zip(channel, which, strict=True):
            word = word & ~(255 << 8 * shift) | int(row[lane]) << 8 * shift
        bound.words[pixel] = word
    wave.stack.pc += 1
    return LaneAccesses(tuple((bound.base + 4 * pixel,) for pixel in pixels.values()))


def _sample(wave: Wave, instruction: MaskInstruction, views: Views, clock: int) -> LaneAccesses:
    destination = instruction.destination
    assert destination is not None
    view = instruction.view("t")
    bound = views["t", view.number]
    which = view.components or tuple(range(len(destination.components)))
    u, v = floats(np.ascontiguousarray(_read(wave, sources_of(instruction)[0], clock)))
    channels, texels = sample(bound, u, v)
    _write(wave, destination, channels[list(which)])
    touched = tuple(tuple(bound.base + 4 * int(texel) for texel in texels[:, lane]) for lane in _active(wave))
    wave.stack.pc += 1
    return LaneAccesses(touched)
