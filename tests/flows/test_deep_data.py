"""Data behind pointers in other objects and other files, through the whole port."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.flows.port import PortOptions, port

MAIN = """
#include <stdio.h>
extern double u[60][40];
extern double *v;
extern double w[];
extern int rows;
void setup(void);
int main(void)
{
    setup();
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < 40; j++) {
            u[i][j] = i + j;
            v[i * 40 + j] = u[i][j] * 2;
        }
    for (int j = 0; j < 40; j++)
        w[j] = u[3][j];
    printf("%g %g\\n", v[77], w[7]);
    return 0;
}
"""
DATA = """
#include <stdlib.h>
double u[60][40], w[40];
double *v;
int rows = 60;
void setup(void)
{
    v = malloc(60 * 40 * sizeof(double));
}
"""


@pytest.mark.slow
def test_globals_of_another_file(tmp_path: Path) -> None:
    main, data = tmp_path / "main.c", tmp_path / "data.c"
    main.write_text(MAIN)
    data.write_text(DATA)
    result = port([str(main), str(data)], PortOptions())
    assert result.plan is not None and len(result.plan.fragments) == 2
    assert result.verification is not None and result.verification.status == "pass"


@pytest.mark.slow
@pytest.mark.parametrize("case", ["rows_behind_pointers", "soa_behind_pointer"])
def test_a_missing_copy_back_is_caught(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = Path(__file__).parent.parent / "cases" / f"{case}.c"
    result = port([str(source)], PortOptions(verify=False))
    kept: list[str] = []
    lost = 0
    for file in result.files:
        path = tmp_path / Path(file.path).name
        text, count = re.subn(rb"ws_move\([^;]*cudaMemcpyDeviceToHost[^;]*\);", b"(void)line;", file.data())
        path.write_bytes(text)
        lost += count
        kept += [str(path)] if path.suffix in (".c", ".cu") else []
    assert lost
    run_guarded(warpsmith, ["verify", str(source), "--json", "--", *kept])
    assert json.loads(capsys.readouterr().out)["verify"]["status"] == "fail"
