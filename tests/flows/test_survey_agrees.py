"""`survey` and `port --survey` say the same of every loop: category, reasons, conditions and steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.flows.survey_projects import compiled
from tests.sampling import one_in
from warpsmith.base.verdict import Reason
from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.survey import SurveyOptions, survey
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.search import prepare
from warpsmith.report.port.build import loop_entries
from warpsmith.report.survey.model import SurveyReason
from warpsmith.survey import unit

ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("examples/*.c"), *ROOT.glob("tests/cases/*.c"), *ROOT.glob("tests/cases/*.cpp")])
# one for each way to say more than of the text as written, and those that pragmas and calls speak about
SAMPLE = (
    "cases/s2244",
    "cases/soa_behind_pointer",
    "cases/rows_behind_pointers",
    "cases/double_pointer",
    "cases/peer_periodic",
    "cases/reduce_element",
    "cases/omp_private_array",
    "cases/omp_threads_between",
    "cases/what_cannot_be_modelled",
    "examples/gather",
)
UNROLLED = "void f(int n, double *restrict a, double *restrict b) {\n    for (int i = 1; i < n; i++) {\n%s    }\n}\n"

Said = tuple[str, tuple[tuple[str, str, tuple[int, int] | None], ...], frozenset[tuple[str, str]], tuple[str, ...]]


def _ported(path: Path) -> dict[str, Said]:
    result = port([str(path)], PortOptions(survey=True))
    return {
        f"{e.span.line}:{e.span.column} {e.id}": (e.category, _why(e.reasons), frozenset(e.assumptions), e.steps)
        for e in loop_entries(result.prepared, None)
    }


def _surveyed(path: Path) -> dict[str, Said]:
    report = survey(compiled(path.parent, path.name), SurveyOptions())
    return {
        f"{e.spot.line}:{e.spot.column} {e.id}": (e.category, _why(e.reasons), frozenset(e.assumptions), e.steps)
        for e in report.loops
    }


def _why(reasons: Sequence[Reason | SurveyReason]) -> tuple[tuple[str, str, tuple[int, int] | None], ...]:
    spots = ((r, r.span if isinstance(r, Reason) else r.spot) for r in reasons)
    return tuple((r.rule, r.text, None if spot is None else (spot.line, spot.column)) for r, spot in spots)


def _differences(path: Path) -> Iterator[str]:
    """Yield what the two commands say of the loops of which they do not say the same."""
    ported, surveyed = _ported(path), _surveyed(path)
    for place in sorted(ported.keys() | surveyed.keys()):
        one, other = ported.get(place), surveyed.get(place)
        if one != other:
            yield f"{path.name}:{place}\n  port    {one}\n  survey  {other}"


def _path(name: str) -> Path:
    return (ROOT / "tests" / name if name.startswith("cases/") else ROOT / name).with_suffix(".c")


@pytest.mark.parametrize("name", one_in(3, SAMPLE))
def test_both_say_the_same(name: str) -> None:
    assert list(_differences(_path(name))) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_both_say_the_same_of_every_file(path: Path) -> None:
    assert list(_differences(path)) == []


COMPACTION = """\
void pack(int *restrict x, const int *restrict y, int n) {
    int k = 0;
    for (int i = 0; i < n; i++)
        if (y[i] > 3)
            x[k += y[i]] = y[i];
}
"""


def test_the_category_does_not_hang_on_how_many_conflicts_are_described(tmp_path: Path) -> None:
    """A survey describes one conflict of a loop: here one of k, which is no reason that the loop cannot be analyzed."""
    path = tmp_path / "pack.c"
    path.write_text(COMPACTION)
    described = [{place: said[0] for place, said in found(path).items()} for found in (_ported, _surveyed)]
    assert described == [{"3:5 pack/i": "unanalyzable"}] * 2


def _untried(prepared: Prepared, *_: Any) -> Prepared:
    return prepared


def test_a_survey_that_tries_nothing_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit, "automatic", _untried)
    assert any("parallel-after" in found and "sequential" in found for found in _differences(_path("cases/s2244")))


def test_a_bound_on_the_search_bounds_both(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "long.c"
    path.write_text(UNROLLED % "".join(f"        a[i] += b[i - 1] * {n};\n        b[i] = {n};\n" for n in range(2)))
    assert any(said[0] == "parallel-after" for said in _surveyed(path).values())
    for name in ("_MOST_LOOPS", "_MOST_REFERENCES"):
        with monkeypatch.context() as bounded:
            bounded.setattr(prepare, name, 0)
            assert list(_differences(path)) == []
            assert all(said[0] == "sequential" for said in _surveyed(path).values())
