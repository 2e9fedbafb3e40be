"""STEP, a straight line: a kernel and its arguments go in; a person goes through what its warps do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.simulate import SimulateOptions, read_kernels, start_launch
from warpsmith.flows.started import StartedLaunch
from warpsmith.flows.stepping.answers import line_of
from warpsmith.flows.stepping.conditions import names_in, parse
from warpsmith.flows.stepping.session import Again, Ask, Breakpoint, Quit, Session, Watchpoint, breakpoint_of
from warpsmith.flows.stepping.turns import StepTurns
from warpsmith.flows.stepping.values import LaneScope, Recorded, VariableNames
from warpsmith.kernels.units import KernelFile, KernelUnit
from warpsmith.report.simulation.rows import Watched, mistakes_of
from warpsmith.simt.choose import Done
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Outcome
from warpsmith.simt.memory import Buffer, LaunchMemory
from warpsmith.simt.tally import Totals
from warpsmith.simt.thread import Thread
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function

__all__ = ["Stepping", "step"]

_INCOMPLETE: Final = 3


class Stepping(Struct, frozen=True):
    """What a person wants to see: `breaks` as `LINE[:COND]`, `watches` as expressions; `ask` returns what is said next,
    None where nobody is asked; `say` gets the answers."""

    breaks: tuple[str, ...]
    watches: tuple[str, ...]
    say: Callable[[str], None]
    ask: Ask | None


def step(file: KernelFile, options: SimulateOptions, stepping: Stepping) -> int:
    """Step through one kernel of `file`; return the exit code: 0 done or left, 1 a mistake ended it, 3 stopped early.

    Raises UsageError where what was asked for makes no sense, InputError where the file cannot be read.
    """
    unit = read_kernels(file, options.progress)
    kernel, _, started = start_launch(unit, file.path, options)
    names = VariableNames.of(unit, kernel)
    stepped = _Stepped(unit, kernel, options, started, names)
    session = _session(stepped, stepping)
    stepped.check(session)
    replay = -1
    try:
        while True:
            try:
                return stepped.run(session, replay)
            except Again as again:
                (replay,) = again.args
    except Quit:
        return 0


def _session(stepped: _Stepped, stepping: Stepping) -> Session:
    try:
        breakpoints = [breakpoint_of(said) for said in stepping.breaks]
        watches = [Watchpoint(said, parse(said)) for said in stepping.watches]
    except ValueError as error:
        raise _usage(str(error), "for example --break 12, --break '12:i == 3', --watch 'out[0]'") from error
    mode = "continue" if stepping.ask is None or breakpoints or watches else "next"
    return Session(stepping.say, stepping.ask, breakpoints, watches, stepped.options.selection.has, stepped.scope, mode)


def _usage(message: str, *helps: str) -> UsageError:
    return UsageError(Finding("INP000", "error", message, help=helps))


class _Stepped:
    """A kernel that is stepped through, from its start again as often as somebody goes back."""

    def __init__(
        self, unit: KernelUnit, kernel: Function, options: SimulateOptions, started: StartedLaunch, names: VariableNames
    ) -> None:
        self.unit, self.kernel, self.options, self.started, self.names = unit, kernel, options, started, names
        self.recorded = Recorded(names)
        self.buffers: dict[str, Buffer] = {}
        self.elements = {one.name: one.element for one in started.arguments if one.array is not None}

    def scope(self, thread: Thread) -> LaneScope:
        """Return what names mean in a lane."""
        return LaneScope(self.unit, self.kernel, self.recorded, self.buffers, self.elements, thread)

    def check(self, session: Session) -> None:
        """Raise UsageError for lines that have no instruction, and names that there are not."""
        lines = {line_of(one) for block in self.kernel.blocks for one in (*block.instructions, block.terminator)} - {0}
        for one in session.breakpoints:
            if one.line not in lines:
                raise _usage(f"--break {one.line}: no instruction of {self.kernel.name} is there", _lines(lines))
            self._check_names(f"--break {one.line}", one)
        for watch in session.watches:
            self._check_names(f"--watch {watch.text}", Breakpoint(0, watch.text, watch.expression))

    def _check_names(self, option: str, one: Breakpoint) -> None:
        arrays = [
            *self.elements,
            *(s.name.partition(".")[0] for s in (*self.kernel.symbols, *self.unit.module.symbols)),
        ]
        built_in = [f"{base}.{axis}" for base in ("threadIdx", "blockIdx", "blockDim", "gridDim") for axis in "xyz"]
        variables = {*self.names.known, *built_in, "lane", "warp", "block", "thread"}
        for name, indexed in names_in(one.condition) if one.condition is not None else ():
            if name not in (arrays if indexed else variables):
                kind = "array" if indexed else "variable"
                known = arrays if indexed else self.names.listed
                raise _usage(f"{option}: there is no {kind} {name}", f"there are {', '.join(known) or 'none'}")

    def run(self, session: Session, replay: int) -> int:
        """Run the kernel from its start; return the exit code. Raises Again, Quit."""
        memory, buffers = self.started.placed(checks=bool(self.options.checks))
        self.buffers.clear()
        self.buffers.update(buffers)
        self.recorded.held.clear()
        session.begin(replay)
        graphs = {function.name: Graph.of(function) for function in self.unit.module.functions if function.blocks}
        launch = self.started.launch
        turns = StepTurns(graphs, launch.warp, session.at, self.recorded.phi)
        outcome = interpret(self.unit.module, self.kernel.name, launch, memory, self.recorded, turns=turns)
        told = self._mistakes(outcome, memory)
        for text in told:
            session.say(text)
        steps = f"{turns.number:,} steps of warps, {outcome.steps:,} of lanes"
        why = next((p.message for p in reversed(outcome.problems) if p.kind != "uninitialized"), "")
        session.finish(f"the run is over: {steps}" if outcome.complete else f"the run was stopped: {why}; {steps}")
        return 1 if told else 0 if outcome.complete else _INCOMPLETE

    def _mistakes(self, outcome: Outcome, memory: LaunchMemory) -> Sequence[str]:
        sizes = {one.name: one.array.itemsize for one in self.started.arguments if one.array is not None}
        done = Done(outcome, Totals(), {}, ())
        found = mistakes_of(Watched(self.unit, self.kernel, self.started.launch, memory, sizes, done))
        return [f"line {one.finding.span.line if one.finding.span else 0}: {one.finding.message}" for one in found]


def _lines(lines: set[int]) -> str:
    return f"lines with instructions: {', '.join(map(str, sorted(lines)))}"
