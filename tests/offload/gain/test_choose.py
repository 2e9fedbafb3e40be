"""What certainly loses: by which bar, alone or with what shares its data."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import load
from warpsmith.machine.time.coarse import ERROR
from warpsmith.offload.gain.choose import (
    LEAST_LOSS,
    Bar,
    Loss,
    find_losses,
    gather_knowledge,
    is_all_certain,
    list_trials,
    loss_reason,
    seconds_text,
)
from warpsmith.offload.gain.estimate import estimate_program
from warpsmith.offload.gain.model import GainEstimate
from warpsmith.offload.plan import GainOptions, LoopCount, OffloadOptions
from warpsmith.offload.port import plan_port
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions

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


def losses(text: str, tmp_path: Path, options: OffloadOptions, bar: Bar | None = None) -> tuple[list[Loss], bool]:
    program, poly = load(text, tmp_path), PolyOptions()
    facts = analyze(program, poly)
    port = plan_port(program, facts, options, poly)
    known = gather_knowledge(facts, options, port.plan.fragments)
    estimates = estimate_program(program, known), estimate_program(port.program, known)
    found = find_losses(port, known, facts, estimates, bar or Bar.of(options))
    return list(found), is_all_certain(port, known, facts, *estimates)


def test_a_loop_of_few_elements_loses_and_a_large_one_does_not(tmp_path: Path) -> None:
    found, certain = losses(MIXED, tmp_path, OffloadOptions(gain=GainOptions()))
    (loss,) = found
    assert [f.region for f in loss.fragments] == ["main/t/i"]
    assert not loss.group and certain, "main's arrays are one region"
    assert loss.device > 0.02 > 0.0001 > loss.host


def test_parameters_are_never_certain_unless_they_are_given(tmp_path: Path) -> None:
    text = "void f(int n, double *restrict a) { for (int i = 0; i < n; i++) a[i] = 2 * a[i]; }"
    found, certain = losses(text, tmp_path, OffloadOptions(gain=GainOptions()))
    assert not found and not certain
    found, certain = losses(text, tmp_path, OffloadOptions(gain=GainOptions(), sizes={"n": 100}))
    assert found and certain


def test_measured_counts_are_certain(tmp_path: Path) -> None:
    text = "void f(int n, double *restrict a) {\n    for (int i = 0; i < n; i++) a[i] = 2 * a[i];\n}\n"
    place = (str((tmp_path / "input.c").resolve()), 2, 5)
    found, certain = losses(text, tmp_path, OffloadOptions(gain=GainOptions(counts={place: LoopCount(1, 30)})))
    assert found and certain
    found, certain = losses(
        text, tmp_path, OffloadOptions(gain=GainOptions(counts={(place[0], 9, 9): LoopCount(1, 30)}))
    )
    assert not found and not certain


def test_the_reason_names_the_threads_of_the_host_and_who_overrides_it(tmp_path: Path) -> None:
    text = """
    static double a[3000];
    int main(void) {
        PRAGMA
        for (int i = 0; i < 3000; i++) a[i] = 2 * a[i] + i;
    }
    """
    told: list[str] = []
    for pragma in ("", "#pragma omp parallel for"):
        options = OffloadOptions(gain=GainOptions(), sizes={"n": 1})
        (loss,), _ = losses(text.replace("PRAGMA", pragma), tmp_path, options)
        reason = loss_reason(loss, GainOptions())
        assert reason.legal_if[0].startswith("--all")
        told.append(reason.text)
    assert " here (estimates" in told[0] and " here on 16 threads (estimates" in told[1]


def test_what_the_calls_of_a_counted_run_pass_is_certain(tmp_path: Path) -> None:
    text = """
    static double a[100];
    static void f(int n) { for (int i = 0; i < n; i++) a[i] = 2 * a[i]; }
    int main(void) { int n = 90; f(n); return a[3] > 1; }
    """
    assert not losses(text, tmp_path, OffloadOptions(gain=GainOptions()))[1]
    found, certain = losses(
        text, tmp_path, OffloadOptions(gain=GainOptions(counts={("another.c", 1, 1): LoopCount(1, 1)}))
    )
    assert found and certain


def test_the_bar_is_higher_where_only_the_text_is_known() -> None:
    text, shown = Bar.of(OffloadOptions(gain=GainOptions())), Bar.of(OffloadOptions(sizes={"n": 3}))
    assert Bar.of(OffloadOptions(gain=GainOptions(counts={("a", 1, 1): LoopCount(1, 2)}))) == shown
    assert shown.is_loss(1.0, 1.01) and not text.is_loss(1.0, 1.01)
    assert not text.is_loss(1e-6, LEAST_LOSS / 2)
    assert text.is_loss(1e-6, 2 * LEAST_LOSS)
    assert not text.is_loss(1.0, ERROR * 0.99)
    ready = GainEstimate(host=1.0, device=2.0, start=0.5)
    assert shown.time(ready) == 3.5 and text.time(ready) == 3.0


def test_a_loss_below_the_bar_is_none(tmp_path: Path) -> None:
    text = MIXED.replace("2034", "3").replace("15", "90")
    assert not losses(text, tmp_path, OffloadOptions(gain=GainOptions()))[0]
    assert losses(text, tmp_path, OffloadOptions(gain=GainOptions()), Bar())[0]


def test_trials_are_groups_fragments_and_both() -> None:
    group, alone = Loss((), 1, 2, True), Loss((), 1, 3, False)
    assert list_trials([]) == []
    assert list_trials([group]) == [[group]]
    assert list_trials([group, alone]) == [[group], [alone], [group, alone]]


def test_the_reason_says_by_how_much_and_what_to_do(tmp_path: Path) -> None:
    (loss,), _ = losses(MIXED, tmp_path, OffloadOptions(gain=GainOptions()))
    reason = loss_reason(loss, GainOptions())
    assert reason.rule == "POR009" and reason.span is not None and reason.span.line == 6
    assert "on h100" in reason.text and f"factor of {ERROR:g}" in reason.text
    assert seconds_text(loss.device) in reason.text
    assert any("--all" in text for text in reason.legal_if)


@pytest.mark.parametrize(
    ("seconds", "text"), [(4.56e-5, "46 us"), (0.0123, "12 ms"), (3.25, "3.2 s"), (4e-9, "4 ns"), (0, "1 ns")]
)
def test_seconds_have_two_digits(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text
