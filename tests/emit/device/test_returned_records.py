"""Parts of records that calls return (`mul(a, b).r`): they are in no memory, and kernels have them."""

from __future__ import annotations

from pathlib import Path

from warpsmith.flows.port import PortOptions, port

PROGRAM = """
#include <stdio.h>
typedef struct { double r, i; } number;
typedef struct { double *at; int n; } row;
static number mul(number a, number b)
{
    number c = { a.r * b.r - a.i * b.i, a.r * b.i + a.i * b.r };
    return c;
}
static number a[90], b[90];
static double s[90], t[90];
static row part(int k) { row found = { s + k, 90 - k }; return found; }
static void products(void)
{
    for (int k = 0; k < 90; k++) {
        double x = 0;
        x += mul(a[k], b[k]).r;
        t[k] = x + mul(a[k], mul(a[k], b[k])).i;
    }
}
static void carried(void)
{
    for (int k = 1; k < 90; k++)
        part(k).at[0] = part(k - 1).at[0] * 0.5 + t[k];
}
int main(void)
{
    for (int k = 0; k < 90; k++) {
        a[k].r = k; a[k].i = 1; b[k].r = 2; b[k].i = -k;
    }
    products();
    carried();
    printf("%g %g %g %g\\n", t[3], t[89], s[3], s[89]);
    return 0;
}
"""


def test_a_part_of_a_returned_record_stands_in_no_ones_way(tmp_path: Path) -> None:
    path = tmp_path / "given.c"
    path.write_text(PROGRAM)
    result = port([str(path)], PortOptions())
    assert result.plan is not None and result.verification is not None
    assert result.verification.status == "pass"
    held = {loop for fragment in result.plan.fragments for loop in fragment.loops}
    assert "products/k" in held
    # what a pointer in one leads to is memory all the same
    (known,) = (f for facts in result.facts.functions for f in facts.loops if f.id == "carried/k")
    assert known.category != "parallel" and "carried/k" not in held
