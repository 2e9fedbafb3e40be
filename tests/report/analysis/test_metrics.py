"""The metric table: every number of a kernel with its ideal or limit."""

from __future__ import annotations

from msgspec.structs import replace

from tests.report.analysis.samples import access, kernel, report
from warpsmith.analysis.uniformity.facts import Count
from warpsmith.report.analysis.metrics import metric_rows


def rows(**changes: object) -> list[tuple[str, ...]]:
    return list(metric_rows(report(**changes)))


def test_the_rows_of_a_kernel() -> None:
    assert rows() == [
        ("k (h100)", "registers a thread", "32", "", "estimate"),
        ("", "shared memory a block", "4,224 B", "", ""),
        ("", "occupancy", "48 warps, 75%", "64 warps", "limited by registers"),
        ("", "divergent branches", "1", "of 2", ""),
        ("", "sectors a request", "32", "4", "store out, line 3"),
        ("", "bank ways", "2", "1", "store tile, line 4"),
    ]


def test_what_is_not_there_has_no_row() -> None:
    bare = kernel(resources=replace(kernel().resources, occupancy=None), branches=0)
    assert [row[1] for row in rows(kernels=(bare,), accesses=())] == ["registers a thread", "shared memory a block"]
    local = kernel(resources=replace(kernel().resources, local_bytes=64, spill_bytes=8))
    assert ("", "local memory a thread", "64 B", "0 B", "8 B spilled") in rows(kernels=(local,))


def test_accesses_are_those_of_the_kernel_and_its_file() -> None:
    other = access(kernel="other")
    elsewhere = access(input="other.cu")
    assert len(rows(accesses=(access(), other, elsewhere))) == len(rows(accesses=(access(),)))


def test_numbers_of_other_spaces() -> None:
    constant = access(None, space="constant", bank_ways=Count(1, 3), variable="")
    assert rows(accesses=(constant,))[-1][1:] == ("words a request", "1 to 3", "1", "store memory")
    aligned = access(space="local", sectors_aligned=Count(4, 4))
    assert rows(accesses=(aligned,))[-1][1:3] == ("sectors a request", "4")
    assert rows(accesses=(access(sectors=None),))[-1][2] == "?"
    assert len(rows(accesses=(access(space="param"),))) == 4
