"""`verify`: the two lists of files, and the exit code of each verdict."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from tests.app.cli.runs import typed
from warpsmith.app.cli.commands import verify
from warpsmith.base.findings import Finding
from warpsmith.run.verification import Verification

SLOW = Finding("VER003", "error", "not in time")
OTHER = Finding("VER001", "error", "does not build")


def answering(monkeypatch: pytest.MonkeyPatch, answer: Verification) -> list[tuple[Sequence[str], Sequence[str]]]:
    """Make the referee answer so; what it is asked about is collected."""
    asked: list[tuple[Sequence[str], Sequence[str]]] = []

    def verify_candidate(original: Sequence[str], candidate: Sequence[str], *_: object) -> Verification:
        asked.append((original, candidate))
        return answer

    monkeypatch.setattr(verify, "verify_candidate", verify_candidate)
    return asked


@pytest.mark.parametrize(
    ("answer", "code", "status"),
    [
        (Verification("pass"), 0, "ok"),
        (Verification("fail"), 1, "negative"),
        (Verification("undecided"), 3, "incomplete"),
        (Verification("skipped", reasons=(OTHER,)), 3, "incomplete"),
        (Verification("skipped", reasons=(OTHER, SLOW)), 124, "incomplete"),
        (Verification("undecided", reasons=(SLOW,)), 3, "incomplete"),
    ],
)
def test_the_exit_code_is_the_verdict(
    answer: Verification, code: int, status: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = answering(monkeypatch, answer)
    found, out, _ = typed(capsys, "verify", "a.c", "b.c", "--json", "--", "a.cu")
    assert asked == [(("a.c", "b.c"), ("a.cu",))]
    report = json.loads(out)
    assert (found, report["status"], report["verify"]["status"]) == (code, status, answer.status)
    assert report["inputs"] == ["a.c", "b.c", "--", "a.cu"]


@pytest.mark.parametrize("words", [(), ("a.c",), ("a.c", "--"), ("--", "a.cu"), ("--",)])
def test_both_lists_are_needed(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = answering(monkeypatch, Verification("pass"))
    code, _, err = typed(capsys, "verify", *words)
    assert code == 2 and "verify takes two lists of files" in err and not asked


def test_only_the_first_dashes_part_the_lists(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = answering(monkeypatch, Verification("pass"))
    code, out, _ = typed(capsys, "verify", "a.c", "--", "a.cu", "--", "b.cu")
    assert code == 0 and asked == [(("a.c",), ("a.cu", "--", "b.cu"))] and out.strip()
