"""Fixes applied to files until nothing more can be mended; no round leaves a finding that was not there before."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from tests.flows.ptx import options
from tests.report.analysis.samples import reported
from warpsmith.base.findings import Finding
from warpsmith.base.fixes import Fix
from warpsmith.base.source import Edit, SourceFile, Span
from warpsmith.flows import fix_files as flow
from warpsmith.flows.explain import ExplainOptions
from warpsmith.flows.fix_files import MOST_ROUNDS, Mended, fix_files
from warpsmith.kernels.units import KernelFile
from warpsmith.report.analysis.model import AnalysisReport, Reported

BAD, GOOD, WORSE = "bad", "ok ", "off"


def _findings(file: KernelFile, words: dict[str, str], *, safe: bool) -> list[Reported]:
    """Return a finding, with a fix, for each place of a word; another one, without a fix, for each `off`."""
    text = SourceFile(file.path, file.text or "")
    found = []
    for number, line in enumerate(text.text.split("\n"), start=1):
        for word, new in words.items():
            if word in line:
                start = text.offset(number) + line.index(word)
                fix = Fix("mend", (Edit(Span(text, start, start + len(word)), new),), safe)
                found.append(replace(reported("MEM001", number, file=text), fix=fix, input=file.path))
        if WORSE in line:
            found.append(replace(reported("SYN002", number, file=text), input=file.path))
    return found


def mended(
    monkeypatch: pytest.MonkeyPatch,
    *files: KernelFile,
    words: dict[str, str] | None = None,
    safe: bool = True,
    unsafe: bool = False,
    lost: str = "",
) -> tuple[Mended, int]:
    """Return what becomes of files, and how often they were analyzed; `lost`: a word that cannot be read."""
    rounds = 0

    def explained(given: Sequence[KernelFile], told: ExplainOptions) -> AnalysisReport:
        nonlocal rounds
        rounds += 1
        assert told.fixes
        broken = tuple(Finding("INP001", "error", "lost") for one in given if lost and lost in (one.text or ""))
        findings = [one for file in given for one in _findings(file, words or {BAD: GOOD}, safe=safe)]
        return AnalysisReport(tuple(one.path for one in given), "ok", 0, broken, findings=tuple(findings))

    monkeypatch.setattr(flow, "explain", explained)
    return fix_files(files, options(), unsafe=unsafe), rounds


def file(text: str, path: str = "k.cu") -> KernelFile:
    return KernelFile(path, "cuda", text=text)


def test_all_fixes_of_a_file_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found, rounds = mended(monkeypatch, file("bad\nx\nbad\n"), file("fine\n", "l.cu"))
    assert [(one.file.path, one.text) for one in found.edited] == [("k.cu", "ok \nx\nok \n")]
    assert (found.applied, rounds) == ({"MEM001": 2}, 2)
    assert len(found.before.findings) == 2 and found.after.findings == ()


def test_round_after_round(monkeypatch: pytest.MonkeyPatch) -> None:
    found, rounds = mended(monkeypatch, file("bad bed\n"), words={"bad": "ok", "bed": "fine"})
    assert found.edited[0].text == "ok fine\n" and rounds <= 3


def test_fixes_that_may_change_results_are_applied_where_that_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert mended(monkeypatch, file("bad\n"), safe=False)[0].edited == ()
    assert mended(monkeypatch, file("bad\n"), safe=False, unsafe=True)[0].edited[0].text == "ok \n"


def test_a_round_that_makes_it_worse_is_done_again_with_its_first_fix_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = mended(monkeypatch, file("bad\nbed\n"), words={"bad": "ok ", "bed": WORSE})
    assert [one.text for one in found.edited] == ["ok \nbed\n"] and found.applied == {"MEM001": 1}
    nothing, _ = mended(monkeypatch, file("bed\n"), words={"bed": WORSE})
    assert nothing.edited == () and nothing.applied == {}
    assert [one.finding.rule for one in nothing.after.findings] == ["MEM001"]


def test_a_fix_that_mends_nothing_or_breaks_the_text_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert mended(monkeypatch, file("bad\n"), words={"bad": "bad "})[0].edited == ()
    assert mended(monkeypatch, file("bad\n"), words={"bad": "lost"}, lost="lost")[0].edited == ()


def test_one_file_does_not_hold_up_another(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = mended(monkeypatch, file("bad\n"), file("bed\n", "l.cu"), words={"bad": "ok ", "bed": WORSE})
    assert [(one.file.path, one.text) for one in found.edited] == [("k.cu", "ok \n")]


def test_a_file_that_is_named_twice_is_edited_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = mended(monkeypatch, file("bad\n"), file("bad\n", "./k.cu"))
    assert [one.file.path for one in found.edited] == ["k.cu"]


def test_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    longer = {"bad" * n + "!": "x" for n in range(1, 3)}
    _, rounds = mended(monkeypatch, file("bad!\nbadbad!\n"), words=longer)
    assert rounds <= 2 * MOST_ROUNDS + 1
