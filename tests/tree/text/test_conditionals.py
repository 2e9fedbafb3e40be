"""Which conditionals are open somewhere."""

from __future__ import annotations

import pytest

from tests.tree.text.test_places import _BLANKS
from warpsmith.tree.text.conditionals import open_conditionals


@pytest.mark.parametrize("splice", _BLANKS)
def test_a_condition_is_shown_on_one_line(splice: str) -> None:
    text = f"#if A && {splice} B\nx"
    assert [c.text for c in open_conditionals(text, len(text))] == ["'#if A && B'"]


NESTED = """#ifdef A
#if B > 2
#elif defined(C)
#else
one
#endif
two
#endif
three
#endif
"""


def test_branches_are_those_so_far() -> None:
    one, two, three = (open_conditionals(NESTED, NESTED.index(word)) for word in ("one", "two", "three"))
    assert [c.lines for c in one] == [("#ifdef A",), ("#if B > 2", "#elif defined(C)", "#else")]
    assert [c.text for c in one] == ["'#ifdef A'", "'#else' of '#if B > 2'"]
    assert one[1].names == {"B", "C"} and one[1].start == NESTED.index("#if B")
    assert [c.text for c in two] == ["'#ifdef A'"] and three == []
    assert open_conditionals("#else\n#endif\n#if X\n", 13) == []
