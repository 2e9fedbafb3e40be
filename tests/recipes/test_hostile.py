"""Whatever a recipe's bytes are: it is replayed, or findings point into it; never a traceback, nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.recipes.cases import TWO, prepared
from warpsmith.base.errors import RefusedError, UsageError
from warpsmith.base.source import SourceFile
from warpsmith.loops.prepared import Prepared
from warpsmith.recipes.reading import recipe_of
from warpsmith.recipes.replay import apply_steps

GOOD = """# a recipe
recipe = 1
inputs = ["heat.c"]
assume = ["n >= 1"]

[[step]]
name = "interchange"
loop = "f/i"

[[step]]
name = "unroll"
loop = "f/j/i"
factor = 2

[[step]]
name = "map"
loop = "f/j"
axes = ["x"]
block = [64]
"""
_WORDS = """[ ] [[step]] = " ' \""" # \\ { } , . name loop f/i -1 1e400 0x 99999999999999999999 true map tile f/j#2
    0.c:3 é 1979-05-27 recipe 22222"""
_PIECES = st.sampled_from([*_WORDS.split(), "\n", "\r", "\t", "\0", "\xff"])


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A good recipe with up to six pieces cut out, doubled, moved or put in."""
    text = GOOD
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        middle = draw(st.one_of(st.just(""), _PIECES, st.text(max_size=5), st.just(text[start:end] * 2)))
        text = text[:start] + middle + text[end:]
    return text.encode("utf-8", "replace") if draw(st.booleans()) else text.encode("latin-1", "replace")


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return prepared(tmp_path_factory.mktemp("hostile"), TWO)


def replayed(data: bytes, start: Prepared) -> None:
    file = SourceFile("r.toml", data.decode("latin-1"))
    try:
        apply_steps(start, recipe_of(file).steps)
    except (UsageError, RefusedError) as error:
        assert error.findings
        for finding in error.findings:
            assert finding.span is not None
            assert finding.span.file is file
            assert 0 <= finding.span.start <= finding.span.end <= len(file.text)
        assert len(str(error)) < 60_000


def test_the_recipe_itself_is_replayed(start: Prepared) -> None:
    assert len(apply_steps(start, recipe_of(SourceFile("r.toml", GOOD)).steps).applied) == 3


@given(mutated())
@settings(max_examples=100, deadline=None)
def test_mutated_recipes(start: Prepared, data: bytes) -> None:
    replayed(data, start)


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_binary_garbage(start: Prepared, data: bytes) -> None:
    replayed(data, start)
    replayed(b"recipe = 1\n" + data, start)
    replayed(GOOD.encode() + data, start)


def test_cut_off_anywhere(start: Prepared, tmp_path: Path) -> None:
    for end in range(0, len(GOOD), 3):
        replayed(GOOD[:end].encode(), start)
    assert not list(tmp_path.iterdir())
