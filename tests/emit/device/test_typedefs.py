"""Typedefs of a tag's own name."""

from __future__ import annotations

import pytest

from warpsmith.emit.device.typedefs import drop_own_names


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("typedef struct p { double x; } p", "struct p { double x; }"),
        (
            "typedef struct p {\n  struct { int k; } in; } p, *q",
            "struct p {\n  struct { int k; } in; }; typedef struct p *q",
        ),
        ("typedef struct p p", "struct p"),
        ("typedef enum e { A, B } e", "enum e { A, B }"),
        ("typedef struct p { double x; } other", None),
        ("typedef struct { double x; } p", None),
        ("typedef struct p *p_t", None),
        ("typedef double p", None),
        ("struct p { double x; }", None),
    ],
)
def test_only_what_gives_a_tag_its_own_name_is_dropped(given: str, expected: str | None) -> None:
    assert drop_own_names(given) == (given if expected is None else expected)
