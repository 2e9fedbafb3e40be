"""What a generated function runs."""

from __future__ import annotations

from tests.emit.examples import lu
from warpsmith.emit.host.cuda import outlined_program


def test_the_kernels_and_loops_of_a_function() -> None:
    made = lu()
    begins, runs, ends = outlined_program(made.original, made.ported).functions[0]
    assert (runs.kernels, runs.regions) == (("ws_lu_k1",), ("lu/k/i",))
    assert not begins.kernels and not ends.kernels
    assert begins.begins is not None and runs.takes == ends.takes == (begins.begins,)
