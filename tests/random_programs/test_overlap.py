"""`--overlap`: random programs do what they did while copies go on beside their kernels and host code, and bugs in the
waits are seen by the emulation alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.random_programs.acceptance import is_right
from tests.random_programs.overlap_programs import overlap_program
from warpsmith.emit import parts
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.offload.plan import OffloadOptions
from warpsmith.offload.transfers import overlap, transfers
from warpsmith.offload.transfers.transfers import UNPROVED
from warpsmith.tree.nodes import Copy, CopyWait, Stmt

Patch = pytest.MonkeyPatch

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
static double noise(int n) { double s = 0.5; for (int i = 0; i < n; i++) s = s * 0.5 + (double)(rand() % 7); return s; }
double stages(int n, double *restrict a, double *restrict b, double *restrict c)
{
    double s = 0.0;
    for (int i = 0; i < n; i++)
        a[i] = a[i] * 0.5 + i % 3;
    for (int i = 0; i < n; i++)
        b[i] = b[i] * 0.5 + a[i];
    s = noise(9) + a[3] + (rand() % 2);
    for (int i = 0; i < n; i++)
        b[i] = b[i] + c[i] * 0.25;
    c[5] = s;
    s = s + noise(9);
    for (int i = 0; i < n; i++)
        a[i] = b[i] * 0.5 + a[i];
    printf("%.9g %.9g\\n", s, b[4]);
    return s;
}
int main(void)
{
    int n = 200;
    double *a = malloc(n * sizeof(double)), *b = malloc(n * sizeof(double)), *c = malloc(n * sizeof(double));
    double s = 0.0;
    for (int i = 0; i < n; i++) {
        a[i] = 1 + rand() % 5;
        b[i] = 1 + rand() % 5;
        c[i] = 1 + rand() % 5;
    }
    printf("%.9g\\n", stages(n, a, b, c));
    for (int i = 0; i < n; i++) {
        s = s * 0.5 + a[i] + b[i] + c[i];
        s = s + (rand() % 2);
    }
    printf("%.9g\\n", s);
    free(a);
    free(b);
    free(c);
    return 0;
}
"""


CHANGING = """\
#include <stdio.h>
#include <stdlib.h>
double stages(int n, double *restrict a, double *restrict from)
{
    double *restrict b = from + 50;
    for (int i = 0; i < 1000; i++)
        a[i] = a[i] * 0.5 + 1;
    CHANGE
    for (int i = 0; i < n; i++)
        b[i] = b[i] * 0.5 + 1;
    for (int i = 0; i < 1000; i++)
        a[i] = a[i] * 0.5 + 1;
    return b[5] + a[7];
}
int main(void)
{
    double *a = malloc(1000 * sizeof(double)), *b = malloc(1000 * sizeof(double));
    double s;
    for (int i = 0; i < 1000; i++) {
        a[i] = i % 5;
        b[i] = 1 + rand() % 3;
    }
    s = stages(500, a, b);
    for (int i = 0; i < 1000; i++)
        s = s * (rand() % 2 ? 0.5 : 0.25) + a[i] + b[i];
    printf("%.9g\\n", s);
    free(a);
    free(b);
    return 0;
}
"""
"""The copy of b would go on beside the first kernel, if nothing changed how much of it is copied, or where it lies."""


def ported(text: str, directory: Path) -> PortResult:
    path = directory / "p.c"
    path.write_text(text)
    return port([str(path)], PortOptions(offload=OffloadOptions(pinned=True, overlap=True)))


def beside(result: PortResult) -> int:
    """Count the copies that go on beside something."""
    return sum(bool(transfer.beside) for transfer in result.plan.transfers) if result.plan is not None else 0


def ends_at_once(result: PortResult) -> bool:
    """Whether the program returns before the first of its kernels, so that nothing can be compared."""
    verification = result.verification
    rules = {reason.rule for reason in verification.reasons} if verification is not None else set()
    return verification is not None and verification.status == "undecided" and rules == {"VER028", "VER034"}


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_programs_do_what_they_did(first: int, tmp_path: Path) -> None:
    several = 0
    for seed in range(first, first + 10):
        result = ported(overlap_program(seed), tmp_path)
        assert is_right(result) or ends_at_once(result), (seed, result.verification, result.diagnostics)
        assert result.plan is not None
        assert not any(one.waits.startswith(UNPROVED) for one in result.plan.transfers), (seed, result.plan.transfers)
        several += beside(result) > 0
    assert several > 2


def test_the_program_without_a_bug(tmp_path: Path) -> None:
    result = ported(PROGRAM, tmp_path)
    assert result.verification is not None and result.verification.status == "pass", result.verification
    assert beside(result) >= 3, result.plan


@pytest.mark.slow
@pytest.mark.parametrize("change", ["n = 900 + rand() % 9;", "b = from + rand() % 9;", "if (n < 900) n++;"])
@pytest.mark.parametrize("proved", [True, False])
def test_a_copy_does_not_begin_before_its_size_and_place_are_known(
    change: str, proved: bool, tmp_path: Path, monkeypatch: Patch
) -> None:
    """By what moves copies; by the check of the result, where that is wrong; and the emulation sees it by itself."""
    text = CHANGING.replace("CHANGE", change)
    why = "line 8 changes where it lies, or how much of it moves"
    result = ported(text, tmp_path)
    assert result.verification is not None and result.verification.status == "pass"
    assert _said_of_b(result) == why
    monkeypatch.setattr(overlap, "_names_said", lambda _: set())
    monkeypatch.setattr(overlap, "_variables", lambda *_: set())
    if not proved:
        monkeypatch.setattr(transfers, "check_overlap", lambda *_: ())
    result = ported(text, tmp_path)
    assert result.verification is not None
    assert result.verification.status == ("pass" if proved else "fail")
    said = _said_of_b(result)
    assert said.startswith(UNPROVED) == proved
    assert said.endswith("b: what an early copy was made with changes before it is waited for") == proved


def test_nothing_changes(tmp_path: Path) -> None:
    result = ported(CHANGING.replace("CHANGE", "rand();"), tmp_path)
    assert is_right(result) and _said_of_b(result) == ""


def _said_of_b(result: PortResult) -> str:
    """Return why the copy of b to the device waits."""
    assert result.plan is not None
    return next(one.waits for one in result.plan.transfers if one.variable == "b" and one.to_device)


# --- seeded bugs: what is proved is not looked at, so that only the emulation can see them

_MOVER = vars(overlap)["_Mover"]


def _in_run_time(old: str, new: str) -> Callable[[Patch], None]:
    """Change the run time that ports carry."""

    def seed(patch: Patch) -> None:
        real = vars(parts)["_text"]
        assert old in real("overlap.cu")
        patch.setattr(parts, "_text", lambda name: real(name).replace(old, new) if name == "overlap.cu" else real(name))

    return seed


def _without(wait: Callable[[CopyWait], bool]) -> Callable[[Patch], None]:
    def seed(patch: Patch) -> None:
        real = _MOVER.moved

        def moved(self: object, run: tuple[Stmt, ...], copy: Copy) -> tuple[Stmt, ...]:
            made: tuple[Stmt, ...] = real(self, run, copy)
            return tuple(s for s in made if not (isinstance(s, CopyWait) and s not in run and wait(s)))

        patch.setattr(_MOVER, "moved", moved)

    return seed


def _past_kernels_that_write(patch: Patch) -> None:
    real = _MOVER._met_launch

    def met(self: object, copy: Copy, *others: object, **named: object) -> str:
        return str(real(self, copy, *others, **named)) if copy.to_device else ""

    patch.setattr(_MOVER, "_met_launch", met)


_RECORD_LAST = """    ws_check(cudaMemcpyAsync(to, from, (size_t)bytes, kind, *stream), "begin a copy", file, line);
    ws_check(cudaEventRecord(event, *stream), "record a copy", file, line);
"""
_RECORD_FIRST = "\n".join([*reversed(_RECORD_LAST.splitlines()), ""])

_BUGS: dict[str, Callable[[Patch], None]] = {
    "kernels wait for nothing": _in_run_time("if (one.device == device)", "if (one.device == nullptr)"),
    "the host waits for nothing": _in_run_time(
        'ws_check(cudaEventSynchronize(one.done), "wait for a copy", file, line);', "(void)line, (void)file;"
    ),
    "an event is recorded before its copy": _in_run_time(_RECORD_LAST, _RECORD_FIRST),
    "copies do not come after the kernels so far": _in_run_time(
        'ws_check(cudaStreamWaitEvent(*stream, event, 0), "wait for the kernels so far", file, line);', ""
    ),
    "a wait records its event anew": _in_run_time(
        "cudaStreamWaitEvent(nullptr, one.done, 0)", "cudaEventRecord(one.done, nullptr)"
    ),
    "no wait of kernels is written": _without(lambda wait: not wait.by_host),
    "no wait of the host is written": _without(lambda wait: wait.by_host),
    "a copy back begins before the kernel that writes": _past_kernels_that_write,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", _BUGS)
def test_bugs_are_seen(name: str, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(transfers, "check_overlap", lambda *_: ())
    monkeypatch.setattr(transfers, "check_transfers", lambda *_: ())
    _BUGS[name](monkeypatch)
    verification = ported(PROGRAM, tmp_path).verification
    assert verification is not None and verification.status == "fail", verification
