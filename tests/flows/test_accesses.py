"""The accesses of a nest explained, with the port of it alone."""

from __future__ import annotations

import pytest

from tests.flows.nests import PRODUCT, access_report
from warpsmith.base.errors import UsageError


def test_the_mapping_is_that_of_the_port() -> None:
    report = access_report(PRODUCT, "mm/i")
    ((entry,), refused) = report.spaces, report.refused
    assert refused == "" and entry.place is not None
    assert (entry.place.kernel, entry.place.loops) == ("ws_mm_k1", ("y", "x", "thread"))
    lands = {r.text: [entry.lands(d) for d in r.reuse] for r in entry.space.references}
    assert lands == {"A[i][k]": ["broadcast"], "B[k][j]": ["shared tile or L1"], "C[i][j]": ["register"]}


def test_a_nest_that_stays_says_why() -> None:
    text = "void f(int n, double *a) { for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) a[i] = a[i-1] * a[j]; }"
    report = access_report(text, "f/i")
    assert report.refused and all(entry.place is None for entry in report.spaces)
    assert all(entry.lands(d) is None for entry in report.spaces for r in entry.space.references for d in r.reuse)


def test_a_loop_without_a_counter_has_no_matrix() -> None:
    with pytest.raises(UsageError, match="not a counted one"):
        access_report("void f(int *p) { while (*p) p++; }", "f/while")
