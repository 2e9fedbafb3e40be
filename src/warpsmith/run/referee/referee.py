"""The hostile referee: is the candidate program right? It is built, run under hostile schedules, and compared.

    original   built plainly, run twice          what differs between the runs is masked
    candidate  built on the emulation, run with descending threads, then in seeded permutations, memory that nobody
               has written filled with other garbage each time
    compared   every captured object, standard output, exit code, written files; races and illegal accesses fail

    disturbed  what kernels wrote is changed: the comparison must notice that

The verdict is `pass` only if every run of the candidate agrees with the original in everything that the original
determines, and that is enough to tell a wrong kernel (verdict.py). It is `skipped` where the original itself gives no
answer to compare with.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec.structs

from warpsmith.base.findings import Finding
from warpsmith.base.progress import Activity
from warpsmith.run.native.harness import HarnessPlan, add_harness, defines, plan_harness, strip_text
from warpsmith.run.referee.candidate import Candidate
from warpsmith.run.referee.reference import ReferenceProgram
from warpsmith.run.referee.verdict import Verdict
from warpsmith.run.verification import HarnessFunction, Sources, Verification, VerifyOptions

__all__ = ["judge_program", "verify"]

_SCHEDULES = 3
_MOST_SKIPPED = 40


def verify(
    original: Sources, candidate: Sources, options: VerifyOptions, harness: tuple[HarnessFunction, ...] = ()
) -> Verification:
    """Judge `candidate` against `original`; `harness`: what to call where the programs have no `main`.

    Raises UsageError where no compiler is found.
    """
    original = msgspec.structs.replace(original, reordered_bits=candidate.reordered_bits, addressed=candidate.addressed)
    with _workspace(options) as work:
        mains = [_has_main(sources) for sources in (original, candidate)]
        if mains[0] != mains[1]:
            has, lacks = ("candidate", "original") if mains[1] else ("original", "candidate")
            return _report_failure("VER012", f"the {has} has a main, the {lacks} has none: they are different programs")
        if mains[0]:
            reference = ReferenceProgram(original, options, work / "original")
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
    callers = add_harness(original, plan, None)
    if isinstance(callers, str):
        return Verification(
            "skipped", reasons=(Finding("VER020", "warning", f"the original program itself: {callers}"),)
        )
    reference = ReferenceProgram(callers, options, work / "original", harness=True)
    if not reference.built.command:
        return _unusable(f"cannot be built: {reference.built.message}", notes)
    notes += tuple(_settle(reference, plan))
    counts = {key: value for key, value in reference.base.log.marks.items() if key[0] != "begin"}
    done = {name for region, name in reference.base.log.marks if region == "end"}
    if not any(case.label in done for case in plan.cases):
        none = Finding("VER020", "warning", "no call of the original program itself ends properly")
        return Verification("skipped", reasons=(none, *notes))
    harnessed = add_harness(candidate, plan, counts)
    if isinstance(harnessed, str):
        return _report_failure("VER012", f"the candidate is another program: {harnessed}")
    foreign = not candidate.captured
    lenient = frozenset(case.label for case in plan.cases if foreign and case.overlap is not None)
    verdict = judge_program(reference, harnessed, options, work, lenient)
    called = len({case.function.function.symbol for case in plan.cases})
    calls = len(done & _labels(plan))
    inputs = f"{called} function{'s' * (called != 1)}, {calls} call{'s' * (calls != 1)} with generated arguments"
    return msgspec.structs.replace(verdict, inputs=inputs, reasons=(*verdict.reasons, *notes))


def _labels(plan: HarnessPlan) -> set[str]:
    return {case.label for case in plan.cases}


def _settle(reference: ReferenceProgram, plan: HarnessPlan) -> Iterator[Finding]:
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


def _bad_cases(reference: ReferenceProgram, plan: HarnessPlan) -> set[int]:
    bad: set[int] = set()
    for outcome in (reference.base, reference.again):
        marks = outcome.log.marks
        outside = {number for (region, _), number in marks.items() if region == "outside"}
        too_large = {number for (region, _), number in marks.items() if region == "too large"}
        unfinished = {n for (region, label), n in marks.items() if region == "begin" and ("end", label) not in marks}
        bad |= outside | (unfinished - too_large)
    return {number for number in bad if number < len(plan.cases)}


# --- one program against the other


def judge_program(
    reference: ReferenceProgram,
    sources: Sources,
    options: VerifyOptions,
    work: Path,
    lenient: frozenset[str] | None = None,
) -> Verification:
    """Judge a program; `lenient` is None where it has a main, else the calls whose result is only remarked on."""
    options.progress(Activity("verifying", "the original is built and run"))
    trouble = _trouble(reference)
    notes: tuple[Finding, ...] = ()
    if trouble is not None and lenient is None and _crashes(reference):
        plain = reference.with_zeroes()
        if _trouble(plain) is None:
            reference, notes, trouble = plain, (_report_zeroes(trouble),), None
    if trouble is not None:
        rule = "VER003" if "did not end" in trouble else "VER020"
        return _unusable(trouble, rule=rule)
    options.progress(Activity("verifying", "the candidate is built"))
    folder, harness = work / "candidate", lenient is not None
    candidate = Candidate(sources, options, folder, reference.pattern, harness=harness, zeroes=reference.zeroes)
    if candidate.problem is not None:
        message = f"the candidate cannot be built: {candidate.problem.message}"
        return Verification(
            "fail",
            output_equal=False,
            reasons=(msgspec.structs.replace(candidate.problem, rule="VER001", message=message),),
        )
    verdict = Verdict(reference, candidate, options, lenient or frozenset())
    for number in range(_SCHEDULES):
        options.progress(Activity("verifying", f"schedule {number + 1} of the candidate", number, _SCHEDULES))
        trial = candidate.run(number, reference.skip_cases)
        verdict.add(trial, number)
        # What one run has shown is not shown better by two more.
        if verdict.failures:
            break
    result = verdict.result()
    return msgspec.structs.replace(result, reasons=(*result.reasons, *notes))


def _crashes(reference: ReferenceProgram) -> bool:
    """Whether a run of the original fails, and not for its time alone."""
    return bool(reference.built.command) and any(
        outcome.failure and "did not end" not in outcome.failure for outcome in (reference.base, reference.again)
    )


def _report_zeroes(trouble: str) -> Finding:
    text = f"the original program itself {trouble}, where memory that nobody has written holds garbage"
    help = ("initialize what the program reads: nothing is known of a port that reads such memory",)
    return Finding("VER050", "warning", f"{text}: both programs are run with zeroes there", help=help)


def _unusable(trouble: str, notes: tuple[Finding, ...] = (), *, rule: str = "VER020") -> Verification:
    """Return that nothing can be compared with the original."""
    reason = Finding(rule, "warning", f"the original program itself {trouble}")
    return Verification("skipped", reasons=(reason, *notes))


def _trouble(reference: ReferenceProgram) -> str | None:
    if not reference.built.command:
        return f"cannot be built: {reference.built.message}"
    for outcome in (reference.base, reference.again):
        if outcome.failure:
            return f"gives nothing to compare with: {outcome.failure}"
    return None


def _report_failure(rule: str, message: str) -> Verification:
    return Verification("fail", output_equal=False, reasons=(Finding(rule, "error", message),))
