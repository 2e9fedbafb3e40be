"""The hostile referee: is the candidate program right? It is built, run under hostile schedules, and compared.

    original   built plainly, run twice          what differs between the runs is masked
    candidate  built on the emulation, run with descending threads, then in seeded permutations, memory that nobody
               has written filled with other garbage each time
    compared   every captured object, standard output, exit code, written files; races and illegal accesses fail

The verdict is `pass` only if every run of the candidate agrees with the original in everything that the original
determines. It is `skipped` where the original itself gives no answer to compare with.
"""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from warpsmith.base.findings import Finding
from warpsmith.run.candidate import Candidate, Trial
from warpsmith.run.harness import HarnessPlan, defines, harnessed, plan_harness, strip_text
from warpsmith.run.judge import compare_logs
from warpsmith.run.output import OutputRule, compare_files, compare_text, masked_tokens
from warpsmith.run.programs import Outcome
from warpsmith.run.reference import Reference
from warpsmith.run.verification import HarnessFunction, LiveOut, Race, Sources, Verification, VerifyOptions

__all__ = ["judge_program", "verify"]

_SCHEDULES = 3
_MOST_SKIPPED = 40
_MOST_MASKED_SHOWN = 50
_MOST_OBJECTS_SHOWN = 3


def verify(
    original: Sources, candidate: Sources, options: VerifyOptions, harness: tuple[HarnessFunction, ...] = ()
) -> Verification:
    """Judge `candidate` against `original`; `harness`: what to call where the programs have no `main`.

    Raises UsageError where no compiler is found.
    """
    original = dataclasses.replace(original, reordered=candidate.reordered, addressed=candidate.addressed)
    with _workspace(options) as work:
        mains = [_has_main(sources) for sources in (original, candidate)]
        if mains[0] != mains[1]:
            has, lacks = ("candidate", "original") if mains[1] else ("original", "candidate")
            return _failed("VER012", f"the {has} has a main, the {lacks} has none: they are different programs")
        if mains[0]:
            reference = Reference(original, options, work / "original")
            return judge_program(reference, candidate, options, work)
        return _judge_functions(original, candidate, options, harness, work)


@contextmanager
def _workspace(options: VerifyOptions) -> Iterator[Path]:
    """Make the directory in which everything is built and run; it stays where the user asked to keep it."""
    if options.keep_dir is not None:
        kept = Path(options.keep_dir)
        kept.mkdir(parents=True, exist_ok=True)
        yield Path(tempfile.mkdtemp(prefix="verify-", dir=kept))
        return
    work = Path(tempfile.mkdtemp(prefix="warpsmith-"))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _has_main(sources: Sources) -> bool:
    return any(defines(strip_text(file.text), "main") for file in sources.files)


# --- functions without a main


def _judge_functions(
    original: Sources, candidate: Sources, options: VerifyOptions, harness: tuple[HarnessFunction, ...], work: Path
) -> Verification:
    plan = plan_harness(harness, options)
    notes = tuple(
        Finding("VER021", "note", f"{f.function.symbol.name} is not called: {reason}", f.function.symbol.span)
        for f, reason in plan.skipped
    )
    if not plan.cases:
        why = (
            "no function of the program can be called" if harness else "the program has no main and no function to call"
        )
        return Verification("skipped", reasons=(Finding("VER020", "warning", why), *notes))
    callers = harnessed(original, plan, None)
    if isinstance(callers, str):
        return Verification(
            "skipped", reasons=(Finding("VER020", "warning", f"the original program itself: {callers}"),)
        )
    reference = Reference(callers, options, work / "original", harness=True)
    if not reference.built.command:
        return _unusable(f"cannot be built: {reference.built.message}", notes)
    notes += tuple(_settle(reference, plan))
    counts = {key: value for key, value in reference.base.log.marks.items() if key[0] != "begin"}
    done = {name for region, name in reference.base.log.marks if region == "end"}
    if not any(case.label in done for case in plan.cases):
        none = Finding("VER020", "warning", "no call of the original program itself ends properly")
        return Verification("skipped", reasons=(none, *notes))
    told = harnessed(candidate, plan, counts)
    if isinstance(told, str):
        return _failed("VER012", f"the candidate is another program: {told}")
    foreign = not candidate.captured
    lenient = frozenset(case.label for case in plan.cases if foreign and case.overlap is not None)
    verdict = judge_program(reference, told, options, work, lenient)
    called = len({case.function.function.symbol for case in plan.cases})
    calls = len(done & _labels(plan))
    inputs = f"{called} function{'s' * (called != 1)}, {calls} call{'s' * (calls != 1)} with generated arguments"
    return dataclasses.replace(verdict, inputs=inputs, reasons=(*verdict.reasons, *notes))


def _labels(plan: HarnessPlan) -> set[str]:
    return {case.label for case in plan.cases}


def _settle(reference: Reference, plan: HarnessPlan) -> Iterator[Finding]:
    """Leave out, one after the other, the cases in which the original itself fails."""
    skipped: list[int] = []
    while len(skipped) < _MOST_SKIPPED:
        bad = _bad_cases(reference, plan) - set(skipped)
        if not bad:
            return
        skipped += sorted(bad)
        for number in sorted(bad):
            case = plan.cases[number]
            how = reference.base.failure or "it ends the program, or touches memory outside its arguments"
            message = f"{case.label} is left out: the original program itself fails there ({how})"
            yield Finding("VER021", "note", message, case.function.function.symbol.span)
        reference.restart(tuple(skipped))


def _bad_cases(reference: Reference, plan: HarnessPlan) -> set[int]:
    bad: set[int] = set()
    for outcome in (reference.base, reference.again):
        marks = outcome.log.marks
        outside = {number for (region, _), number in marks.items() if region == "outside"}
        too_large = {number for (region, _), number in marks.items() if region == "too large"}
        unfinished = {n for (region, label), n in marks.items() if region == "begin" and ("end", label) not in marks}
        bad |= outside | (unfinished - too_large)
    return {number for number in bad if number < len(plan.cases)}


# --- one program against the other

_RUN_MORE = "say how to run it, so that it comes to what was ported: --run-args, --run-stdin, --run-dir"
_TOO_SLOW = (
    "the emulation is far slower than a GPU: give the program less work (--run-args, -D) or more time (--timeout)"
)


def judge_program(
    reference: Reference, sources: Sources, options: VerifyOptions, work: Path, lenient: frozenset[str] | None = None
) -> Verification:
    """Judge a program; `lenient` is None where it has a main, else the calls whose result is only remarked on."""
    trouble = _trouble(reference)
    if trouble is not None:
        rule = "VER003" if "did not end" in trouble else "VER020"
        return _unusable(trouble, rule=rule)
    candidate = Candidate(sources, options, work / "candidate", reference.pattern, harness=lenient is not None)
    if candidate.problem is not None:
        message = f"the candidate cannot be built: {candidate.problem.message}"
        return Verification(
            "fail",
            output_equal=False,
            reasons=(dataclasses.replace(candidate.problem, rule="VER001", message=message),),
        )
    verdict = _Verdict(reference, options, lenient or frozenset())
    for number in range(_SCHEDULES):
        trial = candidate.run(number, reference.skip_cases)
        verdict.add(trial, number)
        # What one run has shown is not shown better by two more.
        if verdict.failures:
            break
    return verdict.result(candidate)


def _unusable(trouble: str, notes: tuple[Finding, ...] = (), *, rule: str = "VER020") -> Verification:
    """Return that nothing can be compared with the original."""
    reason = Finding(rule, "warning", f"the original program itself {trouble}")
    return Verification("skipped", reasons=(reason, *notes))


def _trouble(reference: Reference) -> str | None:
    if not reference.built.command:
        return f"cannot be built: {reference.built.message}"
    for outcome in (reference.base, reference.again):
        if outcome.failure:
            return f"gives nothing to compare with: {outcome.failure}"
    return None


def _failed(rule: str, message: str) -> Verification:
    return Verification("fail", output_equal=False, reasons=(Finding(rule, "error", message),))


class _Verdict:
    """What the runs so far have shown."""

    def __init__(self, reference: Reference, options: VerifyOptions, lenient: frozenset[str]) -> None:
        self._reference = reference
        self._options = options
        self._lenient = lenient
        self._rows: dict[tuple[str, str], LiveOut] = {}
        self._notes: list[Finding] = []
        self._seconds = 0.0
        self._schedules = 0
        self.failures: list[Finding] = []
        self._races: list[Race] = []
        self._output_equal = True
        self._idle = True

    def add(self, trial: Trial, number: int) -> None:
        """Judge one run of the candidate."""
        self._schedules = number + 1
        self._seconds += trial.outcome.seconds
        self._races += trial.races
        self._idle = self._idle and trial.idle
        found = [*trial.failures, *self._ending(trial.outcome)]
        self._notes += trial.notes
        # After a race or an access that is not allowed, what was computed says nothing more.
        if not trial.outcome.failure and not trial.failures:
            found += [*self._objects(trial.outcome), *self._outputs(trial.outcome)]
        self.failures += [_under(finding, number) for finding in found]

    def result(self, candidate: Candidate) -> Verification:
        """Return the whole answer."""
        reference = self._reference
        notes = list(dict.fromkeys([*self._notes, *self._untested()]))
        return Verification(
            self._status(),
            executor="emulation",
            schedules=self._schedules,
            inputs=_inputs(self._options),
            live_out=tuple(self._rows.values()),
            races=tuple(self._races),
            output_equal=self._output_equal,
            masked_output=self._masked(),
            seconds={"original": reference.base.seconds, "candidate": self._seconds / max(1, self._schedules)},
            tolerance=self._tolerance(),
            reasons=(*self.failures, *notes),
        )

    def _untested(self) -> Iterator[Finding]:
        """Yield that the runs say nothing of the kernels, where none was launched."""
        if self._idle and not self.failures:
            code = self._reference.base.exit_code
            how = f", which ends with exit code {code}" if code else ""
            message = f"no kernel was launched in the runs of the program{how}: they test nothing of the port"
            yield Finding("VER028", "warning", message, help=(_RUN_MORE,))

    def _status(self) -> Literal["pass", "fail", "skipped"]:
        """A port of ours that was only too slow for the emulation is not rejected, it is not judged; a candidate that
        somebody hands in must end."""
        unfinished = self._reference.captured and all(finding.rule == "VER003" for finding in self.failures)
        if not self.failures:
            return "pass"
        return "skipped" if unfinished else "fail"

    def _ending(self, outcome: Outcome) -> Iterator[Finding]:
        base = self._reference.base
        if outcome.failure:
            self._output_equal = False
            rule = "VER003" if "did not end" in outcome.failure else "VER002"
            help = (_TOO_SLOW,) if rule == "VER003" else ()
            message = f"the candidate failed{_during(outcome)}: {outcome.failure}{_said(outcome)}"
            yield Finding(rule, "error", message, help=help)
        elif outcome.exit_code != base.exit_code and self._reference.again.exit_code == base.exit_code:
            self._output_equal = False
            message = f"the exit code is {outcome.exit_code}, the original's is {base.exit_code}"
            yield Finding("VER004", "error", message + _said(outcome))

    def _objects(self, outcome: Outcome) -> list[Finding]:
        failures: list[Finding] = []
        reference = self._reference
        verdicts = compare_logs(reference.base.log, outcome.log, reference.first_evidence(), reference.full_evidence)
        for verdict in verdicts:
            row = verdict.live_out
            self._rows[row.region, row.name] = _worst(self._rows.get((row.region, row.name)), row)
            if row.region in self._lenient:
                self._notes += [_tolerated(finding) for finding in verdict.failures]
            elif row.region in reference.addressed and {f.rule for f in verdict.failures} == {"VER008"}:
                self._notes.append(_left_alone(row.region))
            else:
                failures += verdict.failures
            self._notes += verdict.notes
        return [*_shortened(failures), *_outside(outcome)]

    def _outputs(self, outcome: Outcome) -> Iterator[Finding]:
        reference = self._reference
        wanted, got = reference.base.stdout, outcome.stdout
        if compare_text(wanted, got, reference.plain_rule(None)) is not None:
            found = compare_text(wanted, got, reference.output_rule(None))
            if found is not None:
                self._output_equal = False
                yield Finding("VER009", "error", f"standard output differs: {found.text}")
        unstable = frozenset(set(reference.base.files) ^ set(reference.again.files))
        plain = {name: reference.plain_rule(name) for name in reference.base.files}
        if compare_files(reference.base.files, outcome.files, plain, unstable) is not None:
            rules: dict[str, OutputRule] = {name: reference.output_rule(name) for name in reference.base.files}
            difference = compare_files(reference.base.files, outcome.files, rules, unstable)
            if difference is not None:
                self._output_equal = False
                yield Finding("VER010", "error", f"written files differ: {difference.text}")

    def _masked(self) -> tuple[str, ...]:
        base = self._reference.base
        found = list(masked_tokens(base.stdout, self._reference.plain_rule(None)))
        for name in sorted(set(base.files) & set(self._reference.again.files)):
            found += masked_tokens(base.files[name], self._reference.plain_rule(name), name)
        return tuple(found[:_MOST_MASKED_SHOWN])

    def _tolerance(self) -> str:
        given = [
            f"{name} {value:g}"
            for name, value in (("absolute", self._options.absolute), ("relative", self._options.relative))
            if value is not None
        ]
        if given:
            return ", ".join(given) + " (given)"
        if all(row.max_abs == 0.0 for row in self._rows.values()) and not self.failures:
            return "not needed: bit for bit equal"
        spread = "4 times the spread of the original's own builds"
        if self._reference.reordered:
            ulps = "16 ulp + 256 ulp of the object's largest number"
            return f"{spread} (-O0, -O3, contraction, other orders of sums) + {ulps}; integers exact"
        return f"{spread} (-O0, -O3, contraction) + 16 ulp; integers exact"


def _under(finding: Finding, number: int) -> Finding:
    order = "threads descending" if number == 0 else f"permutation {number}"
    return dataclasses.replace(finding, message=f"{finding.message} [schedule {number + 1}: {order}]")


def _inputs(options: VerifyOptions) -> str:
    parts = [f"arguments {' '.join(options.run_args)}"] if options.run_args else []
    parts += [f"standard input {options.run_stdin}"] if options.run_stdin else []
    parts += [f"files of {options.run_dir}"] if options.run_dir else []
    return ", ".join(parts) or "the program as it is, without arguments"


def _said(outcome: Outcome) -> str:
    lines = [line for line in outcome.stderr.splitlines() if line.strip()]
    return f" (it said: {lines[-1][:200]})" if lines else ""


def _during(outcome: Outcome) -> str:
    """Return in which call of the harness the run stopped."""
    marks = outcome.log.marks
    open_calls = [label for region, label in marks if region == "begin" and ("end", label) not in marks]
    return f" in {open_calls[-1]}" if open_calls else ""


def _worst(old: LiveOut | None, new: LiveOut) -> LiveOut:
    if old is None:
        return new
    return dataclasses.replace(
        new,
        max_abs=max(old.max_abs, new.max_abs),
        max_rel=max(old.max_rel, new.max_rel),
        max_ulp=max(old.max_ulp, new.max_ulp),
        first_difference=old.first_difference or new.first_difference,
    )


def _shortened(failures: list[Finding]) -> list[Finding]:
    """Return the first failures and how many there are besides: one mistake shows in every object after it."""
    if len(failures) <= _MOST_OBJECTS_SHOWN:
        return failures
    more = len(failures) - _MOST_OBJECTS_SHOWN
    last = failures[_MOST_OBJECTS_SHOWN - 1]
    tail = f"{last.message}; so do {more} more object{'s' if more > 1 else ''}"
    return [*failures[: _MOST_OBJECTS_SHOWN - 1], dataclasses.replace(last, message=tail)]


def _tolerated(finding: Finding) -> Finding:
    """A port by other hands may rely on arguments that do not overlap; ours must not."""
    text = f"{finding.message}: right only if these arguments never overlap"
    return dataclasses.replace(finding, rule="VER025", severity="warning", message=text)


def _left_alone(region: str) -> Finding:
    text = f"the test before {region} came out differently: where it fails, the user's own loops run"
    return Finding("VER026", "warning", text)


def _outside(outcome: Outcome) -> Iterator[Finding]:
    """Writes past a buffer of the harness."""
    guards = [(name, index) for (region, name), index in outcome.log.marks.items() if region == "guard"]
    for name, index in guards[:1]:
        cases = [label for region, label in outcome.log.marks if region == "outside"]
        yield Finding("VER006", "error", f"{name}[{index}] is written in {cases[0]}: it lies outside of {name}")
