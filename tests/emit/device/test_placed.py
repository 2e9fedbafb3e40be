"""Types that a kernel's own text declares."""

from __future__ import annotations

from pathlib import Path

import msgspec.structs
import pytest

from tests.emit.device.test_device import kernel_of
from tests.offload.hand import load
from warpsmith.base.errors import RefusedError
from warpsmith.emit.device.placed import check_outside, placed_names
from warpsmith.tree.nodes import Cast, Expr
from warpsmith.tree.printing.patch import Patcher
from warpsmith.tree.walk import walk

TEXT = """typedef float real;
void f(double *a) {
    enum { OUTER = 1 };
    for (int i = 0; i < 9; i++) { typedef double real; struct p { real x; }; enum { K = 2 }; a[i] = (real)i + K; }
}
void g(double *a) { for (int i = 0; i < 9; i++) { typedef int dim3; a[i] = (dim3)i; } }
void h(double *a) { for (int i = 0; i < 9; i++) { a[i] = (real)i; } }
"""


def test_names_of_blocks_at_a_place(tmp_path: Path) -> None:
    unit = load(TEXT, tmp_path).units[0]
    loops = [function.body.statements[-1].span for function in unit.functions]
    assert placed_names(unit, loops[:1]) == {"real", "p", "K"}
    assert placed_names(unit, [unit.functions[0].span]) == {"real", "p", "K", "OUTER"}
    assert placed_names(unit, loops[2:]) == frozenset()
    with pytest.raises(RefusedError, match="device code cannot have a type named dim3"):
        placed_names(unit, loops[1:2])


@pytest.mark.parametrize(("number", "stands"), [(0, False), (2, True)])
def test_what_stands_outside_of_the_body_names_no_type_of_it(number: int, *, stands: bool, tmp_path: Path) -> None:
    program = load(TEXT, tmp_path)
    unit = program.units[0]
    function = unit.functions[number]
    printer = Patcher(f for _, f in program.functions()).printer
    value: Expr = next(part for part in walk(function.body) if isinstance(part, Cast))
    kernel = kernel_of(function, 1)
    check_outside(kernel, unit, printer)
    kernel = msgspec.structs.replace(kernel, guards=(value,))
    if stands:
        check_outside(kernel, unit, printer)
        return
    with pytest.raises(RefusedError, match="real outside of the block that declares it"):
        check_outside(kernel, unit, printer)
