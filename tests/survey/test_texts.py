"""Tables of functions as one line each: what is read back is what was written."""

from __future__ import annotations

import pytest

from warpsmith.survey.texts import compact, fingerprint, join_texts, plain_of, split_texts
from warpsmith.tree.plain import Plain


@pytest.mark.parametrize("table", [{}, {"f": '["f",[1,null]]'}, {"f": "[]", "a\tb\n": compact(["x\ty\n"]), "g": "{}"}])
def test_a_table_is_one_line(table: dict[str, str]) -> None:
    line = join_texts(table)
    assert "\n" not in line and split_texts(line) == table
    assert list(split_texts(line)) == list(table), "in its order"


@pytest.mark.parametrize("line", ["", "x", '{"f":1}\t[]', '["f"]', '["f"]\t[]\t[]', '["f","g"]\t[]'])
def test_what_is_no_table_is_refused(line: str) -> None:
    with pytest.raises(ValueError):
        split_texts(line)


def test_compact_texts_have_neither_tabs_nor_blanks() -> None:
    plain: Plain = ["a\tb", {"k": [1, None, True]}]
    text = compact(plain)
    assert "\t" not in text and " " not in text and plain_of(text) == plain


def test_fingerprints_are_those_of_the_data() -> None:
    assert fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": [2], "a": 1})
    assert len({fingerprint(x) for x in ([1], [2], ["1"], [1, None], {"a": 1})}) == 5
    assert len(fingerprint([])) == 32
