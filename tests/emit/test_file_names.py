"""Names of files in generated text, however odd the user's are."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from warpsmith.emit.file_names import in_comment, kernel_stem


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("dir/heat.c", "heat"), ("heat.2d.c", "heat.2d"), ("-o.c", "_o"), ('a "b".c', "a _b_"), ("grüße.c", "grüße"),
        ("a\nb.c", "a_b"), ("$x(1)[2];&|`~^.c", "_x_1__2_______"), ("a'b<c>.c", "a_b_c_"), ("a#b:c!*?.c", "a_b_c___"),
    ],
)  # fmt: skip
def test_a_stem_is_what_include_and_a_shell_can_name(path: str, stem: str) -> None:
    assert kernel_stem(PurePath(path)) == stem


@pytest.mark.parametrize(
    ("name", "held"),
    [("a.c", "a.c"), ("a*/b.c", "a*_b.c"), ("two\nlines.c", "two_lines.c"), ("end\\", "end"), ("a**//b", "a**_/b")],
)
def test_a_comment_does_not_end_early(name: str, held: str) -> None:
    assert in_comment(name) == held
