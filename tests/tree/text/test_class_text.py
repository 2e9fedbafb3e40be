"""The class template around a place in a file."""

from __future__ import annotations

import pytest

from warpsmith.tree.text.class_text import class_around

TEXT = """namespace n {
template <typename T, int N = (3 > 2)> class Field final : public Base<T> {
    using Value = T;
    struct Inner { void deep() {} };
    void fill(T s) { if (s) { s = 0; } }
};
template <typename T> void loose(T) {}
}
"""


def test_a_member_finds_its_class() -> None:
    found = class_around(TEXT, TEXT.index("void fill"))
    assert found is not None and (found.name, TEXT[found.start : found.start + 8]) == ("Field", "template")
    assert TEXT[: found.end].endswith("}\n};") and {"Value", "Inner"} <= found.declared


@pytest.mark.parametrize("place", ["void deep", "s = 0", "void loose", "namespace", "struct Inner { void"])
def test_what_is_no_member_finds_none(place: str) -> None:
    found = class_around(TEXT, TEXT.index(place))
    assert found is None or place.startswith("struct")


def test_a_class_with_a_variable_behind_it_is_none() -> None:
    text = TEXT.replace("}\n};", "}\n} field;")
    assert class_around(text, text.index("void fill")) is None
