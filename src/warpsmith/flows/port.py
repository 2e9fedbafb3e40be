"""PORT, the first straight line: a C program goes in, a verified CUDA program comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.clock import Clock
from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.progress import Activity
from warpsmith.base.time_limit import OutOfTimeError, time_limit, time_share
from warpsmith.emit.files import OutputFile
from warpsmith.flows.porting.plan import Written
from warpsmith.flows.porting.prepare import plan_port, search_steps
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions, Loaded, load_program
from warpsmith.front.teams.read import left_out_finding, read_teams
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.search.unthreading import adds_to_numbered_parts
from warpsmith.loops.select import select_loops
from warpsmith.loops.step import Step
from warpsmith.offload.findings import cut_findings
from warpsmith.offload.plan import OffloadOptions, Plan, Port
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.assumptions import check_forms, check_names, check_sizes, find_heeded
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.granted import grants
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.recipes.request import StepRequest
from warpsmith.run.verification import NO_ROUNDING, Verification, VerifyOptions
from warpsmith.tree.nodes import Loop
from warpsmith.tree.program import Program

if TYPE_CHECKING:
    from warpsmith.emit.host.in_place import InPlace
    from warpsmith.report.placed import PolicyReport
    from warpsmith.report.searched import PortSearch

__all__ = ["PortOptions", "PortResult", "port"]


# of the time of a program: verdicts on its loops as they are written; steps that are tried
_VERDICTS_SHARE, _STEPS_SHARE = 1 / 5, 1 / 6
# what of it is left where a plan gets no simpler any more: its text has to be written
_TEXT_SHARE = 1 / 3
# what is said where values differ, and nothing is wrong besides
_VALUES = frozenset({"VER004", "VER007", "VER008", "VER009", "VER010"})
_MORE_TIME = ("raise --timeout, name the loops that matter (--loop), or give parts of a long function their own",)


class PortOptions(Struct, frozen=True):
    """The options of a port. `loops`: FILE:LINE or loop addresses; `survey`: stop after the verdicts;
    `steps`: look for steps that make more loops parallel; `verify`: run the referee on the result;
    `recipe` (a file) and `transforms` (NAME=LOOP,key=value): steps to apply, see recipes/request.py;
    `explain_illegal`: look for what would make a refused one legal; `root`: the folder of the project in which the port
    shall be written in place as well; `assumed`: what the configuration asserts, granted where the program has all
    of its names; `chosen`: steps in place of a recipe's."""

    front: FrontOptions = field(default_factory=FrontOptions)
    poly: PolyOptions = field(default_factory=PolyOptions)
    offload: OffloadOptions = field(default_factory=OffloadOptions)
    run: VerifyOptions = field(default_factory=VerifyOptions)
    loops: tuple[str, ...] = ()
    survey: bool = False
    steps: bool = True
    verify: bool = True
    single_file: bool = False
    recipe: str | None = None
    transforms: tuple[str, ...] = ()
    explain_illegal: bool = False
    root: str | None = None
    assumed: tuple[str, ...] = ()
    chosen: tuple[Step, ...] = ()


class PortResult(Struct, frozen=True):
    """Everything that the port found and made; `files` is empty after a survey."""

    prepared: Prepared
    plan: Plan | None
    files: tuple[OutputFile, ...]
    verification: Verification | None
    diagnostics: tuple[Finding, ...]
    findings: tuple[Finding, ...]
    timing_s: dict[str, float]
    in_place: InPlace | None = None
    ported: Port | None = None
    search: PortSearch | None = None
    placement: PolicyReport | None = None

    def __repr__(self) -> str:
        # all nodes of all programs, each with its symbols and types, do not fit into memory as text
        verdict = "" if self.verification is None else f", {self.verification.status}"
        return f"<port of {', '.join(unit.file.path for unit in self.program.units)}{verdict}>"

    @property
    def program(self) -> Program:
        """What the user wrote."""
        return self.prepared.original.program

    @property
    def facts(self) -> Facts:
        """What is known of it as it is written."""
        return self.prepared.original


def port(paths: Sequence[str | Source], options: PortOptions) -> PortResult:
    """Port the loops of the C files `paths` to CUDA.

    Raises InputError where no input can be read, or its plan takes longer than a piece of work may, and UsageError
    where a loop that was asked for does not exist.
    """
    clock = Clock()
    # The steps that were asked for, before anything is read that takes time.
    asked = StepRequest.of(options.recipe, options.transforms, options.chosen)
    check_forms(assumption.text for assumption in options.poly.granted)
    # What the user wrote: a tree whose every node knows the text that it came from.
    report = options.run.progress
    report(Activity("reading", _name_paths(paths)))
    loaded = load_program(paths, options.front)
    loaded, options = _with_team_loops(loaded, _with_assertions(loaded.program, options))
    clock.lap("parse")
    # The loops that were asked for; every loop where nothing was.
    selected = select_loops(loaded.program, options.loops)
    # What may run in parallel as written, exactly, and under which conditions; what the user's pragmas claim is judged
    # as well, and what of it cannot be judged is granted: the referee tests it.
    report(Activity("analyzing", f"{sum(1 for _ in loaded.program.functions())} functions"))
    in_time = partial(_in_time, paths, options.front.timeout_s, clock)
    facts, said = _analyze(loaded, asked.poly(options.poly), paths, options.front.timeout_s * _VERDICTS_SHARE)
    clock.lap("analyze")
    report(Activity("trying steps"))
    # The steps that make more of it parallel, each proved, and what runs where, what moves when, after them.
    search = options.steps and not asked.exact
    tried = options.front.timeout_s * _STEPS_SHARE if search else None
    with in_time("planned"):
        prepared = asked.apply_to(Prepared(facts, facts), explain=options.explain_illegal)
    if options.survey:
        prepared = search_steps(prepared, selected, tried)
        clock.lap("steps")
        return PortResult(prepared, None, (), None, _with_cut(said, prepared), (), clock.laps)
    report(Activity("planning"))
    # In place, a build with other macros than the one at hand stops.
    wanted = replace(asked.offload(options.offload), demanded=bool(options.loops), one_build=options.root is not None)
    how = partial(plan_port, search=tried, single_file=options.single_file, root=options.root, compared=options.verify)
    write = in_time("planned")(how)
    prepared, written = write(prepared, selected, wanted)
    asked.check_tested(written.port.uncovered)
    plan = written.port.plan
    if search and selected and any(finding.severity == "error" for finding in plan.findings):
        plan = _with_remedies(
            (plan, facts, selected),
            (tuple(paths), options.front),
            lambda other: write(asked.apply_to(Prepared(other, other)), selected, wanted)[1].port.plan,
        )
    result = PortResult(prepared, plan, (), None, said, plan.findings, clock.laps)
    clock.lap("plan")
    if not plan.fragments:
        return result
    report(Activity("verifying" if options.verify else "writing"))
    # The referee builds both programs, runs the port under hostile schedules, and compares.
    verified = _referee(prepared, written, options) if options.verify else None
    clock.lap("verify")
    result = replace(result, files=written.files, in_place=written.in_place, ported=written.port, verification=verified)
    return _port_again(paths, options, result) if search else result


def _port_again(paths: Sequence[str | Source], options: PortOptions, result: PortResult) -> PortResult:
    """Return another port where the referee has found that this one rests on what is not so, else `result`."""
    # A pragma that is wrong counts for nothing; where its loop was asked for, that is the answer.
    wrong = _wrong_pragmas(result.verification, options.poly) if not options.loops else ()
    if wrong:
        return _port_without(paths, options, wrong)
    # Where results hang on the last bits of a sum, its order is kept, and its loop stays.
    return _port_in_order(paths, options, result) if _hangs_on_order(result, options) else result


def _with_cut(said: tuple[Finding, ...], prepared: Prepared) -> tuple[Finding, ...]:
    """Return what is said of a program, and of which functions not every step was tried."""
    return (*said, *cut_findings(prepared.original.program, prepared.cut))


def _analyze(
    loaded: Loaded, options: PolyOptions, paths: Sequence[str | Source], seconds: float
) -> tuple[Facts, tuple[Finding, ...]]:
    """Return the verdicts on all loops, and what is said of the program: also where for some there was no time, which
    are so many seconds."""
    facts = analyze(loaded.program, options, apply_claims, seconds)
    if not facts.late:
        return facts, loaded.findings
    names = ", ".join(f.symbol.name for _, f in loaded.program.functions() if f.symbol in facts.late)
    where = f"{_name_paths(paths)} were analyzed within {seconds:g} s of processor time"
    message = f"not all loops of {where}: some of {names} have no verdict"
    return facts, (*loaded.findings, Finding("INP009", "warning", message, None, _MORE_TIME))


@contextmanager
def _in_time(paths: Sequence[str | Source], seconds: float, clock: Clock, done: str) -> Iterator[None]:
    """Bound the time of one piece of work on the loops of a program: what is left of so many seconds of processor time
    (0: any) since the clock was started.

    Raises InputError where it is up: what was bounded by counts is still too much for this machine.
    """
    left = max(seconds - clock.worked, 1) if seconds > 0 else 0
    simple = max(left - seconds * _TEXT_SHARE, 1) if seconds > 0 else 0
    try:
        with time_limit(left, "processor"), time_share(simple):
            yield
    except OutOfTimeError as error:
        message = f"the loops of {_name_paths(paths)} were not {done} within {seconds:g} s of processor time"
        raise InputError(Finding("INP009", "error", message, None, _MORE_TIME)) from error


def _with_assertions(program: Program, options: PortOptions) -> PortOptions:
    """Return the options with everything granted; raises UsageError for a name that the program does not have."""
    check_names(program, options.poly.granted)
    check_sizes(program, options.offload.sizes or ())
    granted = (*options.poly.granted, *find_heeded(program, options.assumed))
    return replace(options, poly=replace(options.poly, granted=granted), assumed=())


def _with_team_loops(loaded: Loaded, options: PortOptions) -> tuple[Loaded, PortOptions]:
    """Return the program with loops in place of the target constructs whose teams ask for their numbers, and options
    that run the original with as many threads as those loops have."""
    granted = options.poly.granted
    found = read_teams(loaded.program, lambda name: grants(granted, "full_teams", name) is not None)
    findings = (*loaded.findings, *map(left_out_finding, found.left))
    run = replace(options.run, threads=max(found.threads, options.run.threads))
    return Loaded(found.program, findings), replace(options, run=run)


def _with_remedies(
    made: tuple[Plan, Facts, tuple[Loop, ...]],
    read: tuple[tuple[str | Source, ...], FrontOptions],
    planned: Callable[[Facts], Plan],
) -> Plan:
    """Return the plan of some facts with what would help a loop that was asked for and stays: tried, not guessed; the
    plan as it is where there is no time for that. `read`: what the program was read from, and how; `planned`: the plan
    for other facts."""
    # loaded where it is wanted: what changes programs and tries again takes longer to load than many a port to make
    from warpsmith.flows.hints.refused import Trials, with_remedies
    from warpsmith.flows.hints.remedies import Inputs

    try:
        return with_remedies(*made, Trials(Inputs(*read), planned))
    except InputError:
        return made[0]


def _name_paths(paths: Sequence[str | Source]) -> str:
    first = paths[0] if isinstance(paths[0], str) else paths[0].path
    return first if len(paths) == 1 else f"{first} and {len(paths) - 1} more"


def _wrong_pragmas(verification: Verification | None, options: PolyOptions) -> tuple[Finding, ...]:
    """Return the findings about pragmas that regions rest on which the referee rejects, if there is any new one."""
    failed = verification.reasons if verification is not None and verification.status == "fail" else ()
    found = tuple(finding for finding in failed if finding.rule == "VER027" and finding.span is not None)
    return found if _places(found) - options.disbelieved else ()


def _places(findings: tuple[Finding, ...]) -> frozenset[tuple[str, int]]:
    return frozenset((f.span.file.path, f.span.line) for f in findings if f.span is not None)


def _port_without(paths: Sequence[str | Source], options: PortOptions, wrong: tuple[Finding, ...]) -> PortResult:
    """Port again without the word of pragmas that are wrong."""
    poly = replace(options.poly, disbelieved=options.poly.disbelieved | _places(wrong))
    again = port(paths, replace(options, poly=poly))
    dropped = (replace(f, message=f"{f.message}; this port does without it", help=f.help[1:]) for f in wrong)
    return replace(again, findings=(*dropped, *again.findings))


def _hangs_on_order(result: PortResult, options: PortOptions) -> bool:
    """Whether kernels combine floating-point numbers in another order, and nothing but values differs: integers and
    text, which may be made from the last digits, or these digits themselves."""
    verified, plan = result.verification, result.plan
    if verified is None or plan is None or verified.status != "fail" or options.offload.precise_fp:
        return False
    wrong = [reason for reason in verified.reasons if reason.severity == "error"]
    if any(help.startswith(NO_ROUNDING) for reason in wrong for help in reason.help):
        return False
    return {reason.rule for reason in wrong} <= _VALUES and any(
        fragment.kernel.reordered for fragment in plan.fragments
    )


def _port_in_order(paths: Sequence[str | Source], options: PortOptions, failed: PortResult) -> PortResult:
    """Port again with sums in the order of the original; return `failed` where that is no better."""
    again = port(paths, replace(options, offload=replace(options.offload, precise_fp=True)))
    if again.verification is None or again.verification.status not in ("pass", "undecided"):
        return failed
    assert failed.verification is not None
    first = next(reason for reason in failed.verification.reasons if reason.severity == "error")
    text = f"with floating-point sums in another order, {first.message}: this port keeps the order of the original"
    return replace(again, findings=(Finding("VER039", "warning", text), *again.findings))


def _referee(prepared: Prepared, written: Written, options: PortOptions) -> Verification:
    # loaded where it is wanted: what builds and compares programs takes longer to load than many a port to make
    from warpsmith.flows.porting.verdict import judge_port

    run = replace(options.run, one_thread=True) if adds_to_numbered_parts(prepared) else options.run
    return judge_port(prepared, written, run, options.root)
