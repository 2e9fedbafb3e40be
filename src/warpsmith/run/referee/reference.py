"""The original program, built and run as often as it takes to know what it determines.

    base      the run that the candidate is compared with
    again     another content of memory that nobody wrote, another time, other addresses
    filled    for each run of the candidate, one with the same content of memory that nobody wrote
    bent      as base, another time, other addresses                  what differs is masked in what is written
    moved     as bent, but for the time of day                        what differs is masked in what is captured
    zero      the same build with zeroed automatic variables
    variants  -O0, -O3, contraction; reassociation where the port may sum            the numbers' spread
              in another order

A program that reads memory before it writes it is so compared under like conditions, and so is one that draws its
random numbers from the time of day: in all runs but `again` and `bent` that is a count of the questions about it
(capture/ws_clock.c). What is printed of it stays masked, as it is no result. Where `base` and `again` agree in
everything, they serve as `filled`, `bent` and `moved`: most programs are run twice. The last two are made only when a
candidate does not match bit for bit.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib import resources
from pathlib import Path

import msgspec.structs

from warpsmith.emit.files import OutputFile
from warpsmith.run.compare.captures import CaptureLog
from warpsmith.run.compare.judge import Evidence
from warpsmith.run.compare.left import read_left
from warpsmith.run.compare.output import OutputRule, rule_of
from warpsmith.run.compare.tolerance import AUTOMATIC_FILLS, Allowance
from warpsmith.run.native.programs import RUNTIME_FILE, BuiltProgram, RunOutcome, RunSetting, build_native, run_program
from warpsmith.run.verification import Sources, VerifyOptions

__all__ = ["ReferenceProgram", "pattern_flags", "run_environment", "runtime_files"]

_BASE = ("-O1", "-fno-strict-aliasing", "-ffp-contract=off")
_VARIANTS = (
    ("-O0", "-fno-strict-aliasing", "-ffp-contract=off"),
    ("-O3", "-fno-strict-aliasing", "-ffp-contract=off"),
    ("-O3", "-fno-strict-aliasing", "-ffp-contract=fast", "-march=native"),
)
_FREE_ORDER = ("-O3", "-fno-strict-aliasing", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math")
_REASSOCIATED = (
    _FREE_ORDER,
    (*_FREE_ORDER, "-march=native"),
    (*_FREE_ORDER, "-funroll-loops", "-fvariable-expansion-in-unroller"),
    # no compiler reorders a running sum; 80-bit arithmetic shows how much its roundings matter (x86 only)
    ("-O3", "-fno-strict-aliasing", "-mfpmath=387", "-fexcess-precision=fast"),
)
# the time of day at which every run starts: many a program seeds its random numbers with it
_EPOCH = "1700000000"
# bytes that make floating-point numbers of moderate size, 32.5 or -3: what is added to them is not lost in rounding
_FILLS = (0x40, 0xBF, 0x41, 0xC0, 0x3F, 0xC1)
_RUNTIME = ("ws_log.c", "ws_variables.c", "ws_heap.c", "ws_left.c", "ws_capture.c")


def runtime_files(*, clock: bool = False, harness: bool = False) -> tuple[OutputFile, ...]:
    """Return the capture runtime as files to compile; `clock`: with clocks that can be bent."""
    names = [*_RUNTIME, *(["ws_clock.c"] if clock else []), *(["ws_harness.c"] if harness else [])]
    root = resources.files("warpsmith.run") / "capture"
    texts = ["#define _GNU_SOURCE\n", *((root / name).read_text(encoding="latin-1") for name in names)]
    header = OutputFile("ws_log.h", (root / "ws_log.h").read_text(encoding="latin-1"))
    # One file: it is compiled once a build, and its parts share no static name.
    return header, OutputFile(RUNTIME_FILE, "\n".join(texts))


def pattern_flags(content: str, directory: Path) -> tuple[str, ...]:
    """Return the flag that fills automatic variables (`pattern` or `zero`), where the compiler has it."""
    flag = f"-ftrivial-auto-var-init={content}"
    probe = directory / f"probe_{content}"
    built = build_native(Sources((OutputFile("probe.c", "int main(void){int a[9];return a[1]&0;}\n"),)), (flag,), probe)
    return (flag,) if built.command else ()


def run_environment(fill: int | None, poison: int) -> Mapping[str, str]:
    """Return what makes a run differ from others: `fill` numbers the content of memory that nobody has written, the
    same in all programs (None: zeroes); `poison` that of memory which must not be read at all."""
    content = 0 if fill is None else _FILLS[fill % len(_FILLS)]
    return {"WS_FILL": str(content), "WS_POISON": str(poison), "WS_EPOCH": _EPOCH}


class ReferenceProgram:
    """The original, built and run below `work`; what it takes to make more of it is done when it is first asked for.
    `leaves`: what it leaves in memory is kept, since no captures say what its regions wrote. `zeroes`: memory that
    nobody wrote holds zeroes in all runs."""

    def __init__(
        self, sources: Sources, options: VerifyOptions, work: Path, *, harness: bool = False, zeroes: bool = False
    ) -> None:
        self._given = sources
        self._options = options
        self._work = work
        self.zeroes = zeroes
        runtime = runtime_files(clock=True, harness=harness)
        self._sources = msgspec.structs.replace(sources, files=(*sources.files, *runtime))
        self.leaves = not (harness or sources.captured)
        self.skip_cases: tuple[int, ...] = ()
        self._filled: dict[int, RunOutcome] = {}

    @cached_property
    def pattern(self) -> tuple[str, ...]:
        """The compiler's flag for a known content of automatic variables."""
        return pattern_flags("zero" if self.zeroes else "pattern", self._work)

    def with_zeroes(self) -> ReferenceProgram:
        """Return the same program, run with zeroes where nobody has written."""
        return ReferenceProgram(self._given, self._options, self._work / "zeroes", zeroes=True)

    def environment(self, fill: int, poison: int) -> Mapping[str, str]:
        """Return what makes a run differ from others; see `run_environment`."""
        return run_environment(None if self.zeroes else fill, poison)

    @cached_property
    def built(self) -> BuiltProgram:
        """The base build."""
        return self._build("base", (*_BASE, *self.pattern))

    @cached_property
    def base(self) -> RunOutcome:
        """The run that the candidate is compared with."""
        kept = {"WS_LEFT": str(self._work / "base_1" / "left"), "WS_LEFT_ALL": "1"} if self.leaves else {}
        return self.run(self.built, "base_1", {**self.environment(0, 1), **kept})

    @cached_property
    def left(self) -> tuple[bytes, ...] | None:
        """What the base run left in memory; None where that is not known."""
        return read_left(self._work / "base_1" / "left") if self.leaves and not self.base.failure else None

    @cached_property
    def again(self) -> RunOutcome:
        """The second run: other memory, other addresses, another time."""
        return self.run(self.built, "base_2", {**self.environment(1, 2), "WS_CLOCK": "1"})

    @cached_property
    def is_steady(self) -> bool:
        """Whether the two base runs agree in everything that is compared."""
        one, other = self.base, self.again
        said = (one.stdout, one.files, one.exit_code) == (other.stdout, other.files, other.exit_code)
        return said and _hashes(one.log) == _hashes(other.log)

    @cached_property
    def bent(self) -> RunOutcome:
        """A run that only time and addresses tell apart from the base."""
        if self.is_steady:
            return self.again
        return self.run(self.built, "bent", {**self.environment(0, 2), "WS_CLOCK": "1"})

    @cached_property
    def moved(self) -> RunOutcome:
        """A run that addresses, and time that passes, tell apart from the base; it has the same time of day."""
        if self.is_steady:
            return self.again
        return self.run(self.built, "moved", {**self.environment(0, 2), "WS_CLOCK": "1", "WS_DAY": "1"})

    def run_filled(self, number: int) -> RunOutcome:
        """Return the run in which memory that nobody wrote has the content that it has in the candidate's run `number`;
        the base where that makes no difference, or where the program then fails."""
        if number == 0 or self.is_steady or self.zeroes:
            return self.base
        if number not in self._filled:
            self._filled[number] = self.run(self.built, f"filled_{number}", self.environment(number, 1))
        found = self._filled[number]
        return self.base if found.failure else found

    @property
    def captured(self) -> bool:
        """Whether the program is one of ours, with captures in it."""
        return self._sources.captured

    @property
    def addressed(self) -> frozenset[str]:
        """The regions that the candidate may leave to the user's own loops, by where blocks of memory lie."""
        return self._sources.addressed

    @property
    def reordered(self) -> bool:
        """Whether the port is known to combine floating-point numbers in another order."""
        return self._sources.reordered_bits > 0

    @cached_property
    def zeroed(self) -> tuple[RunOutcome, ...]:
        """The run with zeroed automatic variables, where that is another build."""
        if not self.pattern or self.zeroes:
            return ()
        return self._variant("zero", (*_BASE, "-ftrivial-auto-var-init=zero"))

    @cached_property
    def variants(self) -> tuple[RunOutcome, ...]:
        """The runs of the other builds that C allows; a build or run that fails says nothing."""
        free = self.reordered or not self._sources.captured
        flags = [*_VARIANTS, *(_REASSOCIATED if free else [])]
        jobs = [(f"variant_{i}", (*f, *self.pattern)) for i, f in enumerate(flags)]
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda job: self._variant(*job), jobs))
        return tuple(outcome for outcomes in found for outcome in outcomes)

    def first_evidence(self) -> Evidence:
        """What addresses and time that passes leave open, and blocks of memory that nobody wrote."""
        again = self.base.log, self.moved.log
        return Evidence(
            again,
            unwritten=self._heap(),
            given=self._allowed_difference(),
            reordered_bits=self._sources.reordered_bits,
        )

    def full_evidence(self) -> Evidence:
        """What all builds leave open, and all memory that nobody wrote."""
        given = self._allowed_difference()
        variants = () if given is not None else self.variants
        heap = self._heap()
        stack = [((self.base.log, AUTOMATIC_FILLS), (log, b"\0")) for log in _logs(self.zeroed)]
        again = self.base.log, self.moved.log
        return Evidence(again, _logs(variants), (*heap, *stack), given, self._sources.reordered_bits)

    def _heap(self) -> tuple[tuple[tuple[CaptureLog, bytes], ...], ...]:
        """Return two runs with what blocks of memory were filled with in them; both have the same time of day, where
        the program can be run so. None tell apart what nobody wrote where that holds zeroes."""
        if self.zeroes:
            return ()
        filled = self.run_filled(1)
        other = self.again if filled is self.base else filled
        return (((self.base.log, bytes(_FILLS[:1])), (other.log, bytes(_FILLS[1:2]))),)

    def known_evidence(self) -> Evidence:
        """What a comparison that has been made already took into account: all builds, or none."""
        return self.full_evidence() if "variants" in self.__dict__ else self.first_evidence()

    def output_rule(self, name: str | None, rounding: float = 0.0) -> OutputRule:
        """Return what may differ in standard output (None) or in the file `name`, all builds considered; `rounding`: by
        how much of their size objects were seen to differ."""
        variants = () if self._allowed_difference() is not None else self.variants
        rule = rule_of(_output(self.base, name), [_output(self.bent, name)], [_output(o, name) for o in variants])
        given = self._options
        return msgspec.structs.replace(rule, absolute=given.absolute, relative=given.relative, rounding=rounding)

    def plain_rule(self, name: str | None) -> OutputRule:
        """Return what differs with time and addresses."""
        return rule_of(_output(self.base, name), [_output(self.bent, name)], [])

    def run(self, built: BuiltProgram, name: str, environment: Mapping[str, str]) -> RunOutcome:
        """Run a build of the original in a directory of its own."""
        work = self._work / name
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        skip = {"WS_SKIP": ",".join(map(str, self.skip_cases))}
        return run_program(
            built.command, self._options, RunSetting(work, {**environment, **skip}, self._options.timeout_s)
        )

    def restart(self, skip_cases: tuple[int, ...]) -> None:
        """Forget the base runs and leave out these cases of the harness from now on."""
        self.skip_cases = skip_cases
        for name in ("base", "left", "again", "is_steady", "bent", "moved"):
            self.__dict__.pop(name, None)
        self._filled.clear()

    def _build(self, name: str, flags: Sequence[str]) -> BuiltProgram:
        directory = self._work / f"build_{name}"
        directory.mkdir(parents=True)
        return build_native(self._sources, flags, directory)

    def _variant(self, name: str, flags: Sequence[str]) -> tuple[RunOutcome, ...]:
        built = self._build(name, flags)
        if not built.command:
            return ()
        outcome = self.run(built, name, self.environment(0, 1))
        return () if outcome.failure or outcome.exit_code != self.base.exit_code else (outcome,)

    def _allowed_difference(self) -> Allowance | None:
        if self._options.absolute is None and self._options.relative is None:
            return None
        return Allowance(self._options.absolute or 0.0, self._options.relative or 0.0)


def _hashes(log: CaptureLog) -> dict[tuple[str, str, int], tuple[int, int, int]]:
    return {
        (*key, instance): (record.first, record.count, record.hash)
        for key, records in log.records.items()
        for instance, record in records.items()
    }


def _logs(outcomes: Sequence[RunOutcome]) -> tuple[CaptureLog, ...]:
    return tuple(outcome.log for outcome in outcomes)


def _output(outcome: RunOutcome, name: str | None) -> bytes:
    return outcome.stdout if name is None else outcome.files.get(name, b"")
