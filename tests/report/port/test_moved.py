"""The summary's first line: how much of the work is moved, what stays, why, and what would help."""

from __future__ import annotations

from msgspec.structs import replace

from tests.poly.analysis import program_of
from tests.report.port.test_hottest import TEXT, entries
from warpsmith.base.verdict import Reason
from warpsmith.report.model import Report
from warpsmith.report.port.moved import moved_json, moved_text, moved_work
from warpsmith.report.port.staying import NOT_NAMED
from warpsmith.report.port.text import port_text
from warpsmith.run.verification import Verification


def test_the_share_of_loops_with_kernels_and_the_hottest_that_stays() -> None:
    program = program_of(TEXT)
    functions = [function for _, function in program.functions()]
    little, most = (moved_work(functions, entries(program, name)) for name in ("light/i", "heavy/i#2/j"))
    assert little is not None and most is not None
    assert little.share < 0.01 and little.stays is not None and little.stays.id == "heavy/i#2/j"
    assert little.stays_share > 0.9
    # what is left has less than a hundredth of the work
    assert most.share > 0.9 and most.stays is None
    assert moved_text(most, ran=True).startswith("100 % of the work runs on the device (estimated")
    assert moved_text(most, ran=False).startswith("100 % of the work is in kernels (estimated")
    assert "stays" not in moved_json(most)


def test_why_it_stays_and_what_would_help() -> None:
    program = program_of(TEXT)
    found = moved_work([function for _, function in program.functions()], entries(program, "light/i"))
    assert found is not None and found.stays is not None
    place = f"{found.stays.span.file.path}:{found.stays.span.line}"
    assert moved_text(found, ran=True).endswith(f"; `warpsmith explain {place}` says what would help")
    reason = Reason("POR009", "it would lose", None, legal_if=("--all ports it all the same",))
    told = replace(found, stays=replace(found.stays, reasons=(reason,)))
    assert moved_text(told, ran=True).endswith(": it would lose; --all ports it all the same")
    unasked = replace(found, stays=replace(found.stays, reasons=(Reason("POR002", NOT_NAMED),)))
    assert moved_text(unasked, ran=True).endswith(f"; --loop {place} asks for it")
    stays = moved_json(told)["stays"]
    assert isinstance(stays, dict) and stays["why"] == "it would lose" and stays["help"].startswith("--all")


def test_a_loop_that_threads_run_points_to_the_loop_that_they_share() -> None:
    program = program_of(TEXT)
    functions, listed = [function for _, function in program.functions()], entries(program, "none")
    (heavy,) = [function for function in functions if function.symbol.name == "heavy"]
    threaded = Reason("POR008", "'g' is called from 'heavy' inside an OpenMP parallel region (line 3)", heavy.body.span)
    inner = max(listed, key=lambda entry: entry.id == "heavy/i#2/j")
    others = [entry for entry in listed if entry is not inner]
    for reason, line in ((threaded, 4), (replace(threaded, rule="POR001"), inner.span.line)):
        found = moved_work(functions, (*others, replace(inner, reasons=(reason,))))
        assert found is not None and found.stays is not None and found.stays.id == inner.id
        assert moved_text(found, ran=True).endswith(f":{line}` says what would help")
        assert str(moved_json(found)["stays"]).endswith(f":{line}` says what would help'}}")


def test_a_program_without_loops_says_nothing() -> None:
    program = program_of("int f(int n) { return n; }")
    assert moved_work([function for _, function in program.functions()], ()) is None


def test_it_is_the_first_line_and_runs_only_where_every_kernel_did() -> None:
    program = program_of(TEXT)
    loops = entries(program, "heavy/i#2/j")
    moved = moved_work([function for _, function in program.functions()], loops)
    launched, idle = Verification("pass", launches={"k_kernel": 2}), Verification("undecided", launches={})
    for verify, said in ((None, "is in kernels"), (launched, "runs on the device"), (idle, "is in kernels")):
        report = Report("port", ("a.c",), "ok", loops=loops, verify=verify, moved=moved)
        assert said in port_text(report, "").splitlines()[0]
