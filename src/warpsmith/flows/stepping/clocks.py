"""STEP with clocks, a straight line: a program and a machine go in; a person goes through its clocks.

The reference runs (simt/clocks/reference.py), some thousand clocks a second for small machines: the compiled machine
cannot be looked into.
"""

from __future__ import annotations

from collections.abc import Callable

from warpsmith.base.source import SourceFile
from warpsmith.flows.clocks.kernels import ClockKernel
from warpsmith.flows.clocks.simulate import ClockOptions, check_lanes_stay, prepare_launch
from warpsmith.flows.stepping.clock_answers import Stepped
from warpsmith.flows.stepping.clock_session import ClockSession
from warpsmith.flows.stepping.session import Again, Ask, Quit
from warpsmith.simt.clocks.reference import run_reference
from warpsmith.simt.clocks.watching import ClockWatcher
from warpsmith.simt.mask.run import waves_of
from warpsmith.simt.mask.stack import describe_fault

__all__ = ["step_clocks"]

_STOPPED = 3


def step_clocks(file: SourceFile | ClockKernel, options: ClockOptions, say: Callable[[str], None], ask: Ask) -> int:
    """Step through the clocks of a program; return the exit code: 0 done or left, 1 a fault, 3 too many clocks.

    Raises UsageError where what was asked for makes no sense, InputError where the program is wrong.
    """
    launch = prepare_launch(file, options)
    check_lanes_stay(launch.machine, "-i")
    waves = waves_of(launch.groups, launch.machine.width)
    lanes = {number: (1 << count) - 1 for number, (_, count) in enumerate(waves)}
    session = ClockSession(Stepped(launch.program, launch.machine), say, ask, lanes)
    clock = options.shown[0] if options.shown else 0
    while True:
        session.begin(clock)
        try:
            run = run_reference(launch, ClockWatcher(session.at))
            if run.fault is None:
                session.finish(f"the run is over: {run.totals.clocks:,} clocks")
                return 0
            told = describe_fault(launch.program, run.fault)
            line = f"line {told.span.line}: " if told.span else ""
            session.finish(f"the run is stopped in clock {run.totals.clocks:,}: {line}{told.message}")
            return _STOPPED if run.fault.kind == "endless" else 1
        except Again as again:
            (clock,) = again.args
        except Quit:
            return 0
