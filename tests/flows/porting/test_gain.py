"""What a port leaves on the host since it would lose, and what it says of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from warpsmith.base.verdict import Reason
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting.gain import estimate_port, renew_refused
from warpsmith.offload.plan import GainOptions, LoopCount, OffloadOptions
from warpsmith.report.port.build import loop_entries
from warpsmith.tree.nodes import For

# a few elements in each of many steps, and a loop that pays
MIXED = """
#include <stdio.h>
double a[15], b[15], big[4000000];
int main(void) {
    for (int t = 0; t < 2034; t++) {
        for (int i = 0; i < 15; i++) a[i] = a[i] * 0.5 + b[i];
        printf("%g", a[t % 15]);
    }
    for (int i = 0; i < 4000000; i++)
        for (int k = 0; k < 500; k++) big[i] = big[i] * 0.5 + k;
    printf("%g", big[7]);
    return 0;
}
"""
# few elements in many steps, whose data stay on the device: it is the stages after them that pay
HELD = """
static double a[2000000], b[2000000];
int main(void) {
    for (int t = 0; t < 300; t++) {
        for (int i = 0; i < 16; i++) a[i] = a[i] + 1.0;
        for (int i = 1; i < 1999999; i++) b[i] = a[i - 1] + a[i] + a[i + 1];
        for (int i = 1; i < 1999999; i++) a[i] = b[i] * 0.3;
    }
    return a[5] > 1.0;
}
"""
REDUCTION = """
#include <stdio.h>
int count(int n, int *restrict of, const int *restrict now) {
    int changed = 0;
    for (int i = 0; i < n; i++) { if (of[i] != now[i]) changed++; of[i] = now[i]; }
    return changed;
}
"""


def ported(text: str, tmp_path: Path, gain: GainOptions | None, **options: object) -> PortResult:
    path = tmp_path / "a.c"
    path.write_text(text)
    sizes = options.pop("sizes", None)
    offload = OffloadOptions(gain=gain, sizes=sizes if isinstance(sizes, dict) else None)
    return port([str(path)], PortOptions(offload=offload, verify=False, **options))  # type: ignore[arg-type]  # as given


def places(result: PortResult) -> list[int]:
    assert result.plan is not None
    return sorted({fragment.statements[-1].span.line for fragment in result.plan.fragments})


def left(result: PortResult) -> list[str]:
    assert result.plan is not None
    return [f.message for f in result.plan.findings if f.rule == "POR009" and f.severity == "note"]


def test_what_loses_stays_and_what_gains_goes(tmp_path: Path) -> None:
    result = ported(MIXED, tmp_path, GainOptions())
    assert places(result) == [9]
    (message,) = left(result)
    assert message.startswith("main/t/i: it would lose: about ")
    assert result.plan is not None
    reasons = {refusal.loop: refusal.reason.rule for refusal in result.plan.refusals}
    assert reasons["main/t/i"] == "POR009"


def test_everything_goes_where_that_is_asked_for(tmp_path: Path) -> None:
    everything = ported(MIXED, tmp_path, None)
    assert places(everything) == [6, 9] and not left(everything)
    named = ported(MIXED, tmp_path, GainOptions(), loops=("main/t/i",))
    assert places(named) == [6] and not left(named)


def test_a_small_loop_goes_with_data_that_are_on_the_device(tmp_path: Path) -> None:
    result = ported(HELD, tmp_path, GainOptions())
    assert places(result) == places(ported(HELD, tmp_path, None))
    assert len(places(result)) >= 2 and not left(result)


def test_nothing_goes_where_all_of_it_loses(tmp_path: Path) -> None:
    result = ported(MIXED.replace("4000000", "16"), tmp_path, GainOptions())
    assert result.plan is not None and not result.plan.fragments and not result.files
    assert left(result)


def test_what_has_unknown_sizes_goes_and_what_is_given_decides(tmp_path: Path) -> None:
    assert places(ported(REDUCTION, tmp_path, GainOptions()))
    assert not left(ported(REDUCTION, tmp_path, GainOptions()))
    assert not places(ported(REDUCTION, tmp_path, GainOptions(), sizes={"n": 100}))
    counted = GainOptions(counts={(str((tmp_path / "a.c").resolve()), 5, 5): LoopCount(1, 100)})
    assert not places(ported(REDUCTION, tmp_path, counted))


# two loops inside one that waits for itself
ROWS = """
static double a[64][64], t[64];
int main(void) {
    for (int i = 0; i < 64; i++) {
        for (int j = 0; j < 64; j++) t[j] = a[i][j] * 2;
        for (int j = 0; j < 64; j++) a[i][j] = t[63 - j];
    }
    return a[3][5] > 1;
}
"""


# the loop over j is put around the other one
STRIDED = """
static double a[512][512], b[512][512];
int main(void) {
    for (int i = 1; i < 512; i++)
        for (int j = 0; j < 512; j++) a[i][j] = a[i - 1][j] + b[i][j];
    return a[3][5] > 1;
}
"""


def counts_of(text: str, tmp_path: Path, counts: dict[int, LoopCount]) -> GainOptions:
    """Return the counts of loops by line."""
    column = {n: len(line) - len(line.lstrip()) + 1 for n, line in enumerate(text.splitlines(), 1)}
    path = str((tmp_path / "a.c").resolve())
    return GainOptions(counts={(path, line, column[line]): count for line, count in counts.items()})


def test_a_loop_that_stays_for_its_cost_says_so_before_all_else(tmp_path: Path) -> None:
    counts = {4: LoopCount(1, 64), 5: LoopCount(64, 4096), 6: LoopCount(64, 4096)}
    gain = counts_of(ROWS, tmp_path, counts)
    assert places(ported(ROWS, tmp_path, replace(gain, everything=True)))
    result = ported(ROWS, tmp_path, gain)
    assert not places(result) and result.plan is not None
    assert all(message.endswith("; --all ports it all the same") for message in left(result)) and left(result)
    refused = {refusal.loop for refusal in result.plan.refusals if refusal.reason.rule == "POR009"}
    entries = [entry for entry in loop_entries(result.prepared, result.plan) if entry.id in refused]
    assert {"main/i/j", "main/i/j#2"} <= refused
    assert all(entry.reasons[0].rule == "POR009" for entry in entries)
    assert all(entry.reasons[0].legal_if[0].startswith("--all") for entry in entries)


def test_refusals_hold_for_loops_that_steps_make_anew(tmp_path: Path) -> None:
    first = ported(STRIDED, tmp_path, None)
    assert first.plan is not None and first.prepared.applied, "steps have made other loops"
    fragment = first.plan.fragments[0]
    loop = next(statement for statement in fragment.statements if isinstance(statement, For))
    reason = Reason("POR009", "it would lose", loop.header)
    refused = ((replace(fragment, statements=(loop,)), reason),)
    assert renew_refused(refused, first.prepared) == refused, "it stands there"
    written = replace(first.prepared, facts=first.facts)
    renewed = renew_refused(refused, written)
    assert len(renewed) == 2
    assert {other.statements[0].header for other, _ in renewed} == {loop.header}  # type: ignore[union-attr]  # loops
    text = replace(reason, rule="POR008")
    assert renew_refused(((refused[0][0], text),), written) == ((refused[0][0], text),)


def test_nothing_slower_than_the_program_stays_where_a_run_was_counted(tmp_path: Path) -> None:
    """The count of one loop is enough: what is not known of others is the estimate's."""
    text = REDUCTION + "int main(void) { static int a[16], b[16]; return count(16, a, b); }\n"
    options = OffloadOptions(gain=GainOptions(counts={("another.c", 1, 1): LoopCount(1, 1)}))
    result = ported(text, tmp_path, options.gain)
    chosen, nothing = (estimate_port(result.prepared, port, options).seconds for port in (result.ported, None))
    assert chosen <= nothing


@pytest.mark.parametrize("text", [MIXED, HELD, MIXED.replace("4000000", "16"), MIXED.replace("15", "1500")])
def test_the_choice_is_no_slower_than_all_or_nothing(tmp_path: Path, text: str) -> None:
    """Where a run was counted, all counts are taken to be its."""
    options = OffloadOptions(gain=GainOptions(counts={("another.c", 1, 1): LoopCount(1, 1)}))
    chosen = ported(text, tmp_path, options.gain)
    everything = ported(text, tmp_path, None)
    nothing = estimate_port(chosen.prepared, None, options).seconds
    best = estimate_port(chosen.prepared, chosen.ported, options).seconds
    assert best <= nothing
    assert best <= estimate_port(everything.prepared, everything.ported, options).seconds * 1.0001


@pytest.mark.parametrize(("iterations", "ported_lines"), [(0, [6]), (64, [4, 6])])
def test_a_loop_that_a_counted_run_has_not_reached_stays_with_all(
    tmp_path: Path, iterations: int, ported_lines: list[int]
) -> None:
    text = (
        "static double a[64], b[64];\nint main(int argc, char **argv) {\n    if (argc > 1)\n"
        "        for (int i = 0; i < 64; i++) a[i] = i;\n\n"
        "    for (int i = 0; i < 64; i++) b[i] = 2 * i;\n    return a[5] > b[5];\n}\n"
    )
    path = str((tmp_path / "a.c").resolve())
    counts = {(path, 4, 9): LoopCount(iterations / 64, iterations), (path, 6, 5): LoopCount(1, 64)}
    result = ported(text, tmp_path, GainOptions(counts=counts, everything=True))
    assert places(result) == ported_lines
    assert result.plan is not None
    reasons = {refusal.loop: refusal.reason for refusal in result.plan.refusals}
    assert reasons.keys() == ({"main/i"} if iterations == 0 else set())
    assert all("no iteration" in reason.text and "--loop" in reason.legal_if[0] for reason in reasons.values())
