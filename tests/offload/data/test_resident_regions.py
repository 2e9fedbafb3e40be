"""Offload regions that share the device with their callers: what is entered how, and what host code keeps them from
it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.regions.planned import looped
from tests.offload.transfers.test_transfers import function
from warpsmith.offload.plan import Port
from warpsmith.tree.nodes import DataEnter, DataExit, DeviceAlloc, DeviceFree, Launch
from warpsmith.tree.walk import walk

BOTH = [("a", True, True), ("b", True, True)]
LEFT = [("a", True), ("b", False)]


def stage(body: str, folder: Path, **more: str) -> Port:
    """Plan a program whose time loop calls `stage` with this body."""
    head = "static double look(double x) { return x * 2; }\nstatic void stage"
    other = f"{head}(double *restrict a, double *restrict b, int n) {{ {body} }}"
    return looped("stage(u, v, n);", folder, other=other, **more)


def entered(port: Port) -> list[tuple[str, bool, bool]]:
    """Return each object that the stage enters: whether it is copied, and kept."""
    parts = walk(function(port.program, "stage").body)
    return [(n.variable.name, n.copy, n.keep) for n in parts if isinstance(n, DataEnter)]


def left(port: Port) -> list[tuple[str, bool]]:
    parts = walk(function(port.program, "stage").body)
    return [(n.buffer.name.removesuffix("_gpu"), n.written) for n in parts if isinstance(n, DataExit)]


@pytest.mark.parametrize(
    ("body", "entries", "exits"),
    [
        ("for (int i = 0; i < n; i++) a[i] += b[i];", BOTH, LEFT),
        # all of a is written: nothing of it is copied in
        ("for (int i = 0; i < n; i++) a[i] = b[i];", [("a", False, True), ("b", True, True)], LEFT),
        # a path to the end without the kernel
        ("if (n > 3) { for (int i = 0; i < n; i++) a[i] = b[i]; }", BOTH, LEFT),
    ],
)  # fmt: skip
def test_what_is_entered_and_left(
    body: str, entries: list[tuple[str, bool, bool]], exits: list[tuple[str, bool]], tmp_path: Path
) -> None:
    port = stage(body, tmp_path)
    assert sorted(entered(port)) == entries
    assert sorted(set(left(port))) == exits
    copies = {(t.variable, t.to_device) for t in port.plan.transfers if t.held}
    assert ("a", True) in copies or not entries[0][1]


def test_memory_of_the_call_is_entered_and_not_kept(tmp_path: Path) -> None:
    port = stage(
        "double w[64]; for (int i = 0; i < 64; i++) w[i] = a[i]; for (int i = 0; i < 64; i++) b[i] = w[i];", tmp_path
    )
    kept = {name: keep for name, _, keep in entered(port)}
    assert kept == {"a": True, "b": True, "w": False}


def test_a_scalar_whose_declaration_moved_has_memory_of_its_own(tmp_path: Path) -> None:
    body = "for (int k = 0; k < n; k++) { double p = b[k]; for (int i = 0; i < n; i++) b[i] = b[i] * 2 + p; }"
    port = stage(body, tmp_path)
    parts = list(walk(function(port.program, "stage").body))
    own = [n.host.name for n in parts if isinstance(n, DeviceAlloc)]
    assert own == ["p"] and sum(isinstance(n, DeviceFree) for n in parts) == 1
    assert "p" not in {name for name, _, _ in entered(port)}


def offload_regions(port: Port) -> int:
    """Return how often the stage's kernels are entered."""
    return sum(1 for name, _, _ in entered(port) if name == "a")


TWO = "for (int i = 0; i < n; i++) a[i] += b[i]; {} for (int i = 0; i < n; i++) a[i] *= b[i];"


@pytest.mark.parametrize(
    ("between", "count"),
    [
        ("", 1),
        ("n = n + 0 * n;", 2),
        ("int c = 3; c++;", 1),
        ('printf("%g", a[2]);', 2),
        ("a[1] = 3;", 2),
        ("unknown();", 2),
        ("look(2.0);", 2),  # a function of the program may do more than can be told here
        ("extern double sqrt(double); double r = sqrt(2.0); r += 1;", 1),
    ],
)
def test_host_code_between_kernels_splits_a_region(between: str, count: int, tmp_path: Path) -> None:
    assert offload_regions(stage(TWO.replace("{}", between), tmp_path)) == count


def test_every_kernel_still_runs(tmp_path: Path) -> None:
    port = stage(TWO.replace("{}", "unknown();"), tmp_path)
    assert sum(isinstance(n, Launch) for n in walk(function(port.program, "stage").body)) == 2
