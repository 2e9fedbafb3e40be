"""What host memory held when it died, where the port's run time brings the newest values back at that moment."""

from __future__ import annotations

import os
import subprocess
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from warpsmith.run.compare.left import read_left

PROGRAM = r"""
#include <stdlib.h>
#include <stdint.h>

void ws_left_arrives(const void *host);

static double *kept;

/* as a port's present table does where a block goes that it keeps on the device */
static void bring_back(const void *block)
{
    if (block != kept)
        return;
    for (int i = 0; i < 8; i++)
        kept[i] = i + 1;
    ws_left_arrives(block);
}

void ws_allocation_note(const void *block, size_t size) {}
void ws_allocation_forget(const void *block) { bring_back(block); }
void ws_allocation_moves(const void *block) { bring_back(block); }

int main(void)
{
    kept = malloc(8 * sizeof *kept);
    void *after = END;
    kept = 0;
    after = malloc(6 * sizeof *kept);
    return after == 0;
}
"""


@pytest.mark.parametrize("end", ["(free(kept), (void *)0)", "realloc(kept, 100)"])
def test_a_block_dies_with_the_values_that_come_back_then(end: str, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM.replace("END", end))
    runtime = [
        str(resources.files("warpsmith.run") / "capture" / f"ws_{n}.c") for n in ("heap", "left", "log", "variables")
    ]
    subprocess.run(["gcc", "-w", "-D_GNU_SOURCE", "p.c", *runtime, "-o", "p"], cwd=tmp_path, check=True)
    left = tmp_path / "left"
    subprocess.run(["./p"], cwd=tmp_path, env={**os.environ, "WS_LEFT": str(left), "WS_FILL": "125"}, check=True)
    assert read_left(left) == (np.arange(1.0, 9.0).tobytes(),)
