"""The original that a port is compared with says all that the user's text says, dead arms as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.front.c.counted import dead
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Verbatim
from warpsmith.tree.printing.dead import with_dead_text
from warpsmith.tree.walk import has_dead, walk

TEXT = """
#include <stdio.h>
#define LEVEL 1
static double a[200];
int main(int argc, char **argv)
{
    if (argc > 0)
        for (int i = 0; i < 200; i++) {
            a[i] = 2.0 * i;
            if (LEVEL == 1)
                a[i] = 77;
            if (LEVEL > 1)
                a[i] = 78;
        }
    printf("%g\\n", a[5]);
    return 0;
}
"""


def ported(folder: Path) -> PortResult:
    path = folder / "a.c"
    path.write_text(TEXT)
    return port([str(path)], PortOptions())


def test_dead_arms_become_text(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(TEXT)
    program = load_program([str(path)], FrontOptions()).program
    written = with_dead_text(program, program)
    (before,), (after,) = (tuple(f for _, f in one.functions()) for one in (program, written))
    assert has_dead(before.body) and not has_dead(after.body)
    assert [part.text for part in walk(after.body) if isinstance(part, Verbatim)] == [
        "if (LEVEL > 1)\n                a[i] = 78;"
    ]


@pytest.mark.slow
def test_an_arm_that_is_wrongly_taken_for_dead_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = ported(tmp_path)
    assert right.verification is not None and right.verification.status == "pass"
    monkeypatch.setattr(dead, "truth", lambda condition: False if "LEVEL == 1" in condition.span.text else None)
    wrong = ported(tmp_path)
    assert wrong.verification is not None and wrong.verification.status == "fail"
