"""A construct that asks for thread numbers, ported and compared with the original on full teams."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.teams.constructs import READ, program
from warpsmith.flows.port import PortOptions, port
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.facts import PolyOptions
from warpsmith.run.verification import VerifyOptions
from warpsmith.tree.program import Assumption

_MAIN = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int teams = atoi(argv[1]), n = teams * B;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    for (int k = 0; k < n; k++) {
        a[k] = k % 5;
        b[k] = (k * 7) % 11;
    }
    work(teams, n, a, b);
    double sum = 0;
    for (int k = 0; k < n; k++) sum += a[k] * (k % 3 + 1) + b[k];
    printf("%.12g\\n", sum);
    free(a);
    free(b);
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("title", ["no barrier", "turned in a team", "a thread's own variable on both sides", "halves"])
def test_the_port_does_what_full_teams_do(title: str, tmp_path: Path) -> None:
    file = tmp_path / "teams.c"
    file.write_text(program(READ[title]) + _MAIN)
    poly = PolyOptions(granted=(Assumption("full_teams(work)", "granted"),))
    offload = OffloadOptions()
    found = port([str(file)], PortOptions(poly=poly, offload=offload, run=VerifyOptions(run_args=("5",))))
    assert found.verification is not None and found.verification.status == "pass", found.verification
    assert found.plan is not None
    assert any("work" in fragment.function.symbol.name for fragment in found.plan.fragments)


@pytest.mark.slow
def test_without_the_users_word_the_construct_stays(tmp_path: Path) -> None:
    file = tmp_path / "teams.c"
    file.write_text(program(READ["turned in a team"]) + _MAIN)
    found = port([str(file)], PortOptions(verify=False))
    assert found.plan is not None
    assert not any("work" in fragment.function.symbol.name for fragment in found.plan.fragments)
    assert [f.rule for f in found.diagnostics] == ["CLM006"]
