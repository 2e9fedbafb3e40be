"""A local accumulator: for which objects behind pointers, and what it rests on."""

from __future__ import annotations

import pytest

from tests.loops.remedies.proposals import edited
from warpsmith.loops.remedies.accumulator import local_accumulators

HEAD = """#include <string.h>
struct s { double sum, most; int few : 3; union { int a; float b; } u; int at; double all[4];
           struct { double sum; struct { long m[2]; } in[3]; } part; double *away; } whole;
double g(double *x);
void f(int n, int m, struct s *restrict s, double *restrict a, double *o, int *restrict k, double **p,
       volatile double *v)
{
"""
UP = "for (int i = 0; i < n; i++) "


def made(loop: str) -> list[tuple[tuple[str, ...], str]]:
    found = edited(local_accumulators, f"{HEAD}    {loop}\n}}\n")
    return [(one.requires, " ".join(text.partition("{\n    ")[2].split())) for one, text in found]


def test_every_mention_becomes_the_variable() -> None:
    ((requires, text),) = made(UP + "{ s->sum += a[i]; s->sum *= 2; a[i] = s->sum; }")
    assert text.startswith("double s_sum = s->sum; for (int i = 0; i < n; i++) { s_sum += a[i]; s_sum *= 2;")
    assert "a[i] = s_sum; } s->sum = s_sum;" in text
    assert requires == ("s points to an object even where the loop runs no iteration",)


@pytest.mark.parametrize(
    ("loop", "declared"),
    [
        ("o[2] += a[i];", "double o_value = o[2];"),
        ("*o += a[i];", "double o_value = *o;"),
        ("k[n]++;", "int k_value = k[n];"),
        ("{ s->sum += a[i]; s->most -= a[i]; }", "double s_sum = s->sum; double s_most = s->most;"),
        ("{ o[1] += a[i]; o[2] += a[i]; }", "double o_value = o[1]; double o_value"),
        ("s->part.sum += a[i];", "double s_sum = s->part.sum;"),
        ("s->part.in[2].m[1]++;", "long s_value = s->part.in[2].m[1];"),
        ("s[n].part.sum -= a[i];", "double s_sum = s[n].part.sum;"),
        ("whole.part.sum += a[i];", "double whole_sum = whole.part.sum;"),
        ("s->all[s->at] += a[i];", "double s_value = s->all[s->at];"),
        ("s->away[2] += a[i];", "double s_value = s->away[2];"),
    ],
)
def test_objects_at_fixed_addresses(loop: str, declared: str) -> None:
    ((_, text),) = made(UP + loop)
    assert declared in text, text


@pytest.mark.parametrize(
    "loop",
    [
        UP + "a[i] += 2;",
        "int t = 0; " + UP + "t += i;",
        UP + "{ m = k[i]; a[m] += 1; }",
        UP + "s->few += 1;",
        UP + "s->u.a += 1;",
        UP + "p[0][1] += a[i];",
        UP + "{ s->part.sum += a[i]; s++; }",
        # it is read as a part of something
        UP + "{ s->part.sum += a[i]; struct s t = *s; a[i] = t.part.sum; }",
        UP + "{ whole.part.sum += a[i]; struct s t = whole; a[i] = t.part.sum; }",
        UP + "{ s->all[1] += a[i]; double t[4]; memcpy(t, s->all, sizeof t); a[i] = t[1]; }",
        UP + "{ s->all[1] += a[i]; double t[4]; memcpy(t, &s->sum, sizeof t); a[i] = t[1]; }",
        UP + "v[0] += a[i];",
        UP + "s->sum += g(a);",
        "if (n > 3) " + UP + "s->sum += a[i];",
        "\n#pragma omp parallel for\n" + UP + "s->sum += a[i];",
    ],
)
def test_nothing_where_the_object_may_be_another_or_the_loop_shared_out(loop: str) -> None:
    assert not made(loop)


@pytest.mark.parametrize(
    ("loop", "kept"),
    [
        (UP + "{ s->all[s->at] += a[i]; s->at++; }", "s->at"),
        (UP + "{ o[k[0]] += a[i]; k[0]++; }", "k[0]"),
        (UP + "{ s->away[0] += a[i]; s->away = o; s->sum += 1; }", "s->sum"),
    ],
)
def test_an_object_moves_where_the_loop_changes_what_leads_to_it(loop: str, kept: str) -> None:
    ((one, _),) = edited(local_accumulators, f"{HEAD}    {loop}\n}}\n")
    assert one.title == f"a local accumulator for {kept}"


def test_other_names_that_may_reach_the_object_are_said() -> None:
    ((requires, _),) = made(UP + "{ s->sum += o[i]; s->sum += s->most; }")
    assert not [r for r in requires if "access" in r], "restrict keeps it apart"
    ((requires, _),) = made(UP + "{ s->part.sum += s->part.in[1].m[i] + s->all[i]; }")
    assert not [r for r in requires if "access" in r], "another member of the same object"
    ((requires, _),) = made(UP + "{ o[0] += whole.all[i]; }")
    assert requires[0] == "no other access through whole reaches o[0]"
    ((requires, _),) = made(UP + "{ o[0] += v[i] + o[i]; }")
    assert requires[:2] == ("no other access through v reaches o[0]", "no other access through o reaches o[0]")
