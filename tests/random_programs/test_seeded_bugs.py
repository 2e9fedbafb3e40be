"""Each seeded bug is caught by the random programs: wrong verdicts by the oracle, wrong ports by the referee."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.random_programs.acceptance import is_accepted
from tests.random_programs.nests import Access, Affine, Loop, Nest, SizeType, Statement
from tests.random_programs.ports import port_nests
from tests.random_programs.seeded import DYNAMIC, STATIC
from tests.random_programs.strategies import gather
from tests.random_programs.survey import Mix, judge, load
from tests.sampling import one_in
from warpsmith.offload.plan import TransferScheme
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions

ZERO = Affine(0)


def _own(*counters: str) -> tuple[Affine, ...]:
    return tuple(Affine(0, ((counter, 1),)) for counter in counters)


def _nest(name: str, loops: tuple[Loop, ...], target: Access, sizes: SizeType, least: int) -> Nest:
    body = (Statement(target, (), None, False, len(loops)),)
    return Nest(name, loops, body, "", target, True, sizes, True, least)


APART = _nest(
    "apart", (Loop("i", "int", ZERO, Affine(0, (("n", 1),)), False, 1),), Access("A", (ZERO, *_own("i"))), "int", 0
)

# rare in a small batch: pointers that may overlap, an unsigned bound that may wrap, and rows that meet exactly where a
# closed bound is reached
RARE = (
    replace(
        APART, restrict=False, statements=(replace(APART.statements[0], sources=(Access("B", (ZERO, *_own("i"))),)),)
    ),
    _nest(
        "ends", (Loop("i", "unsigned", ZERO, Affine(-1, (("n", 1),)), True, 1),), Access("X", _own("i")), "unsigned", 1
    ),
    _nest(
        "meets",
        (
            Loop("i", "int", ZERO, Affine(0, (("n", 1),)), False, 1),
            Loop("j", "int", ZERO, Affine(0, (("m", 1),)), True, 1),
        ),
        Access("A", _own("i", "j")),
        "int",
        0,
    ),
)


@pytest.fixture(scope="module")
def batch() -> list[Nest]:
    return [*RARE, *next(gather(40, 40))]


def surveyed(batch: list[Nest], directory: Path) -> Mix:
    mix = Mix()
    program, _ = load(batch, directory)
    judge(batch, analyze(program, PolyOptions()), directory, mix)
    return mix


@pytest.mark.slow
def test_verdicts_without_a_bug(batch: list[Nest], tmp_path: Path) -> None:
    mix = surveyed(batch, tmp_path)
    assert not mix.wrong, "\n\n".join(mix.wrong)


def parts(batch: list[Nest], size: int) -> Iterator[list[Nest]]:
    """Yield a batch in parts: most bugs show in the first."""
    for start in range(0, len(batch), size):
        yield batch[start : start + size]


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(4, STATIC))
def test_wrong_verdicts_are_seen(name: str, batch: list[Nest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    STATIC[name](monkeypatch)
    assert any(surveyed(part, tmp_path).wrong for part in parts(batch, 9))


def small(batch: list[Nest]) -> list[Nest]:
    """Return a few nests of one or two loops: quick to port, and of every kind."""
    flat = [nest for nest in batch if len(nest.loops) < 3]
    live = [nest for nest in batch if nest.scalar == "last temporary" and len(nest.loops) == 1]
    return [*flat[:14], *(nest for nest in live[:2] if nest not in flat[:14])]


def status(nests: list[Nest], directory: Path, transfers: TransferScheme = "optimized") -> str:
    verification = port_nests(nests, directory, transfers=transfers).verification
    if verification is None:
        return "nothing is ported"
    return "pass" if is_accepted(verification) else verification.status


@pytest.mark.slow
def test_ports_without_a_bug(batch: list[Nest], tmp_path: Path) -> None:
    assert status(small(batch), tmp_path) == "pass"


@pytest.mark.slow
@pytest.mark.parametrize("name", DYNAMIC)
def test_wrong_ports_are_seen(name: str, batch: list[Nest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    DYNAMIC[name](monkeypatch)
    # data that a hold keeps are not copied, and what is not written stays as it was
    scheme: TransferScheme = "mixed" if "cop" in name or "covered" in name else "optimized"
    assert any(status(part, tmp_path, scheme) == "fail" for part in parts(small(batch), 5))
