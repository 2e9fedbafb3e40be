"""Programs of IL as graphs."""

from __future__ import annotations

import pytest

from tests.front.il.listings import PLAIN
from tests.front.il.running import parse
from tests.front.il.test_read import HEAD
from warpsmith.base.errors import RefusedError
from warpsmith.targets.r600.arithmetic import R600
from warpsmith.targets.r600.expand import expand
from warpsmith.targets.r600.operations import Fetched, NumberWord, PlaceWord, SlotGraph, Values


def graph(text: str) -> SlotGraph:
    return expand(parse(text), R600(Values(), "r600", "one-sided"))


def test_components_that_nobody_needs_are_gone() -> None:
    made = graph(PLAIN)
    assert (len(made.operations), len(made.fetches), len(made.exports)) == (17, 2, 1)
    assert made.exports[0].values[1:] == (None, None, None)


def test_copies_are_no_operations_and_a_fetch_is_made_once() -> None:
    resource = "dcl_resource_id(0)_type(1d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"
    fetch = "sample_resource(0)_sampler(0) {}, v0.x\n"
    fetches = fetch.format("r0") + fetch.format("r1")
    made = graph(f"{HEAD}{resource}{fetches}mov r2, r0\nmov o0.xy0_, r2.x\nendmain\nend\n")
    assert (made.operations, len(made.fetches)) == ((), 1)
    x, y, z, w = made.exports[0].values
    assert isinstance(x, Fetched) and x is y and (z, w) == (NumberWord(0), None)


def test_what_was_never_written_is_zero() -> None:
    made = graph(HEAD + "mov o0.xy__, r0\nmov o0.x___, v0.y\nendmain\nend\n")
    assert made.exports[0].values == (PlaceWord("y"), NumberWord(0), None, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "if_logicalnz v0.x\nendif\nendmain\nend\n", "if_logicalnz is not counted"),
        (HEAD + "dcl_cb cb0[4]\nmov o0, cb0[r0.x]\nendmain\nend\n", "an index that is computed is not counted"),
        ("il_cs_2_0\ndcl_num_thread_per_group 4\nmov g[0], r0\nendmain\nend\n", "a write to g is not counted"),
    ],
)
def test_what_is_refused_has_its_line(text: str, message: str) -> None:
    with pytest.raises(RefusedError) as caught:
        graph(text)
    assert message in caught.value.findings[0].message and caught.value.findings[0].span
