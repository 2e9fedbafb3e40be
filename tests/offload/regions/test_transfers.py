"""The copies that data regions add, as the plan lists them, and what is said of the large ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.regions.planned import looped, straight
from warpsmith.offload.plan import DataRegions, Port, Transfer
from warpsmith.offload.regions.transfers import data_region_findings, data_region_transfers


def listed(port: Port) -> list[Transfer]:
    return list(data_region_transfers(DataRegions(inserted=port.inserted)))


EVERYTHING = "everything that is on the device"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("k = u[3];", ("u", False, "u[3]", "sizeof(double)", 8)),
        ("u[3] = k;", ("u", True, "u[3]", "sizeof(double)", 8)),
        ("fwrite(u, 8, 4, stdout);", ("u", False, "u", "8 * 4", 32)),
        ("fwrite(u, 8, n, stdout);", ("u", False, "u", "8 * n", None)),
        ("for (int i = 0; i < k; i++) { if (u[i * i] > 2) break; }",
         ("u", False, "the block of u", "its block", None)),
        ("k = u[k++];", (EVERYTHING, False, EVERYTHING, "all", None)),
        ("unknown();", (EVERYTHING, False, EVERYTHING, "all", None)),
    ],
)  # fmt: skip
def test_what_a_statement_copies(body: str, expected: tuple[object, ...], tmp_path: Path) -> None:
    port = looped(body, tmp_path)
    first = listed(port)[0]
    assert (first.variable, first.to_device, first.few) == (expected[0], expected[1], expected[4])
    assert first.in_loop == "run/t" and first.cause.line > 10
    if "block" not in str(expected[2]):
        assert (first.section, first.bytes.replace("(long long)", "")) == (expected[2], expected[3])
    assert first in port.plan.transfers


def said(port: Port) -> list[tuple[str, str]]:
    return [(f.severity, f.message) for f in port.plan.findings if f.rule == "POR018"]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("k = u[k++];", "it touches what cannot be bounded here"),
        ("unknown();", "it may free memory, or touch any"),
        # under a condition it may be done once
        ("if (k) unknown();", ""),
        # what is only sent is no surprise
        ("u[3] = k;", ""),
    ],
)
def test_copies_of_everything_are_said_where_each_iteration_makes_them(body: str, what: str, tmp_path: Path) -> None:
    found = said(looped(body, tmp_path))
    assert [severity for severity, _ in found] == (["warning"] if what else [])
    assert not what or what in found[0][1]


def test_a_refused_loop_is_reported_unless_one_inside_it_is_a_data_region(tmp_path: Path) -> None:
    condition = "if ((u[0] = 3) > 2) k = 1;"
    ((severity, message),) = said(looped(condition, tmp_path))
    assert severity == "warning" and message.startswith("the data of the kernels called in run/t are copied")
    inside = said(looped(f"{condition} for (int s = 0; s < 3; s++) step(v, u, n);", tmp_path))
    assert [severity for severity, _ in inside] == ["note"]


def test_a_refused_run_is_told_where_it_is_cut(tmp_path: Path) -> None:
    ((severity, message),) = said(straight("step(u, v, n);\ngoto out; out: step(v, u, n);", tmp_path))
    assert severity == "note" and "do not stay on the device across line" in message and "a jump" in message


def test_no_data_regions_no_findings() -> None:
    assert list(data_region_transfers(DataRegions())) == [] and list(data_region_findings(DataRegions())) == []
