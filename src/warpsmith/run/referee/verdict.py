"""The verdict on a candidate: one run after the other is judged, then there is an answer.

pass        every run agrees with the original in everything, and a wrong kernel would have been noticed
fail        a run disagrees
undecided   none disagrees, but too little was compared to say that all is right (doubts.py)
skipped     the original gives nothing to compare with, or a port of ours is too slow for the emulation
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec.structs

from warpsmith.base.findings import Finding
from warpsmith.run.compare.judge import KEEP_ORDER, compare_logs
from warpsmith.run.compare.left import Unlike, find_stayed, find_unlike
from warpsmith.run.compare.output import OutputRule, compare_files, compare_text, drop_noise, masked_tokens, noise
from warpsmith.run.compare.sensitivity import tells_apart
from warpsmith.run.emulated.counts import RunCounts
from warpsmith.run.native.programs import RunOutcome
from warpsmith.run.referee.candidate import Candidate, CandidateRun
from warpsmith.run.referee.doubts import Shown, find_doubts, no_launch, report_stayed, report_unasked, unlike
from warpsmith.run.referee.questions import Questions
from warpsmith.run.referee.reference import ReferenceProgram
from warpsmith.run.verification import EQUAL, Copies, LiveOut, Race, Status, Verification, VerifyOptions, is_made_for

__all__ = ["Verdict"]

_MOST_MASKED_SHOWN = 50
_MOST_OBJECTS_SHOWN = 3
# a number that differs by more than this part of its size is no longer rounded
_LARGEST_ROUNDING = 1e-3
# how much longer than the others runs with changed values may take: in times of them, and in seconds
_LONGER, _LEAST_SECONDS = 2.0, 5.0
_TOO_SLOW = (
    "the emulation is far slower than a GPU: give the program less work (--run-args, -D) or more time (--timeout)"
)


class Verdict:
    """What the runs so far have shown."""

    def __init__(
        self, reference: ReferenceProgram, candidate: Candidate, options: VerifyOptions, lenient: frozenset[str]
    ) -> None:
        self._reference = reference
        self._candidate = candidate
        self._options = options
        self._lenient = lenient
        self._rows: dict[tuple[str, str], LiveOut] = {}
        self._notes: list[Finding] = []
        self._seconds: list[float] = []
        self.failures: list[Finding] = []
        self._races: list[Race] = []
        self._output_equal = True
        self._rounded = False
        self._broken = False
        self._launches: Counter[str] = Counter()
        self._writes: Counter[str] = Counter()
        self._copies = Copies()
        self._sensitive: set[str] = set()
        self._unlike: tuple[Unlike, ...] = ()

    def add(self, trial: CandidateRun, number: int) -> None:
        """Judge one run of the candidate."""
        self._seconds.append(trial.outcome.seconds)
        self._races += trial.races
        counts = trial.counts or RunCounts()
        self._launches |= Counter(counts.launches)
        self._writes |= Counter(counts.writes)
        self._copies = max(self._copies, counts.copies, key=lambda copies: copies.to_device + copies.to_host)
        found = [*trial.failures, *self._ending(trial.outcome)]
        self._notes += trial.notes
        # After a race or an access that is not allowed, what was computed says nothing more.
        if not trial.outcome.failure and not trial.failures:
            expected = self._reference.run_filled(number)
            found += [*self._objects(expected, trial.outcome), *self._outputs(expected, trial.outcome)]
            self._sensitive |= set(self._find_noticed(expected, trial.outcome))
            # a port whose kernels have been compared region by region leaves dead memory as it pleases
            if number == 0 and self._reference.leaves and not self._candidate.sources.shown:
                known, returned = self._reference.left or (), trial.left or ()
                self._unlike = find_unlike(known, returned)
                self._notes += map(
                    report_stayed, find_stayed(known, returned, trial.stayed or ())[:_MOST_OBJECTS_SHOWN]
                )
        self.failures += [_under(finding, number) for finding in found]

    def result(self) -> Verification:
        """Return the whole answer."""
        reference = self._reference
        doubts = [] if self.failures else list(self._doubts())
        notes = list(dict.fromkeys([*doubts, *self._notes]))
        return Verification(
            self._status(open=bool(doubts)),
            executor="emulation",
            schedules=len(self._seconds),
            inputs=_inputs(self._options),
            live_out=tuple(self._rows.values()),
            races=tuple(self._races),
            output_equal=self._output_equal,
            masked_output=self._find_masked(),
            seconds={
                "original": reference.base.seconds,
                "candidate": sum(self._seconds) / max(1, len(self._seconds)),
            },
            tolerance=self._tolerance(),
            reasons=(*self.failures, *notes),
            launches=dict(self._launches) if self._candidate.has_kernels else None,
            copies=self._copies if self._candidate.has_kernels else None,
        )

    def _doubts(self) -> Iterator[Finding]:
        """Yield what keeps runs in which nothing differs from being a proof."""
        base, sources = self._reference.base, self._candidate.sources
        calls = {label for region, label in base.log.marks if region == "begin"}
        rows = (row for row in self._rows.values() if (row.region, row.name) not in sources.host_only)
        judged = [row for row in rows if not (sources.captured and row.region in calls)]
        if sources.is_switched_off():
            self._notes.append(_report_switched_off())
            return
        if self._candidate.has_kernels and not self._launches:
            yield no_launch(base.exit_code)
        yield from map(unlike, self._unlike[:_MOST_OBJECTS_SHOWN])
        reached: dict[str, int] = {}
        for (region, _), total in base.log.totals.items():
            reached[region] = max(total, reached.get(region, 0))
        questions = Questions(self._notices, self._options.timeout_s)
        unnoticed = () if sources.captured or sources.shown else tuple(self._find_unnoticed(questions))
        sensitive = frozenset(self._sensitive).union(self._find_noticed_later(questions))
        shown = Shown(self._launches, self._writes, sensitive, unnoticed, reached)
        yield from find_doubts(judged, sources.regions, shown)
        if questions.unasked:
            yield report_unasked(questions.unasked, self._options.timeout_s)

    def _find_noticed(self, expected: RunOutcome, outcome: RunOutcome) -> Iterator[str]:
        """Yield the regions of which other values would have been noticed."""
        evidence = self._reference.known_evidence()
        for key, records in outcome.log.disturbed.items():
            if tells_apart(expected.log.records.get(key, {}), records, evidence):
                yield key[0]

    def _find_noticed_later(self, questions: Questions) -> Iterator[str]:
        """Yield the regions without objects of their own (of a function that kernels of others call as well) of which
        other values show elsewhere, or of which time did not allow to ask."""
        seen = {region for region, _ in self._rows}
        for region in self._candidate.sources.regions:
            names = [name for name in self._launches if is_made_for(region.kernel, name)]
            if region.name not in seen and any(questions.ask(name) is not False for name in names):
                yield region.name

    def _find_unnoticed(self, questions: Questions) -> Iterator[str]:
        """Yield the kernels of which nobody notices what they write: the program is run again with all of it changed,
        then with that of one kernel after the other."""
        names = sorted(self._launches)
        if names and not self._notices("*"):
            yield from names
        elif len(names) > 1:
            yield from (name for name in names if questions.ask(name) is False)

    def _notices(self, kernel: str) -> bool:
        """Whether a run differs in which what `kernel` writes is changed, or else its sign."""
        return self._differs(kernel) or self._differs(f"-{kernel}")

    def _differs(self, kernel: str) -> bool:
        """Whether a run with other values differs from the original's; one that fails does."""
        limit = min(self._options.timeout_s, _LONGER * max(self._seconds) + _LEAST_SECONDS)
        reference = self._reference
        outcome = self._candidate.run_disturbed(kernel, reference.skip_cases, limit)
        if outcome.failure or outcome.exit_code != reference.base.exit_code:
            return True
        evidence = reference.known_evidence()
        objects = compare_logs(reference.base.log, outcome.log, reference.first_evidence(), lambda: evidence)
        rules = {name: self._rule(name) for name in reference.base.files}
        return (
            any(verdict.failures for verdict in objects)
            or compare_text(reference.base.stdout, outcome.stdout, self._rule(None)) is not None
            or compare_files(reference.base.files, outcome.files, rules, self._unstable()) is not None
        )

    def _rule(self, name: str | None) -> OutputRule:
        """Return the rule by which the output was accepted, without what says nothing of it."""
        reference = self._reference
        if not self._rounded:
            return reference.plain_rule(name)
        text = reference.base.stdout if name is None else reference.base.files[name]
        return drop_noise(text, reference.output_rule(name, self._rounding()))

    def _unstable(self) -> frozenset[str]:
        return frozenset(set(self._reference.base.files) ^ set(self._reference.again.files))

    def _status(self, *, open: bool) -> Status:
        """A port of ours that was only too slow for the emulation is not rejected, it is not judged; a candidate that
        somebody hands in must end."""
        if not self.failures:
            return "undecided" if open else "pass"
        unfinished = self._reference.captured and all(finding.rule == "VER003" for finding in self.failures)
        return "skipped" if unfinished else "fail"

    def _ending(self, outcome: RunOutcome) -> Iterator[Finding]:
        base = self._reference.base
        if outcome.failure:
            self._output_equal = False
            rule = "VER003" if "did not end" in outcome.failure else "VER002"
            help = (_TOO_SLOW,) if rule == "VER003" else ()
            message = f"the candidate failed{_during(outcome)}: {outcome.failure}{_quote_outcome(outcome)}"
            yield Finding(rule, "error", message, help=help)
        elif outcome.exit_code != base.exit_code and self._reference.again.exit_code == base.exit_code:
            self._output_equal = False
            message = f"the exit code is {outcome.exit_code}, the original's is {base.exit_code}"
            yield Finding("VER004", "error", message + _quote_outcome(outcome))

    def _objects(self, expected: RunOutcome, outcome: RunOutcome) -> list[Finding]:
        failures: list[Finding] = []
        reference = self._reference
        verdicts = list(compare_logs(expected.log, outcome.log, reference.first_evidence(), reference.full_evidence))
        self._broken |= any(verdict.broken for verdict in verdicts)
        for verdict in (v.leave_out() if self._broken and v.lost and v.failures else v for v in verdicts):
            row = verdict.live_out
            self._rows[row.region, row.name] = _worst(self._rows.get((row.region, row.name)), row)
            if row.region in self._lenient:
                self._notes += [_tolerate_overlap(finding) for finding in verdict.failures]
            elif row.region in reference.addressed and {f.rule for f in verdict.failures} == {"VER008"}:
                self._notes.append(_report_left_alone(row.region))
            else:
                failures += verdict.failures
            self._notes += verdict.notes
        return [*_shorten_failures(failures), *_outside(outcome)]

    def _outputs(self, expected: RunOutcome, outcome: RunOutcome) -> Iterator[Finding]:
        reference = self._reference
        if compare_text(expected.stdout, outcome.stdout, reference.plain_rule(None)) is not None:
            self._rounded = True
            rule = msgspec.structs.replace(reference.output_rule(None, self._rounding()), broken=self._broken)
            found = compare_text(expected.stdout, outcome.stdout, rule)
            self._notes += _uncertain(noise(reference.base.stdout, rule))
            if found is not None:
                self._output_equal = False
                yield Finding("VER009", "error", f"standard output differs: {found.text}", help=self._causes())
        plain = {name: reference.plain_rule(name) for name in expected.files}
        if compare_files(expected.files, outcome.files, plain, self._unstable()) is not None:
            self._rounded = True
            rules = {
                name: msgspec.structs.replace(reference.output_rule(name, self._rounding()), broken=self._broken)
                for name in expected.files
            }
            difference = compare_files(expected.files, outcome.files, rules, self._unstable())
            for name, rule in rules.items():
                self._notes += _uncertain(noise(reference.base.files.get(name, b""), rule), f" in {name}")
            if difference is not None:
                self._output_equal = False
                yield Finding("VER010", "error", f"written files differ: {difference.text}", help=self._causes())

    def _causes(self) -> tuple[str, ...]:
        """Return what another order of a sum may have to do with output that differs."""
        return (KEEP_ORDER,) if self._reference.reordered else ()

    def _rounding(self) -> float:
        """Return by how much of their size objects differ, in this comparison or in one of the same kernels before."""
        rows = (row.rounding for row in self._rows.values() if not row.mostly_masked)
        return min(max(rows, default=0.0) + self._candidate.sources.rounding, _LARGEST_ROUNDING)

    def _find_masked(self) -> tuple[str, ...]:
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
        rows = self._rows.values()
        if all(row.max_abs == 0.0 for row in rows) and not self._rounded and not self.failures:
            nothing, identical, equal, where_compared = EQUAL
            if rows and not any(row.compared or row.masked for row in rows):
                return nothing
            if any(row.masked for row in rows) or self._find_masked():
                return where_compared
            return identical if all(row.identical for row in rows) else equal
        spread = "4 times the spread of the original's own builds"
        if self._reference.reordered:
            ulps = "16 ulp + 256 ulp of the object's largest number"
            return f"{spread} (-O0, -O3, contraction, other orders of sums) + {ulps}; integers exact"
        return f"{spread} (-O0, -O3, contraction) + 16 ulp; integers exact"


def _under(finding: Finding, number: int) -> Finding:
    order = "threads descending" if number == 0 else f"permutation {number}"
    return msgspec.structs.replace(finding, message=f"{finding.message} [schedule {number + 1}: {order}]")


def _inputs(options: VerifyOptions) -> str:
    parts = [f"arguments {' '.join(options.run_args)}"] if options.run_args else []
    parts += [f"standard input {options.run_stdin}"] if options.run_stdin else []
    parts += [f"files of {options.run_dir}"] if options.run_dir else []
    return ", ".join(parts) or "the program as it is, without arguments"


def _quote_outcome(outcome: RunOutcome) -> str:
    lines = [line for line in outcome.stderr.splitlines() if line.strip()]
    return f" (it said: {lines[-1][:200]})" if lines else ""


def _during(outcome: RunOutcome) -> str:
    """Return in which call of the harness the run stopped."""
    marks = outcome.log.marks
    open_calls = [label for region, label in marks if region == "begin" and ("end", label) not in marks]
    return f" in {open_calls[-1]}" if open_calls else ""


def _worst(old: LiveOut | None, new: LiveOut) -> LiveOut:
    if old is None:
        return new
    worse = msgspec.structs.replace(
        new,
        max_abs=max(old.max_abs, new.max_abs),
        max_rel=max(old.max_rel, new.max_rel),
        max_ulp=max(old.max_ulp, new.max_ulp),
        first_difference=old.first_difference or new.first_difference,
        identical=old.identical and new.identical,
        rounding=max(old.rounding, new.rounding),
    )
    return worse.cover(old.compared, old.masked)


def _shorten_failures(failures: list[Finding]) -> list[Finding]:
    """Return the first failures and how many there are besides: one mistake shows in every object after it."""
    if len(failures) <= _MOST_OBJECTS_SHOWN:
        return failures
    more = len(failures) - _MOST_OBJECTS_SHOWN
    last = failures[_MOST_OBJECTS_SHOWN - 1]
    tail = f"{last.message}; so do {more} more object{'s' if more > 1 else ''}"
    return [*failures[: _MOST_OBJECTS_SHOWN - 1], msgspec.structs.replace(last, message=tail)]


def _uncertain(numbers: tuple[str, ...], where: str = "") -> Iterator[Finding]:
    """Numbers that were compared, and of which the original says nothing."""
    if numbers:
        what = f"{len(numbers):,} printed number{'s' if len(numbers) > 1 else ''}{where} ({numbers[0]})"
        text = f"builds of the original determine no digit of {what}: the comparison says little"
        yield Finding("VER023", "warning", text)


def _tolerate_overlap(finding: Finding) -> Finding:
    """A port by other hands may rely on arguments that do not overlap; ours must not."""
    text = f"{finding.message}: right only if these arguments never overlap"
    return msgspec.structs.replace(finding, rule="VER025", severity="warning", message=text)


def _report_switched_off() -> Finding:
    text = "the port is built without WARPSMITH defined, which switches it off: the user's own loops were compared"
    return Finding("VER028", "note", text, help=("-D WARPSMITH builds the port",))


def _report_left_alone(region: str) -> Finding:
    text = f"the test before {region} came out differently: where it fails, the user's own loops run"
    return Finding("VER026", "warning", text)


def _outside(outcome: RunOutcome) -> Iterator[Finding]:
    """Writes past a buffer of the harness."""
    guards = [(name, index) for (region, name), index in outcome.log.marks.items() if region == "guard"]
    for name, index in guards[:1]:
        cases = [label for region, label in outcome.log.marks if region == "outside"]
        yield Finding("VER006", "error", f"{name}[{index}] is written in {cases[0]}: it lies outside of {name}")
