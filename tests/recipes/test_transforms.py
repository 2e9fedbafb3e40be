"""Steps as options: what is meant, and what is told where nothing sensible can be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpsmith.base.errors import UsageError
from warpsmith.catalogue import STEPS, Step, make, parameters
from warpsmith.loops.step import step_text
from warpsmith.recipes.transforms import transforms

MAP = make("map", {"loop": "f/i", "axes": ["y", "x"], "block": [32, 8]})


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("keep=f/i", make("keep", {"loop": "f/i"})),
        ("keep=loop=f/i", make("keep", {"loop": "f/i"})),
        (" keep = f/i#2 ", make("keep", {"loop": "f/i#2"})),
        ("keep=heat.c:12", make("keep", {"loop": "heat.c:12"})),
        ("keep=größe/i", make("keep", {"loop": "größe/i".encode().decode("latin-1")})),
        ("map=f/i,axes=y,x,block=32,8", MAP),
        ("map=f/i,axes=y:x,block=32:8", MAP),
        ("map=f/i, axes = y, x, block=32, 8", MAP),
        ("map=axes=y:x,block=32:8,loop=f/i", MAP),
        ("split=f/i,at=max(n, 3),single=true", make("split", {"loop": "f/i", "at": "max(n, 3)", "single": True})),
        ("split=f/i,at=g(n, single=0)", make("split", {"loop": "f/i", "at": "g(n, single=0)"})),
        ("split=f/i,at=n == 3", make("split", {"loop": "f/i", "at": "n == 3"})),
    ],
)
def test_what_an_option_means(text: str, step: Step) -> None:
    (listed,) = transforms((text,))
    assert listed.step == step
    assert listed.span is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no step is called ''"),
        ("keep", "names no loop"),
        ("keep=", "names no loop"),
        ("keeep=f/i", "did you mean keep"),
        ("keep=f/i,lop=3", "keep has no parameter 'lop'"),
        ("map=f/i", "map needs axes"),
        ("map=f/i,axes=x,block=big", "block is a list of whole numbers, not the text 'big'"),
        ("map=f/i,axes=x,axes=y", "gives axes twice"),
        ("map=f/i,axes=x,block=" + "9" * 29, "more than 64 bits"),
        ("map=f/i,axes=x,block=" + "9" * 5000, "a list of whole numbers"),
    ],
)
def test_what_makes_no_sense_is_told(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        transforms((text,))
    assert words in str(caught.value)
    assert "--transform" in str(caught.value)


@given(st.data())
def test_the_short_text_of_a_step_means_that_step(data: st.DataObject) -> None:
    word = st.from_regex(r"[a-z][a-z0-9_/]{0,8}", fullmatch=True)
    number = st.integers(-(2**63) + 1, 2**63 - 1)
    kinds: dict[str, st.SearchStrategy[object]] = {
        "text": word,
        "number": number,
        "flag": st.booleans(),
        "texts": st.lists(word, min_size=1),
        "numbers": st.lists(number, min_size=1),
    }
    cls = data.draw(st.sampled_from(STEPS))
    given_ = {p.name: data.draw(st.sampled_from(p.choices) if p.choices else kinds[p.kind]) for p in parameters(cls)}
    step = make(cls.name, given_)
    (listed,) = transforms((step_text(step),))
    assert listed.step == step


@given(st.text(max_size=60))
def test_no_text_is_anything_but_a_step_or_an_error(text: str) -> None:
    for one in (text, f"map={text}", f"map=f/i,{text}"):
        try:
            assert len(transforms((one,))) == 1
        except UsageError as error:
            assert error.findings[0].rule == "STP004"
