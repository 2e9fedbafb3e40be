"""The verdict on the runs of a candidate: pass, fail, undecided or skipped, and in which words."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.run.compare.test_judge import KEY, log, record
from tests.run.referee.stand_ins import CUDA, ORIGINAL, Candidates, Originals, candidates, originals, outcome
from warpsmith.base.findings import Finding
from warpsmith.run.compare.captures import CaptureLog
from warpsmith.run.emulated.counts import RunCounts
from warpsmith.run.native.programs import RunOutcome
from warpsmith.run.referee.candidate import Candidate, CandidateRun
from warpsmith.run.referee.reference import ReferenceProgram
from warpsmith.run.referee.verdict import Verdict
from warpsmith.run.verification import Copies, PortedRegion, Race, Sources, Verification, VerifyOptions

LAUNCHED = RunCounts({"ws_k": 2}, {"ws_k": 2})
OBJECT = log(record([3.0, 1.0]))
EMPTY = log(record([]))


def many(value: float, count: int) -> CaptureLog:
    """Return the log of so many objects of one region."""
    made = CaptureLog()
    for number in range(count):
        key = ("f/i", f"y{number}")
        made.records[key] = {0: replace(record([value]), name=key[1])}
        made.totals[key] = 1
    return made


class Case(Struct):
    """The programs of one test and how they are judged."""

    folder: Path
    original: Originals
    port: Candidates

    def judge(
        self,
        *trials: RunOutcome | CandidateRun,
        counts: RunCounts | None = LAUNCHED,
        sources: Sources = CUDA,
        of: Sources = ORIGINAL,
        options: VerifyOptions | None = None,
        lenient: frozenset[str] = frozenset(),
    ) -> Verification:
        asked = options or VerifyOptions()
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        reference = ReferenceProgram(of, asked, folder / "original")
        candidate = Candidate(sources, asked, folder / "candidate", (), harness=False)
        verdict = Verdict(reference, candidate, asked, lenient)
        for number, trial in enumerate(trials):
            verdict.add(trial if isinstance(trial, CandidateRun) else CandidateRun(trial, counts), number)
        return verdict.result()


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    made = Case(tmp_path, originals(monkeypatch), candidates(monkeypatch))
    # with other values in what its kernels write the candidate prints something else
    made.port.answer = lambda disturbed: outcome("other" if disturbed else "same")
    return made


def rules(got: Verification) -> list[str]:
    return [reason.rule for reason in got.reasons]


def test_equal_runs_pass(case: Case) -> None:
    case.original.answer = lambda _: outcome(logged=OBJECT)
    got = case.judge(outcome(logged=OBJECT), outcome(logged=OBJECT))
    assert (got.status, got.reasons, got.schedules, got.output_equal) == ("pass", (), 2, True)
    assert got.tolerance == "not needed: bit for bit equal"
    assert (got.inputs, got.seconds) == ("the program as it is, without arguments", {"original": 1.0, "candidate": 1.0})
    assert [(row.region, row.name, row.compared) for row in got.live_out] == [(*KEY, 2)]


def test_objects_of_which_no_element_is_compared_are_not_said_to_be_equal(case: Case) -> None:
    case.original.answer = lambda _: outcome(logged=EMPTY)
    got = case.judge(outcome(logged=EMPTY), outcome(logged=EMPTY))
    assert [(row.compared, row.masked) for row in got.live_out] == [(0, 0)]
    assert got.tolerance == "not needed: nothing to compare"


def test_launches_are_those_of_one_run_and_copies_those_of_the_run_with_most(case: Case) -> None:
    few, lots = Copies(1, 800, 0, 0), Copies(1, 8, 2, 16)
    trials = [CandidateRun(outcome(), RunCounts({"a": n, "b": 3 - n}, {}, c)) for n, c in ((1, lots), (2, few))]
    got = case.judge(*trials)
    assert got.launches == {"a": 2, "b": 2} and got.copies == lots
    plain = case.judge(outcome(), counts=None, sources=replace(ORIGINAL, captured=False))
    assert (plain.launches, plain.copies, plain.status) == (None, None, "pass")


def test_a_program_that_launches_nothing_is_undecided(case: Case) -> None:
    case.original.answer = lambda _: outcome(code=2)
    got = case.judge(outcome(code=2), counts=RunCounts())
    assert (got.status, rules(got)) == ("undecided", ["VER028"]) and "exit code 2" in got.reasons[0].message


@pytest.mark.parametrize(("seen", "status"), [(True, "pass"), (False, "undecided")])
def test_kernels_of_which_nobody_notices_what_they_write(case: Case, seen: bool, status: str) -> None:
    # a changed sign may be seen where other values are not
    case.port.answer = lambda disturbed: outcome("other" if seen and disturbed.startswith("-") else "same")
    got = case.judge(outcome())
    assert got.status == status and rules(got) == ([] if seen else ["VER029"])


def test_one_kernel_of_two_that_nobody_notices_is_named(case: Case) -> None:
    case.port.answer = lambda disturbed: outcome("same" if disturbed.lstrip("-") == "idle" else "other")
    counts = RunCounts({"busy": 1, "idle": 1}, {"busy": 1, "idle": 1})
    got = case.judge(outcome(), counts=counts)
    assert got.status == "undecided" and "idle" in got.reasons[0].message and "busy" not in got.reasons[0].message


def test_kernels_whose_turn_did_not_come_are_named(case: Case) -> None:
    counts = RunCounts({"first": 1, "second": 1}, {"first": 1, "second": 1})
    got = case.judge(outcome(), counts=counts, options=VerifyOptions(timeout_s=-1.0))
    assert got.status == "undecided" and rules(got) == ["VER038"]
    assert "first, second" in got.reasons[0].message
    of_ours = replace(CUDA, captured=True, regions=(PortedRegion("g/i", "first"), PortedRegion("g/j", "second")))
    got = case.judge(outcome(), counts=counts, sources=of_ours, options=VerifyOptions(timeout_s=-1.0))
    assert got.status == "undecided" and rules(got) == ["VER038"]


@pytest.mark.parametrize("noticed", ["file", "object", "exit code", "crash"])
def test_other_values_may_show_anywhere(case: Case, noticed: str) -> None:
    other = {
        "file": outcome(files={"f": b"2"}, logged=OBJECT),
        "object": outcome(files={"f": b"1"}, logged=log(record([3.0, 7.0]))),
        "exit code": outcome(files={"f": b"1"}, logged=OBJECT, code=1),
        "crash": outcome(files={"f": b"1"}, logged=OBJECT, failure="it crashed"),
    }[noticed]
    same = outcome(files={"f": b"1"}, logged=OBJECT)
    case.original.answer = lambda _: same
    case.port.answer = lambda disturbed: other if disturbed else same
    assert case.judge(same).status == "pass"
    case.port.answer = lambda _: same
    assert case.judge(same).status == "undecided"


def disturbed(by: float) -> CaptureLog:
    """Return the log of a run in which kernels would have written something else."""
    made = log(record([3.0, 1.0]))
    made.disturbed = {KEY: {0: record([3.0, 1.0 + by])}}
    return made


@pytest.mark.parametrize(("by", "status"), [(1.0, "pass"), (0.0, "undecided")])
def test_a_region_of_ours_is_sensitive_where_other_values_were_noticed(case: Case, by: float, status: str) -> None:
    case.original.answer = lambda _: outcome(logged=OBJECT)
    sources = replace(CUDA, captured=True, regions=(PortedRegion("f/i", "ws_k"),))
    got = case.judge(outcome(logged=disturbed(by)), sources=sources)
    assert got.status == status and rules(got) == ([] if by else ["VER029"])


def test_a_region_without_objects_is_tried_by_another_run(case: Case) -> None:
    sources = replace(CUDA, captured=True, regions=(PortedRegion("g/i", "ws_k"),))
    assert case.judge(outcome(), sources=sources).status == "pass"
    case.port.answer = lambda _: outcome()
    assert rules(case.judge(outcome(), sources=sources)) == ["VER029"]


@pytest.mark.parametrize(("harness", "status"), [(True, "pass"), (False, "undecided")])
def test_an_object_that_no_run_determines_is_a_doubt_but_where_the_harness_calls(
    case: Case, harness: bool, status: str
) -> None:
    def answer(name: str) -> RunOutcome:
        logged = log(record([3.0, 1.0]) if name == "base_1" else record([4.0, 2.0]))
        logged.marks = {("begin", "f/i"): 0, ("end", "f/i"): 0} if harness else {}
        return outcome(logged=logged)

    case.original.answer = answer
    other = log(record([5.0, 5.0]))
    got = case.judge(outcome(logged=other), sources=replace(CUDA, captured=True))
    assert got.status == status and ("VER033" in rules(got)) == (not harness)


def test_a_port_that_is_switched_off_is_noted_and_nothing_else_is_asked(case: Case) -> None:
    off = replace(CUDA, files=(replace(CUDA.files[0], text="#ifdef WARPSMITH\n#endif\nint main() {}"),))
    got = case.judge(outcome(), counts=RunCounts(), sources=off)
    assert (got.status, rules(got), got.reasons[0].severity) == ("pass", ["VER028"], "note")


@pytest.mark.parametrize(
    ("failure", "ours", "status", "rule"),
    [
        ("it did not end within 1 s", True, "skipped", "VER003"),
        ("it did not end within 1 s", False, "fail", "VER003"),
        ("it crashed: abort", True, "fail", "VER002"),
    ],
)
def test_a_run_that_does_not_end_well(case: Case, failure: str, ours: bool, status: str, rule: str) -> None:
    marks = CaptureLog(marks={("begin", "f(1)"): 0, ("end", "f(1)"): 0, ("begin", "f(2)"): 0})
    bad = outcome(failure=failure, stderr="first\nlast words\n\n", logged=marks)
    got = case.judge(bad, of=replace(ORIGINAL, captured=ours))
    assert (got.status, rules(got), got.output_equal) == (status, [rule], False)
    said = f"the candidate failed in f(2): {failure} (it said: last words) [schedule 1: threads descending]"
    assert got.reasons[0].message == said and bool(got.reasons[0].help) == (rule == "VER003")


def test_a_slow_port_that_is_also_wrong_fails(case: Case) -> None:
    case.original.answer = lambda _: outcome(logged=OBJECT)
    slow, wrong = outcome(failure="it did not end within 1 s"), outcome(logged=log(record([3.0, 2.0])))
    got = case.judge(slow, wrong)
    assert (got.status, rules(got)) == ("fail", ["VER003", "VER007"])
    said = "y[1] is 2.0, the original has 1.0 [schedule 2: permutation 1]"
    assert got.reasons[1].message.endswith(said)


def test_the_exit_code_counts_where_the_originals_is_always_the_same(case: Case) -> None:
    assert rules(case.judge(outcome(code=3))) == ["VER004"]
    case.original.answer = lambda name: outcome(code=int(name == "base_2"))
    assert case.judge(outcome(code=3)).status == "pass"


def test_after_a_race_nothing_computed_is_compared(case: Case) -> None:
    race = Race("a", 0, ("?", "?"), (), "text")
    trial = CandidateRun(outcome("other"), LAUNCHED, (race,), (Finding("VER040", "error", "race"),), ())
    got = case.judge(trial)
    assert (got.status, rules(got), got.races, got.output_equal) == ("fail", ["VER040"], (race,), True)


def test_output_and_files_are_compared_by_the_originals_own_spread(case: Case) -> None:
    case.original.answer = lambda name: (
        outcome("1.0001", files={"f": b"2.0001"}) if name == "variant_0" else outcome("1.0000", files={"f": b"2.0000"})
    )
    got = case.judge(outcome("7.0", files={"f": b"9.0"}))
    assert (got.status, rules(got)[:2], got.output_equal) == ("fail", ["VER009", "VER010"], False)
    assert "line 1 has 7.0, the original has 1.0000" in got.reasons[0].message
    near = case.judge(outcome("1.0003", files={"f": b"2.0003"}))
    assert not {"VER009", "VER010"} & set(rules(near)) and near.output_equal
    assert near.tolerance.startswith("4 times the spread")


@pytest.mark.parametrize("reordered", [False, True])
def test_output_that_another_order_of_a_sum_may_have_changed_says_what_keeps_it(case: Case, reordered: bool) -> None:
    case.original.answer = lambda _: outcome("61", files={"f": b"61"})
    got = case.judge(outcome("65", files={"f": b"65"}), of=replace(ORIGINAL, reordered=reordered))
    found = [reason for reason in got.reasons if reason.rule in ("VER009", "VER010")]
    assert len(found) == 2 and all(any("--precise-fp" in help for help in f.help) == reordered for f in found)


def test_a_line_that_is_wrong_is_named_where_no_number_is(case: Case) -> None:
    case.original.answer = lambda _: outcome("sum 1", files={"f": b"a"})
    assert rules(case.judge(outcome("total 1", files={"f": b"a"}))) == ["VER009"]
    assert rules(case.judge(outcome("sum 1", files={"f": b"b"}))) == ["VER010"]


def test_one_mistake_that_shows_in_all_objects_is_told_shortly(case: Case) -> None:
    for count, told, more in ((3, 3, ""), (4, 3, "; so do 1 more object "), (6, 3, "; so do 3 more objects ")):
        case.original.answer = lambda _, count=count: outcome(logged=many(1.0, count))  # type: ignore[misc]
        got = case.judge(outcome(logged=many(2.0, count)))
        assert len(got.reasons) == told and more in got.reasons[-1].message + " "


def test_a_region_that_need_not_be_right_is_told_only(case: Case) -> None:
    case.original.answer = lambda _: outcome(logged=OBJECT)
    got = case.judge(outcome(logged=log(record([3.0, 2.0]))), lenient=frozenset({"f/i"}))
    assert got.status == "pass" and [(r.rule, r.severity) for r in got.reasons] == [("VER025", "warning")]


@pytest.mark.parametrize(("addressed", "status", "rule"), [(True, "pass", "VER026"), (False, "fail", "VER008")])
def test_a_region_whose_test_asks_for_addresses_may_run_less_often(
    case: Case, addressed: bool, status: str, rule: str
) -> None:
    case.original.answer = lambda _: outcome(logged=OBJECT)
    of = replace(ORIGINAL, addressed=frozenset({"f/i"}) if addressed else frozenset())
    got = case.judge(outcome(logged=CaptureLog()), of=of)
    assert (got.status, rules(got)) == (status, [rule])


def test_a_write_past_a_buffer_of_the_harness(case: Case) -> None:
    marks = CaptureLog(marks={("guard", "x"): 7, ("outside", "f(n = 1)"): 0, ("guard", "y"): 8})
    got = case.judge(outcome(logged=marks))
    assert rules(got) == ["VER006"] and "x[7] is written in f(n = 1): it lies outside of x" in got.reasons[0].message


def test_rows_keep_the_worst_of_all_runs(case: Case) -> None:
    case.original.answer = lambda _: outcome(logged=OBJECT)
    off = [outcome(logged=log(record([3.0, 1.0 + by]))) for by in (1e-15, 0.0)]
    (row,) = case.judge(*off, options=VerifyOptions(absolute=1e-3)).live_out
    assert row.max_abs == pytest.approx(1e-15, rel=0.2) and row.max_ulp > 0 and not row.identical


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (VerifyOptions(absolute=0.5, relative=1e-6), "absolute 0.5, relative 1e-06 (given)"),
        (VerifyOptions(relative=0.0), "relative 0 (given)"),
    ],
)
def test_a_given_tolerance_is_told(case: Case, options: VerifyOptions, said: str) -> None:
    assert case.judge(outcome(), options=options).tolerance == said


def test_the_tolerance_that_was_needed_is_told(case: Case) -> None:
    case.original.answer = lambda _: outcome(logged=OBJECT)
    near = outcome(logged=log(record([3.0, 1.0 + 4e-16])))
    assert case.judge(near).tolerance.endswith("(-O0, -O3, contraction) + 16 ulp; integers exact")
    assert "256 ulp" in case.judge(near, of=replace(ORIGINAL, reordered=True)).tolerance


def test_what_differs_with_time_is_masked_and_told(case: Case) -> None:
    case.original.answer = lambda name: outcome("t 2 s" if name in ("base_2", "bent") else "t 1 s", files={"f": b"x"})
    got = case.judge(outcome("t 9 s", files={"f": b"x"}))
    assert (
        got.output_equal and len(got.masked_output) == 1 and got.tolerance == "not needed: equal where it is compared"
    )


def test_the_inputs_of_the_runs_are_told(case: Case) -> None:
    options = VerifyOptions(("1", "x"), "in.txt", "home")
    assert case.judge(outcome(), options=options).inputs == "arguments 1 x, standard input in.txt, files of home"
