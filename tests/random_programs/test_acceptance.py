"""A random program is accepted only where the referee would have seen a wrong kernel, or where no kernel wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.random_programs.acceptance import is_accepted
from tests.sampling import one_in
from warpsmith.flows.port import PortOptions, port
from warpsmith.run.verification import Verification

_PROGRAM = """
#include <math.h>
#include <stdio.h>
static double a[40], b[40];
int main(void)
{
    for (int i = 0; i < 40; i++)
        a[i] = sin(i + 1) FIRST;
    for (int i = 0; i < 40; i++)
        if (a[i] TEST)
            b[i] = a[i] * 2;
    printf("%d\\n", b[7] == b[7]);
    return 0;
}
"""


def judged(folder: Path, first: str, test: str) -> Verification:
    path = folder / "given.c"
    path.write_text(_PROGRAM.replace("FIRST", first).replace("TEST", test))
    result = port([str(path)], PortOptions())
    assert result.plan is not None and result.plan.fragments and result.verification is not None
    return result.verification


@pytest.mark.parametrize(
    ("first", "test", "rules", "accepted"),
    one_in(
        3,
        [
            ("", "< 0", set[str](), True),
            # no kernel writes b
            ("", "> 9", {"VER035"}, True),
            # the kernels write, but NaN stays NaN, whatever they do with it
            ("* NAN", "!= 0", {"VER029"}, False),
        ],
    ),
)
def test_what_is_accepted(tmp_path: Path, first: str, test: str, rules: set[str], accepted: bool) -> None:
    verification = judged(tmp_path, first, test)
    assert {reason.rule for reason in verification.reasons} == rules
    assert is_accepted(verification) == accepted
