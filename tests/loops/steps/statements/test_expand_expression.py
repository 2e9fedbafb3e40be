"""Three-address statements compute what the expression did, in the same types."""

from __future__ import annotations

from pathlib import Path

from tests.loops.steps.same_results import assert_same, rewritten, verdict_of
from warpsmith.base.verdict import Unknown
from warpsmith.loops.steps.statements.expand_expression import ExpandExpression

_HEAD = "double f(int n, int m, double *a, double *b, int *c) { float x = 0.3f; unsigned u = 3; int i; double t1 = 4; "
_STEP = ExpandExpression("f/i")
CASES = [
    "for (i = 0; i < n; i++) a[i] = (a[i] + b[i]) * (x + c[i] / 2) - t1; return t1; }",
    "for (i = 0; i < n; i++) { a[i] += x * x * b[i] + 1; "
    "if (c[i] > 3) b[i] = c[i] * 2 % 5 - u; else b[i] = -(x + u); } return x; }",
    "for (i = 0; i < n; i++) { b[i] = b[i] * 2 + (c[i] && 6 / c[i] > 2 ? 8 / c[i] + 2 * i : i * 3); } return x; }",
    "for (i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i] -= (unsigned char)(c[j] * 99 + 3) * (1 + 2); return x; }",
    "for (i = 0; i < n; i++) { switch (i & 1) { case 0: a[i] = b[i] * 2 + 1; break; default: a[i] = 2 - b[i] * 3; } } "
    "return 1; }",
]


def test_results_stay_the_same(tmp_path: Path) -> None:
    split = [text for text in CASES if "switch" not in text]
    assert_same([(_HEAD + text, rewritten(_HEAD + text, _STEP)) for text in split], tmp_path)


def test_what_has_effects_or_conditions_stays() -> None:
    after = rewritten(_HEAD + CASES[0], _STEP)
    assert "double t1_2 = a[i] + b[i];" in after
    assert "6 / c[i] > 2 ? 8 / c[i]" in rewritten(_HEAD + CASES[2], _STEP)


_HELPER = (
    "\n#include <math.h>\nstatic double helper_g = 1, *helper_reached; static double helper(double x) "
    "{ helper_g += x; if (helper_reached) *helper_reached += 2; return helper_g; } "
)
BESIDE_CALLS = [
    # what the call may change stays: a global, and what a pointer reaches
    "for (i = 0; i < n; i++) a[i] = helper(b[i]) * (i * 2 + m) + (helper_g * 3 + c[i]); return 0; }",
    "double s = 1; helper_reached = &s; for (i = 0; i < n; i++) a[i] = helper(s) - (s * 2 + 1) * (i + 1); "
    "helper_reached = 0; return s; }",
    "for (i = 0; i < n; i++) a[i] += helper(i * 2 + 1) + helper(a[i]) * (x * x + t1); return 0; }",
    "for (i = 0; i < n; i++) b[i] = fabs(a[i] * 2) * b[i] + a[i] / 2; return b[0]; }",
]


def test_effects_of_calls_keep_their_order(tmp_path: Path) -> None:
    pairs = [(_HELPER + _HEAD + text, rewritten(_HELPER + _HEAD + text, _STEP)) for text in BESIDE_CALLS]
    split = [after for _, after in pairs]
    assert "int t1_2 = i * 2;" in split[0]
    assert "int t2 = t1_2 + m;" in split[0]
    assert "helper(b[i]) * t2 + (helper_g * 3 + c[i])" in split[0]
    assert "(s * 2 + 1) * t1_2;" in split[1]
    assert "helper(i * 2 + 1) + helper(a[i]) * t2" in split[2]
    assert "= fabs(a[i] * 2) * b[i];" in split[3]
    assert_same(pairs, tmp_path)


def test_beside_a_function_that_changes_nothing_all_is_split(tmp_path: Path) -> None:
    calm = _HELPER + "static double helper_of(const double *p, int i) { return p[i] * helper_g; } "
    text = calm + _HEAD + "for (i = 0; i < n; i++) a[i] = a[i] * b[i] + helper_of(b, i) * (helper_g * 3); return 0; }"
    after = rewritten(text, _STEP)
    assert "double t1_2 = a[i] * b[i];" in after
    assert "double t2 = helper_g * 3;" in after
    assert_same([(text, after)], tmp_path)


def test_nothing_to_split() -> None:
    for text in (CASES[4], "for (i = 0; i < n; i++) a[i] = b[i] + 1; return 0; }"):
        assert isinstance(verdict_of(_HEAD + text, _STEP), Unknown)
