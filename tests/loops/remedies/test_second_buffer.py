"""A copy of what later iterations overwrite: for anti dependences alone."""

from __future__ import annotations

import pytest

from tests.loops.remedies.proposals import edited
from warpsmith.loops.remedies.second_buffer import second_buffers

HEAD = """#include <math.h>
double g(double x);
void f(int n, int m, double *restrict a, double *restrict b, double *o, double *q)
{
"""


def made(header: str, body: str) -> list[tuple[tuple[str, ...], str]]:
    found = edited(second_buffers, f"{HEAD}    for ({header})\n        {body}\n}}\n")
    return [(one.requires, text) for one, text in found]


UP = "int i = 0; i < n; i++"


def test_the_copy_is_made_before_and_freed_behind() -> None:
    ((requires, text),) = made(UP, "a[i] = a[i + 1] + b[i];")
    assert text.startswith("#include <stdlib.h>\n") and requires == ()
    body = " ".join(text.split())
    assert "double *a_before = malloc((size_t)(0 < n ? n : 0) * sizeof *a_before + 1); if (!a_before) abort();" in body
    assert "for (int i = 0; i < n; i++) a_before[i] = a[i + 1];" in body
    assert body.endswith("for (int i = 0; i < n; i++) a[i] = a_before[i] + b[i]; free(a_before); }")


@pytest.mark.parametrize(
    ("header", "body", "said"),
    [
        ("int i = m; i <= n; i++", "a[i] = a[2 + i];", ("m <= n ? n - m + 1 : 0", "a_before[i - m] = a[2 + i];")),
        (UP, "a[i] = a[i + 1] * a[i + 2];", ("a_before[i] = a[i + 1];", "a_before_2[i] = a[i + 2];")),
        (UP, "a[i - 1] = a[i] + a[i];", ("a[i - 1] = a_before[i] + a_before[i];",)),
        (UP, "{ b[i] = a[i + 1]; a[i] = 2; }", ("b[i] = a_before[i];",)),
        (UP, "a[i] = sqrt(a[i + 1]);", ("a[i] = sqrt(a_before[i]);",)),
    ],
)
def test_every_read_ahead_of_the_writes_moves(header: str, body: str, said: tuple[str, ...]) -> None:
    ((_, text),) = made(header, body)
    assert all(words in " ".join(text.split()) for words in said), text


@pytest.mark.parametrize(
    ("header", "body"),
    [
        # it reads what an earlier iteration wrote, as well
        (UP, "a[i] = a[i - 1] + a[i + 1];"),
        (UP, "a[i] = 2 * a[i];"),
        ("int i = 0; i < n; i += 2", "a[i] = a[i + 2];"),
        ("int i = n; i > 0; i--", "a[i] = a[i - 1];"),
        (UP, "if (b[i] > 0) a[i] = a[i + 1];"),
        (UP, "a[i] = b[i] > 0 ? a[i + 1] : 0;"),
        (UP, "a[i] = g(a[i + 1]);"),
        (UP, "{ if (b[i] > 0) break; a[i] = a[i + 1]; }"),
        (UP, "for (int j = 0; j < m; j++) a[i] = a[i + 1] + j;"),
        (UP, "a[i] = a[2 * i + 1];"),
    ],
)
def test_nothing_where_a_copy_could_change_results(header: str, body: str) -> None:
    assert not made(header, body)


def test_other_names_of_the_memory_are_said() -> None:
    found = made(UP, "{ o[i] = o[i + 1]; b[i] = 1; }")
    assert all(requires == () for requires, _ in found) and found
