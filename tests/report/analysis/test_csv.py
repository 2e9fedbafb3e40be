"""Findings as rows for a spreadsheet, in which no cell is a formula."""

from __future__ import annotations

import csv
import io

from tests.report.analysis.samples import report, reported
from warpsmith.report.analysis.csv import analysis_csv


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_row_for_each_finding_that_is_shown() -> None:
    first, second = rows(analysis_csv(report()))
    assert (first["file"], first["line"], first["column"], first["rule"]) == ("src/k.cu", "3", "1", "MEM001")
    assert (first["name"], first["impact"], first["help"]) == ("uncoalesced-global-access", "2", "swap the loops")
    assert second["severity"] == "note"


def test_a_finding_without_a_place_has_its_input() -> None:
    (row,) = rows(analysis_csv(report(findings=(reported(line=None),))))
    assert (row["file"], row["line"], row["column"]) == ("src/k.cu", "", "")


def test_no_cell_is_a_formula_and_commas_and_quotes_stay() -> None:
    for message in ("=SUM(A1)", "+1", "-1", "@x", "\tx"):
        (row,) = rows(analysis_csv(report(findings=(reported(message=message),))))
        assert row["message"] == f"'{message}"
    (row,) = rows(analysis_csv(report(findings=(reported(message='a, "b" - c'),))))
    assert row["message"] == 'a, "b" - c'


def test_without_findings_there_is_the_head_alone() -> None:
    assert analysis_csv(report(findings=())).startswith("file,line,column,rule") and not rows(
        analysis_csv(report(findings=()))
    )
