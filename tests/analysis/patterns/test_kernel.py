"""What is said of the accesses of kernels, against all threads and iterations of small launches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.analysis.patterns.brute import (
    RandomKernel,
    contradictions,
    facts_of,
    patterns_of,
    random_kernel,
    read_kernels,
)
from tests.analysis.patterns.samples import spaces
from warpsmith.analysis.affine.symbols import Atom, Form
from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.lanes import BlockLanes
from warpsmith.analysis.patterns.columns import IndexColumn, substitute
from warpsmith.analysis.patterns.follows import Followed
from warpsmith.analysis.patterns.quotients import AxisDigit
from warpsmith.analysis.patterns.trips import iterations
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.poly.isl.polynomial import ZERO, Polynomial
from warpsmith.poly.patterns.lattice import kernel
from warpsmith.poly.patterns.matrices import AffineRow, numeric_rows
from warpsmith.ssa.graph import Cycle

_COUNTS = [40, pytest.param(120, marks=pytest.mark.slow)]
Known = tuple[RandomKernel, KernelFacts]
_HALO = """__shared__ float tile[10 * 18];
tile[(threadIdx.y + 1) * 18 + threadIdx.x + 1] = x[threadIdx.x];
if (threadIdx.x == 0) tile[threadIdx.y * 18 + 18] = x[threadIdx.y];
__syncthreads();
y[threadIdx.y * n + threadIdx.x] = tile[(threadIdx.y + 1) * 18 + threadIdx.x];"""


@pytest.fixture(scope="module", params=_COUNTS)
def kernels(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Known]:
    made = [random_kernel(seed) for seed in range(request.param)]
    unit = read_kernels(made, tmp_path_factory.mktemp("kernels"))
    return [(one, facts_of(unit, one)) for one in made]


def test_addresses(kernels: list[Known]) -> None:
    met: Counter[str] = Counter()
    for one, facts in kernels:
        found = patterns_of(facts)
        assert list(contradictions(one, found)) == [], one.text
        for reference in found.space.references:
            met["regular"] += not any(row.irregular for row in reference.rows)
            met["irregular"] += any(row.irregular for row in reference.rows)
            met["directions"] += len(reference.reuse)
        met["groups"] += len(found.space.groups)
        met["quotients"] += any(column.width > 1 for column in found.columns)
    assert met["regular"] > 1.2 * len(kernels), met
    assert met["irregular"] > 0.12 * len(kernels), met
    assert met["directions"] > 1.2 * len(kernels), met
    assert met["groups"] > 0.05 * len(kernels), met
    assert met["quotients"] > 0.16 * len(kernels), met


def test_threads_that_are_not_there_use_nothing_again(tmp_path: Path) -> None:
    (found,) = spaces(_HALO, tmp_path)
    reuse = {r.text: [found.columns[d.index(1)].name for d in r.reuse] for r in found.space.references if r.reuse}
    assert reuse == {
        "x[tid.x]": ["tid.y"],
    }
    groups = {found.space.references[g.earlier].text: g.direction for g in found.space.groups}
    assert groups == {"tile[tid.y + 1][tid.x + 1]": (0, 1)}


def _inside(direction: Sequence[int], columns: Sequence[IndexColumn]) -> bool:
    return True


def _always(*_: object) -> bool:
    return True


def _later_trips(forms: Forms, cycle: Cycle, *, in_header: bool) -> int | None:
    found = iterations(forms, cycle, in_header=in_header)
    return None if found is None else found - 1


def _wrong_sign(form: Form, values: Mapping[Atom, Form]) -> Form | None:
    return substitute(form, {atom: value.scale(-1) for atom, value in values.items()})


def _no_copies(*_: object) -> Iterator[AffineRow]:
    return iter(())


def _follow_nothing(followed: Followed, table: tuple[int, ...]) -> frozenset[int]:
    return frozenset(list(followed.all)[:1])


def _first_row_only(rows: Sequence[AffineRow], width: int) -> list[list[int]]:
    return numeric_rows(rows[:1], width)


def _any_direction(rows: Sequence[Sequence[int]], width: int) -> tuple[tuple[int, ...], ...]:
    return kernel(rows[1:], width)


def _no_rest(reader: object, order: Sequence[tuple[str, ...]], unit: int) -> dict[tuple[str, ...], Polynomial]:
    return dict.fromkeys(order, ZERO)


def _unproved(lanes: BlockLanes, table: Sequence[int], digits: Sequence[Sequence[AxisDigit]]) -> Form:
    x = lanes.block[0]
    known = [digit for axis in digits for digit in axis if digit.extent > 1]
    terms: dict[tuple[Atom, ...], int] = {(d.atom,): table[(1, x)[d.axis] * d.width] - table[0] for d in known}
    return Form(64, {(): table[0], **terms})


def _twice(index: Form, site: AccessSite) -> int:
    return 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "mutant"),
    [
        ("kernel._is_inside", _inside),
        ("digits._splits", _always),
        ("columns.iterations", _later_trips),
        ("rows.substitute", _wrong_sign),
        ("rows._private", _no_copies),
        ("follows.Followed._table", _follow_nothing),
        ("kernel.numeric_rows", _first_row_only),
        ("kernel.kernel", _any_direction),
        ("rows._Reader._rests", _no_rest),
        ("rows._unit", _twice),
        ("quotients._sum", _unproved),
        ("rows._goes_on", _always),
        ("kernel._are_apart", _always),
    ],
)
def test_bugs_are_found(place: str, mutant: object, kernels: list[Known], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"warpsmith.analysis.patterns.{place}", mutant)
    if place == "kernel._is_inside":  # what digits take apart has no such directions
        monkeypatch.setattr("warpsmith.analysis.patterns.rows.digits", lambda entries, _: (tuple(entries),))
    assert any(contradiction for one, facts in kernels for contradiction in contradictions(one, patterns_of(facts)))
