"""SIMULATE with clocks, a straight line: a program of the mask ISA and a machine go in, its history comes out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct

from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.flows.clocks.kernels import ClockKernel, lower_launch
from warpsmith.kernels.arguments import Array, make_argument
from warpsmith.machine.simt.parameters import ClockMachine, change_machine, load_machine, machine_names, named_machine
from warpsmith.report.history.model import History
from warpsmith.report.words import DOCUMENT, Speech
from warpsmith.simt.clocks.fast import run_clocks
from warpsmith.simt.clocks.model import ClockLaunch, ClockRun
from warpsmith.simt.mask.assembler import assemble
from warpsmith.simt.mask.nodes import MaskProgram
from warpsmith.simt.mask.resources import BoundView, ViewKey, Views, image, words_of
from warpsmith.simt.mask.run import Groups
from warpsmith.simt.mask.stack import describe_fault

__all__ = [
    "ClockOptions",
    "ClockReport",
    "check_lanes_stay",
    "prepare_launch",
    "read_machine",
    "read_program",
    "simulate_clocks",
]

_SETTING: Final = re.compile(r",(?=[a-z0-9_.]+=)")
_VIEW: Final = re.compile(r"([tu])(\d|1[0-5])")
_IMAGE: Final = re.compile(r"image\[(\d+),(\d+)\](?::(rand(?::seed=(\d+))?|checker=(\d+)|@.+))?")
_LARGEST_IMAGE: Final = 1 << 24


class ClockOptions(Struct, frozen=True):
    """The options of SIMULATE with clocks. `machine`: a name or a file, other values of keys behind commas; `block`:
    threads a group, None for a wave of the machine; `arguments`: t0=…, u0=…; `most`: clocks; `shown`: those that are
    drawn, None for the first ones; `words`: of whom texts speak."""

    machine: str = "example"
    block: int | None = None
    grid: int = 1
    arguments: tuple[str, ...] = ()
    most: int = 10_000_000
    shown: tuple[int, int] | None = None
    words: Speech = DOCUMENT


class ClockReport(Struct, frozen=True, eq=False):
    """The history of a run, and what is to be said of it."""

    history: History
    findings: tuple[Finding, ...]

    @property
    def exit_code(self) -> int:
        """0; 1 where the program did what it must not, 3 where it was stopped."""
        codes = {finding.rule for finding in self.findings if finding.severity == "error"}
        return 3 if "MSK004" in codes else 1 if codes else 0


def check_lanes_stay(machine: ClockMachine, what: str) -> None:
    """Raise UsageError where waves are formed anew: `what` follows the lanes of waves, and threads change theirs."""
    if machine.forms:
        message = f"{what} follows lanes, and with formation = '{machine.formation}' threads change waves"
        raise UsageError(
            Finding("INP000", "error", message, help=("set formation = none: --machine …,formation=none",))
        )


def simulate_clocks(file: SourceFile | ClockKernel, options: ClockOptions) -> ClockReport:
    """Run a program, or a kernel as one; raises UsageError where that makes no sense, InputError where the program is
    wrong, or the kernel cannot be one."""
    # text → program, and what it runs on
    launch = prepare_launch(file, options)
    # clocks
    run = run_clocks(launch)
    if options.shown is not None and options.shown[0] >= run.totals.clocks:
        raise UsageError(
            Finding("INP000", "error", f"there is no clock {options.shown[0]:,}: the run takes {run.totals.clocks:,}")
        )
    groups, machine = launch.groups, launch.machine
    words = options.words
    threads = f"{words.count(groups.count, 'block')} of {words.count(groups.size, 'thread')}"
    caption = f"{threads} on {_described(machine, words)}"
    history = History(Path(file.path).name, caption, launch.program, machine, run, options.shown, words)
    return ClockReport(history, tuple(_findings(launch.program, run)))


def prepare_launch(file: SourceFile | ClockKernel, options: ClockOptions) -> ClockLaunch:
    """Return a program with its machine, views and threads; raises UsageError, InputError as `simulate_clocks`."""
    machine = read_machine(options.machine)
    if isinstance(file, ClockKernel):
        lowered = lower_launch(file, options.arguments)
        return ClockLaunch(assemble(lowered.program), machine, lowered.views, lowered.groups, options.most)
    groups = Groups(machine.width if options.block is None else options.block, options.grid)
    return ClockLaunch(assemble(file), machine, _views(options.arguments), groups, options.most)


def _described(machine: ClockMachine, words: Speech) -> str:
    cores = f"{words.count(machine.cores, 'core')}, each " if machine.cores > 1 else ""
    return (
        f"{machine.title}: {cores}{words.count(machine.waves, 'warp')} of width {machine.width}, "
        f"{words.count(machine.alus, 'arithmetic unit')}, issue {machine.issue}, "
        f"{machine.scheduler}{_FORMATIONS[machine.formation]}"
    )


_FORMATIONS: Final = {"none": "", "homes": ", waves formed anew", "crossbar": ", waves formed anew in any lanes"}


def read_program(path: str) -> SourceFile:
    """Return the text of a program; raises UsageError."""
    try:
        return SourceFile.read(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(Finding("INP001", "error", f"{path} cannot be read: {reason}")) from error


def read_machine(name: str) -> ClockMachine:
    """Return the machine of a file (one with a `.toml` or a `/`), or of a name, `,KEY=VALUE` behind it; raises
    UsageError."""
    name, *settings = _SETTING.split(name)
    machine = _unchanged(name)
    return change_machine(machine, dict(one.split("=", 1) for one in settings)) if settings else machine


def _unchanged(name: str) -> ClockMachine:
    if not name.endswith(".toml") and "/" not in name:
        return named_machine(name)
    try:
        return load_machine(SourceFile.read(name))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        known = f"machines that have a name: {', '.join(machine_names())}"
        raise UsageError(Finding("INP001", "error", f"{name} cannot be read: {reason}", help=(known,))) from error


def _findings(program: MaskProgram, run: ClockRun) -> Sequence[Finding]:
    found = [] if run.fault is None else [describe_fault(program, run.fault)]
    for left in run.left[:5]:
        lanes = [lane for lane in range(64) if left.lanes >> lane & 1]
        named = ", ".join(str(lane) for lane in lanes[:8]) + (" …" if len(lanes) > 8 else "")
        message = f"ret ends wave {left.wave} while lanes {named} wait on the mask stack: they never go on"
        span = program.instructions[left.index].span
        found.append(Finding("MSK005", "warning", message, span, ("put pop_mask before it, so that they come back",)))
    return found


def _views(texts: Sequence[str]) -> Views:
    found: dict[ViewKey, BoundView] = {}
    same: dict[ViewKey, tuple[str, ViewKey]] = {}
    for text in texts:
        name, _, value = text.partition("=")
        key, other = _view_key(name), _view_key(value)
        if key is None or not value:
            message = f"--arg {text}: a program of the mask ISA has views t0 to t15 and u0 to u15"
            raise UsageError(Finding("INP000", "error", message, help=("for example --arg t0=iota:u32[64]",)))
        if other is None:
            found[key] = _bound(name, value)
        else:
            same[key] = text, other
    for key, (text, other) in same.items():
        if other not in found:
            remedy = f"say what {other[0]}{other[1]} is: --arg {other[0]}{other[1]}=zeros:u32[64]"
            raise UsageError(Finding("INP000", "error", f"--arg {text}: there is no such view", help=(remedy,)))
        found[key] = found[other]
    return found


def _view_key(name: str) -> ViewKey | None:
    """Return the view that a name is of, None for other texts."""
    match = _VIEW.fullmatch(name)
    return None if match is None else ("t" if match[1] == "t" else "u", int(match[2]))


def _bound(name: str, text: str) -> BoundView:
    if text.startswith("image["):
        return _image(name, text)
    held = _load(text[1:]) if text.startswith("@") else make_argument(name, text, {}).array
    if held is None:
        raise UsageError(Finding("INP000", "error", f"--arg {name}={text}: expected a buffer or an image"))
    return _words(name, held)


def _words(name: str, held: Array) -> BoundView:
    values = np.asarray(held)
    if values.dtype.kind not in "fiu" or values.dtype.itemsize > 4:
        message = f"--arg {name}: words have 32 bits, and {values.dtype} has {8 * values.dtype.itemsize}"
        raise UsageError(Finding("INP000", "error", message, help=("f32, u32 or i32",)))
    return words_of(values)


def _image(name: str, text: str) -> BoundView:
    form = "image[W,H], image[W,H]:rand:seed=1, image[W,H]:checker=4, image[W,H]:@pixels.npy"
    match = _IMAGE.fullmatch(text)
    if not match or not 0 < int(match[1]) * int(match[2]) <= _LARGEST_IMAGE:
        raise UsageError(Finding("INP000", "error", f"--arg {name}={text}: no image", help=(form,)))
    width, height, how = int(match[1]), int(match[2]), match[3] or ""
    pixels = np.zeros((height, width, 4), np.uint8)
    if how.startswith("rand"):
        pixels = np.random.default_rng(int(match[4] or 0)).integers(0, 256, pixels.shape).astype(np.uint8)
    elif how.startswith("checker") and int(match[5]):
        rows, columns = np.mgrid[0:height, 0:width] // int(match[5])
        pixels[(rows + columns) % 2 == 1] = 255
    elif how.startswith("@"):
        pixels = _pixels(how[1:], pixels.shape)
    return image(pixels)


def _load(path: str) -> Array:
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (OSError, ValueError, EOFError) as error:
        raise InputError(Finding("INP001", "error", f"{path} is no array of numpy: {error}")) from error


def _pixels(path: str, shape: tuple[int, ...]) -> Array:
    held = _load(path)
    if held.dtype != np.uint8 or held.shape != shape:
        message = f"{path} holds {held.dtype} {list(held.shape)}, and the image is uint8 {list(shape)}"
        raise UsageError(Finding("INP000", "error", message))
    return held
