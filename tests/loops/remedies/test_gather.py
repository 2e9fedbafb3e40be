"""The gather form: the pairs of one range, updates of both elements, and nothing else that outlives a pair."""

from __future__ import annotations

import pytest

from tests.loops.remedies.proposals import edited
from warpsmith.loops.remedies.gather import gather_forms

HEAD = """#include <math.h>
double g(double x);
struct body { double x, f; };
void f(int n, int m, double *restrict x, double *restrict f, double *o, struct body *restrict b)
{
"""


def made(body: str, outer: str = "int i = 0; i < n; i++", inner: str = "int j = i + 1; j < n; j++") -> list[str]:
    text = f"{HEAD}    for ({outer})\n        for ({inner}) {{\n            {body}\n        }}\n}}\n"
    return [" ".join(text.partition("*restrict b)\n")[2].split()) for _, text in edited(gather_forms, text)]


def test_every_pair_is_worked_out_from_both_sides() -> None:
    (text,) = made("double d = x[i] - x[j];\n            f[i] += d;\n            f[j] -= d;")
    assert text == (
        "{ for (int i = 0; i < n; i++) { "
        "for (int j = 0; j < i; j++) { double d = x[j] - x[i]; f[i] -= d; } "
        "for (int j = i + 1; j < n; j++) { double d = x[i] - x[j]; f[i] += d; } } }"
    )


@pytest.mark.parametrize(
    ("body", "outer", "said"),
    [
        ("f[i] += sqrt(x[j]);\n f[j] *= x[i];", "int i = 0; i < n - 1; i++", "for (int i = 0; i < n; i++)"),
        ("f[i] += x[j];\n f[j] *= x[i];", "int i = m; i < n; i++", "for (int j = m; j < i; j++)"),
        ("b[i].f += b[j].x;\n b[j].f -= b[i].x;", "int i = 0; i < n; i++", "b[i].f -= b[j].x;"),
        ("f[i] = f[i] + x[j];\n f[j] = f[j] - x[i];", "int i = 0; i < n; i++", "f[i] = f[i] - x[j];"),
        ("f[i] = f[i] * 2 + x[j];\n f[j] = x[i] - f[j] * f[j];", "int i = 0; i < n; i++", "f[i] = x[j] - f[i] * f[i];"),
    ],
)
def test_updates_of_the_own_element(body: str, outer: str, said: str) -> None:
    (text,) = made(body, outer)
    assert said in text, text


PAIR = "f[i] += x[j];\n f[j] -= x[i];"


@pytest.mark.parametrize(
    ("rest", "loops"),
    [
        # the first loop goes through the pairs once more, so it has neither a sum nor what only a sum needs
        ("m += 1;", "{ f[i] -= x[j]; } for (int j = i + 1; j < n; j++) { f[i] += x[j]; m += 1; }"),
        ("b->f += x[i];", "{ f[i] -= x[j]; } for (int j = i + 1; j < n; j++) { f[i] += x[j]; b->f += x[i]; }"),
        (
            "double d = x[i];\n double e = d * 2;\n o[0] += e;",
            "{ f[i] -= x[j]; } for (int j = i + 1; j < n; j++) { f[i] += x[j]; double d = x[i]; "
            "double e = d * 2; o[0] += e; }",
        ),
        (
            "if (x[i] > o[1])\n o[1] = x[i];",
            "{ f[i] -= x[j]; } for (int j = i + 1; j < n; j++) { f[i] += x[j]; if (x[i] > o[1]) o[1] = x[i]; }",
        ),
    ],
)
def test_what_all_pairs_share_is_updated_once_a_pair(rest: str, loops: str) -> None:
    (text,) = made(f"f[i] += x[j];\n f[j] -= x[i];\n {rest}")
    assert text == f"{{ for (int i = 0; i < n; i++) {{ for (int j = 0; j < i; j++) {loops} }} }}"


def test_names_that_may_reach_the_same_memory_are_said() -> None:
    text = f"{HEAD}for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) {{ {PAIR} *o += q[i]; }}\n}}\n"
    ((one, _),) = edited(gather_forms, text.replace("double *o", "double *o, double *q"))
    assert one.requires == ("o and q do not overlap",)
    assert one.title.endswith("every pair is worked out twice, *o only once for each")


OTHERS = [
    # one of the two is not updated, or something else is written
    ("f[i] += x[j];", {}),
    ("f[j] += x[i];", {}),
    (PAIR + " o[0] = o[1] = x[i];", {}),
    (PAIR + " o++;", {}),
    (PAIR + " g(x[i]);", {}),
    # what all pairs share is used by their updates, or may be one of the elements
    (PAIR + " m += 1; f[i] += m;", {}),
    (PAIR + " if (m < 9) f[i] += 1; m += 1;", {}),
    (PAIR + " if (m < 9) { double d = m; m += d; }", {}),
    (PAIR + " b->f += x[i]; f[i] += b[j].f;", {}),
    (PAIR + " f[m] += 1;", {}),
    (PAIR + " o[0] += f[m];", {}),
    # what is updated is read elsewhere
    ("f[i] += f[j];\n f[j] -= x[i];", {}),
    ("b[i].f += b[j].f;\n b[j].f -= b[i].x;", {}),
    # another value than the own one is changed
    ("f[i] = x[i] + x[j];\n f[j] -= x[i];", {}),
    ("f[i + 1] += x[j];\n f[j] -= x[i];", {}),
    (PAIR + " if (x[i] > 3) break;", {}),
    (PAIR.replace("x[j]", "g(x[j])"), {}),
    # not the pairs of one range
    (PAIR, {"inner": "int j = i; j < n; j++"}),
    (PAIR, {"inner": "int j = i + 2; j < n; j++"}),
    (PAIR, {"inner": "int j = i + 1; j < m; j++"}),
    (PAIR, {"inner": "int j = i + 1; j <= n; j++"}),
    (PAIR, {"outer": "int i = 0; i < n; i += 2"}),
    (PAIR, {"outer": "int i = 0; i < n - 2; i++"}),
]


@pytest.mark.parametrize(("body", "header"), OTHERS)
def test_nothing_is_proposed_for_other_nests(body: str, header: dict[str, str]) -> None:
    assert not made(body, **header)
