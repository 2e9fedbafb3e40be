"""Instructions that are not written: what only addresses ask for that nobody reads, and what only that asks for."""

from __future__ import annotations

from tests.simt.test_interpreter import kernel
from warpsmith.simt.engine.reading.unused import unused_instructions
from warpsmith.ssa.nodes import Function, Memory

ACCESS = """
mul.wide.u32 %rd5, %r1, 4;
add.s64 %rd6, %rd1, %rd5;
ld.global.u32 %r2, [%rd6];
st.global.u32 [%rd1], %r2;
"""


def _function(text: str) -> Function:
    return kernel(text + "ret;").functions[0]


def _ops(function: Function, *, read: bool) -> list[str]:
    """Return what is unused where accesses do not read their addresses, or do."""
    found = unused_instructions(
        function, lambda i: i.operands[1:] if isinstance(i.detail, Memory) and not read else i.operands
    )
    return [i.op for _, i in function.instructions() if i in found]


def test_an_address_that_nobody_reads_goes_with_what_it_is_made_of() -> None:
    function = _function(ACCESS)
    # %rd2 and %rd3 are never read
    assert _ops(function, read=True) == ["umulwide", "add"]
    assert _ops(function, read=False) == ["param", "umulwide", "add", "umulwide", "add"]


def test_what_is_read_elsewhere_as_well_stays() -> None:
    function = _function(ACCESS + "st.global.u64 [%rd1+8], %rd5;")
    assert _ops(function, read=False) == ["param", "umulwide", "add", "add"]


def test_what_does_more_than_compute_stays() -> None:
    function = _function("atom.global.add.u32 %r1, [%rd1], 1; ld.global.u32 %r2, [%rd1]; div.u32 %r3, %r2, %r1;")
    assert _ops(function, read=True) == ["umulwide", "add"]
