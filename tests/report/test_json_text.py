"""JSON over lines, as the library writes it."""

from __future__ import annotations

import json

import pytest

from warpsmith.report.json_text import json_text


@pytest.mark.parametrize(
    "value",
    [None, True, False, 0, -3, 1.5, float("inf"), "a \"b\" \n é \x01", [], {}, [1, [2, []]], {"a": {"b": [None, True]}},
     {"": []}, [{"x": 1}, {"y": "z"}], 10**30],
)  # fmt: skip
def test_it_is_what_the_library_writes(value: object) -> None:
    assert json_text(value) == json.dumps(value, indent=1, ensure_ascii=False)


def test_tuples_are_lists_and_keys_are_texts() -> None:
    assert json_text((1, (2,))) == json_text([1, [2]])
    with pytest.raises(TypeError, match="keys of JSON are texts"):
        json_text({1: 2})
