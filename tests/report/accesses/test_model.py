"""What is said of reuse, in words."""

from __future__ import annotations

import pytest

from tests.flows.nests import access_report
from warpsmith.report.accesses.model import direction_words, group_words, sharing_words

_NEST = (
    "void f(int n, double a[n][n], double *x, double *y) { for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) %s }"
)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("a[i][j] = x[j] + y[j];", "one nest removes both: x and y are used again along i (1, 0)"),
        ("a[i][j] = x[j] + y[i];", "no single nest removes both; no two matrices share a row"),
        ("a[i][j] = x[j];", ""),
        ("x[i + j] = y[i + j];", "one nest removes both: y and x are used again along (1, -1)"),
    ],
)
def test_sharing(body: str, words: str) -> None:
    (entry,) = access_report(_NEST % body, "f/i").spaces
    assert sharing_words(entry.space) == words


def test_directions_and_distances() -> None:
    (entry,) = access_report(_NEST % "a[i][j] = x[j] + y[i + j] + x[j - 1];", "f/i").spaces
    named = {r.text: [direction_words(entry, r, d) for d in r.reuse] for r in entry.space.references}
    assert named["y[i + j]"][0].startswith("used again along (1, -1): ")
    assert [group_words(entry, g).split(":")[0] for g in entry.space.groups] == [
        "x[j - 1] touches what x[j] has touched 1 iteration of j later"
    ]
    (entry,) = access_report(_NEST % "{ a[i][j] = a[i - 1][j - 1]; x[0] = 1; x[0] = x[0]; }", "f/i").spaces
    assert [group_words(entry, g).split(":")[0] for g in entry.space.groups] == [
        "a[i - 1][j - 1] touches what a[i][j] has touched (1, 1) iterations later"
    ]
