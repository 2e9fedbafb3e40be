"""Clashes for some arguments and iterations, and what is not taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.sync.kernels_of_text import judge_of
from warpsmith.analysis.sync.reached import LED, apart_by_numbers, find_reached, find_reached_in_grid

T = "int t = threadIdx.x, g = blockIdx.x * 64 + t; "
AT = "s[t + 1] = s[t];"


def clashes(body: str, folder: Path) -> list[tuple[str, ...]]:
    """Return what each clash rests on."""
    judge, places = judge_of(T + body, folder)
    found = [find_reached(judge, meeting) for meeting in judge.meetings(places)]
    return [clash.assumptions for clash in found if clash is not None and clash.clash]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (AT, ()),
        (f"if (t < n) {{ {AT} }}", ("n is 256",)),
        ("if (t + 3 == n) s[3] = 1; if (t == n) s[3] = 2;", ("n is 16",)),
        (f"if (b[g] > 3) {{ {AT} }}", (LED,)),
        (f"int2 p = ((int2 *)b)[g]; if (p.x > 3 && p.y > 4) {{ {AT} }}", (LED,)),
        ("for (int i = t; i < n; i += 64) s[i] = 1; a[t] = s[255 - t];", ("n is 256",)),
        ("a[n + t] = a[n + m * 0];", ("n is 4096",)),
        # how far apart they lie is an argument, and nothing else says what it is
        ("s[t] = 1; b[t] = s[t + m];", ("m is 1",)),
        ("a[t] += a[t + n];", ("n is 1",)),
        ("a[t] += a[t - n];", ("n is 1",)),
        ("if (t < n) a[n * n * n + (t >> 1)] = t;", ("n is 512",)),
        ("if (t < n) a[(t / 32) * (m >> 2) + t % 16] = t;", ("m is 4096",)),
        ("if (t < n) a[(t * 1103515245u >> 8) % 16] = t;", ("n is 256",)),
        ("for (int i = 0; i < n; i++) { s[t] = i; __syncthreads(); b[t] += s[63 - t]; }", ()),
    ],
)
def test_clashes_name_what_they_rest_on(body: str, said: tuple[str, ...], tmp_path: Path) -> None:
    found = clashes(body, tmp_path)
    assert found
    assert any(set(said) <= set(texts) for texts in found)


@pytest.mark.parametrize(
    "body",
    [
        f"if (atomicAdd(b, 1) == 3) {{ {AT} }}",
        f"if (t == b[0]) {{ {AT} }}",
        f"if (__shfl_sync(~0u, t, 3) == t) {{ {AT} }}",
        "s[t] = 1; __syncthreads(); b[t] = s[63 - t];",
        "if (n > 3) s[t] = 1; else b[t] = s[t + 1];",
        "if (n < 9) s[t] = 1; if (n > 8) b[t] = s[t + 1];",
        "if (n > 3) { s[t] = 1; } if (n > 3) __syncthreads(); if (n > 3) b[t] = s[t + 1];",
        "a[g * n] = 1;",
        "a[n + t] = a[m];",
        "a[t] += a[t + 64 * n];",
        "if (t < n) a[t] += a[t + n];",
        "a[t + m] += a[t + n];",
        "int *part = a + n; a[t] += part[t];",
        "if (t < n) a[n * n * n * n * t] = t;",
        "if (t < n) a[(t / 32) * (m >> 2) + t % 32] = t;",
        "for (int i = 0; i < n; i++) a[i * (n * m * 3 >> 2) + (t / 32) * (m >> 2) + t % 32] = t;",
        "if (t < n) a[(unsigned)n * n * n * n * t] = t;",
    ],
)
def test_what_may_be_kept_apart_is_no_clash(body: str, tmp_path: Path) -> None:
    assert not clashes(body, tmp_path)


@pytest.mark.parametrize(
    ("body", "clash"),
    [
        ("a[t] = g;", True),
        ("a[g] = 1;", False),
        ("if (g < n) a[t + 32 * blockIdx.x] = 1;", True),
        ("if (blockIdx.x == 0) a[t] = 1;", False),
        ("if (g == n) a[0] = 1;", False),
        ("a[t + n * blockIdx.x] = 1;", False),
        ("a[t + n * blockIdx.y] = 1;", False),
        ("a[t + blockIdx.y] = 1;", True),
    ],
)
def test_clashes_of_the_first_two_blocks(body: str, *, clash: bool, tmp_path: Path) -> None:
    judge, places = judge_of(T + body, tmp_path)
    (place,) = (place for place in places if place.kind == "store")
    assert (find_reached_in_grid(judge, (place, place)) is not None) == clash


@pytest.mark.parametrize(
    ("body", "apart"),
    [
        ("for (int j = 32; j > 0; j >>= 1) { if ((t ^ j) > t) s[t ^ j] = s[t]; __syncthreads(); }", True),
        ("for (int j = 32; j > 0; j >>= 1) { if ((t ^ j) >= 0) s[t ^ j] = s[t]; __syncthreads(); }", False),
        ("for (int j = n; j > 0; j >>= 1) { if ((t ^ j) > t) s[t ^ j] = s[t]; __syncthreads(); }", False),
    ],
)
def test_numbers_of_every_iteration_show_that_places_are_apart(body: str, *, apart: bool, tmp_path: Path) -> None:
    judge, places = judge_of(T + body, tmp_path)
    meetings = [m for m in judge.meetings(places) if m.first.kind != m.second.kind]
    assert meetings
    assert all(apart_by_numbers(judge, meeting) for meeting in meetings) == apart


WIDE = ", unsigned long long w"


@pytest.mark.parametrize(
    ("body", "clash"),
    [
        ("if (t < n) ((int *)((char *)a + (t / 32) * w))[t % 32] = t;", False),
        ("if (t < n) ((int *)((char *)a + (t / 32) * w))[t % 16] = t;", True),
        ("a[t + 2 * w] = a[t];", False),
    ],
)
def test_a_wide_number_is_no_address(body: str, *, clash: bool, tmp_path: Path) -> None:
    judge, places = judge_of(T + body, tmp_path, more=WIDE)
    meetings = judge.meetings(places)
    assert any(find_reached(judge, meeting) for meeting in meetings) == clash
    assert not any(apart_by_numbers(judge, meeting) for meeting in meetings if meeting.first is not meeting.second)
