"""Where things stand in a recipe: every table, key, value and item with its span; no more of TOML than recipes use."""

from __future__ import annotations

import re

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.base.source import SourceFile
from warpsmith.recipes.layout import LONGEST_LINE, RecipeTable, tables, values

TEXT = '''# a recipe
recipe = 1   # the format
assume = ["n >= 1",
          'm >= 2',  # two
]
[[step]]
name = "tile"
"sizes" = [32, 8]
loop = """f/i"""
[[ step ]]   # again
name = 'keep'
'''


def file(text: str) -> SourceFile:
    return SourceFile("r.toml", text)


def test_tables_keys_values_and_items_have_their_places() -> None:
    first, tile, keep = tables(file(TEXT))
    assert (first.name, first.header, first.array) == ("", None, False)
    assert (
        tile.array
        and tile.header is not None
        and (tile.name, tile.header.text, tile.header.line) == ("step", "[[step]]", 6)
    )
    assert keep.header is not None and keep.header.text == "[[ step ]]" and keep.name == "step"
    assert [(e.key, e.place.text, e.value.text) for e in tile.entries] == [
        ("name", "name", '"tile"'),
        ("sizes", '"sizes"', "[32, 8]"),
        ("loop", "loop", '"""f/i"""'),
    ]
    sizes = tile.entry("sizes")
    assert sizes is not None and [item.text for item in sizes.items] == ["32", "8"]
    assume = first.entry("assume")
    assert assume is not None and [(i.text, i.line) for i in assume.items] == [('"n >= 1"', 3), ("'m >= 2'", 4)]
    assert first.entry("name") is None and tables(file("")) == (RecipeTable("", None, False, ()),)


def test_values_are_those_of_tomllib() -> None:
    read = values(file(TEXT))
    assert read["assume"] == ["n >= 1", "m >= 2"] and read["step"] == [
        {"name": "tile", "sizes": [32, 8], "loop": "f/i"},
        {"name": "keep"},
    ]
    marked = file("\xef\xbb\xbfrecipe = 1\n")
    assert values(marked) == {"recipe": 1} and tables(marked)[0].entries[0].place.start == 3


@pytest.mark.parametrize(
    ("text", "rule", "line", "words"),
    [
        ("a = 1\na = 2\n", "RCP002", 2, "the key a stands twice"),
        ('a = 1\n"a" = 2\n', "RCP002", 2, "the key a stands twice"),
        ("a.b = 1\n", "RCP002", 1, "no dotted keys"),
        ("[a.b]\n", "RCP002", 1, "no dotted keys"),
        ("a = {}\n", "RCP002", 1, "no inline tables"),
        ("a = [1, [2]]\n", "RCP002", 1, "no lists in lists"),
        ("x = 1\na = [1 2]\n", "RCP001", 2, ""),
        ("a = \n", "RCP001", 1, ""),
        ("a 1\n", "RCP001", 1, ""),
        ("[a\nb = 1\n", "RCP001", 1, ""),
        ("a = 1 b = 2\n", "RCP001", 1, ""),
        ("a = 'x\n", "RCP001", 1, ""),
        ("= 1\n", "RCP001", 1, ""),
        ("ok = 1\n" + "a" * (LONGEST_LINE + 1), "RCP001", 2, f"at most {LONGEST_LINE}"),
    ],
)
def test_what_recipes_do_not_use_is_told_with_its_place(text: str, rule: str, line: int, words: str) -> None:
    with pytest.raises(UsageError) as told:
        tables(file(text))
    (finding,) = told.value.findings
    assert finding.rule == rule and finding.span is not None and finding.span.line == line
    assert re.search(re.escape(words), finding.message) and finding.help + finding.related


def test_the_same_key_in_two_tables_is_two_keys() -> None:
    assert len(tables(file("a = 1\n[[t]]\na = 1\n[[t]]\na = 2\n"))) == 3


def test_a_line_of_the_longest_length_is_read() -> None:
    line = "a = '" + "x" * (LONGEST_LINE - 6) + "'"
    assert len(line) == LONGEST_LINE and tables(file(line))[0].entries[0].key == "a"


def test_what_only_tomllib_refuses_has_its_line() -> None:
    with pytest.raises(UsageError) as told:
        values(file("a = 1\nb = 1_\n"))
    span = told.value.findings[0].span
    assert span is not None and span.line == 2
