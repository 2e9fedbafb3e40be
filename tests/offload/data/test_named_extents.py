"""Long extents get names where they are said again, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import load
from tests.offload.transfers.abstract_programs import Program as Abstract
from tests.offload.transfers.test_transfers import from_text, function
from warpsmith.offload.data.named_extents import named_extents
from warpsmith.offload.names import Names
from warpsmith.offload.plan import Port
from warpsmith.tree.nodes import DeclStmt, DeviceAlloc, DeviceFree, Launch
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import LONG_LONG
from warpsmith.tree.walk import walk

LONG = "for (int i = n / 3 + m; i < n * 2 - m + 7; i++) a[i] = b[i] * 2;"


def names(port: Port) -> dict[str, str]:
    """Return the declarations that are made for extents, with their values."""
    parts = walk(function(port.program, "f").body)
    made = (d for part in parts if isinstance(part, DeclStmt) for d in part.declarations if d.symbol.type == LONG_LONG)
    return {d.symbol.name: print_expr(d.init) for d in made if d.init is not None}


def test_sizes_and_first_elements_of_long_sections_get_names(tmp_path: Path) -> None:
    port = from_text(f"void f(int n, int m, double *restrict a, double *restrict b) {{ {LONG} }}", tmp_path)
    made = names(port)
    assert {"a_first", "a_bytes", "b_first", "b_bytes"} <= set(made)
    # what has a name is said by it
    assert "a_first" in made["a_bytes"] or len(made["a_bytes"]) > 32
    allocated = [n for n in walk(function(port.program, "f").body) if isinstance(n, DeviceAlloc)]
    assert {print_expr(n.bytes) for n in allocated} == {"a_bytes", "b_bytes"}
    launch = next(n for n in walk(function(port.program, "f").body) if isinstance(n, Launch))
    assert any("a_first" in print_expr(argument) for argument in launch.arguments)


@pytest.mark.parametrize("loop", ["for (int i = 0; i < 64; i++) a[i] = b[i];", "for (int i = 0; i < n; i++) a[i] = 1;"])
def test_what_is_short_stays(loop: str, tmp_path: Path) -> None:
    port = from_text(f"void f(int n, int m, double *restrict a, double *restrict b) {{ {loop} }}", tmp_path)
    assert not [name for name in names(port) if name.endswith("_first")]


def test_terms_of_sizes_that_cancel_out_are_gone(tmp_path: Path) -> None:
    text = (
        "void f(int n, int k, double *restrict a, double *restrict b) { for (int i = 0; i < 64; i++) a[i] = b[i + k]; }"
    )
    assert names(from_text(text, tmp_path)) == {"b_bytes": "(long long)64 * (long long)sizeof(double)"}


def test_a_name_that_is_taken_is_not_taken_again(tmp_path: Path) -> None:
    text = f"void f(int n, int m, double *restrict a, double *restrict b, int a_bytes) {{ {LONG} }}"
    made = names(from_text(text, tmp_path))
    assert "a_bytes" not in made and any(name.startswith("a_bytes") for name in made)


def test_without_device_statements_nothing_changes(tmp_path: Path) -> None:
    p = Abstract()
    scope = (p.host(), DeviceFree(span=p.span(), buffer=p.symbol("x_gpu")))
    fresh = Names(load("int a;", tmp_path)).scope()
    assert named_extents(scope, fresh, p.symbol("f")) is scope
