"""The numbers that a statement of OpenCL C writes, in eight work items."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from tests.lower.opencl_programs import PRELUDE, kernel
from tests.lower.pocl import interpreted, lowered, standard
from warpsmith.ssa.verify import faults

FORMATS = {"oi": "i", "of": "f", "ou": "I", "ol": "q", "od": "d"}


def answers_cl(bodies: Iterable[str], folder: Path) -> dict[str, list[int | float]]:
    """Return for each statement what the first eight items write to the buffer that it names first (`oi[g]`, …)."""
    texts = [kernel(f"a{number}", f"{body};") for number, body in enumerate(bodies)]
    made = lowered("\n".join([PRELUDE, *texts, ""]), folder)
    assert [f"{f.span}: {f.message}" for f in made.findings] == []
    found: dict[str, list[int | float]] = {}
    for number, body in enumerate(bodies):
        function = made.module.function(f"a{number}")
        assert function is not None and faults(function) == ()
        label = body.split("[g]")[0][-2:]
        written = interpreted(made.module, standard(f"a{number}"))
        assert not isinstance(written, str), written
        found[body] = list(struct.unpack_from(f"<8{FORMATS[label]}", written[label]))
    return found
