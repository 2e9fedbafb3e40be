"""Random functions with tables in constant memory: their ports do what they do, and seeded slips are seen.

`WARPSMITH_PROGRAMS=200 pytest -m slow tests/random_programs/test_constants.py -k many` ports as many functions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from tests.random_programs.acceptance import is_accepted
from tests.random_programs.constant_programs import TableFunction, program, random_functions
from warpsmith.emit.device.launching import launcher as text_of_launchers
from warpsmith.flows.port import PortOptions, port
from warpsmith.offload.mapping import kernels

BATCH = 10
MANY = int(os.environ.get("WARPSMITH_PROGRAMS", "40"))

Patch = pytest.MonkeyPatch
_PLACE = "place_constants"


def _wrong(functions: Sequence[TableFunction], folder: Path) -> tuple[str, int]:
    """Return what is wrong with a port, and how many tables its kernels have in constant memory."""
    path = folder / "tables.c"
    path.write_text(program(list(functions)))
    chosen = tuple(step for one in functions for step in one.steps)
    result = port([str(path)], PortOptions(steps=False, chosen=chosen))
    assert result.plan is not None
    errors = [f.message for f in (*result.diagnostics, *result.findings) if f.severity == "error"]
    said = [] if result.verification is None else [f.message for f in result.verification.reasons[:3]]
    wrong = "" if not errors and is_accepted(result.verification) else "\n".join([*errors, *said, path.read_text()])
    return wrong, sum(len(fragment.constants) for fragment in result.plan.fragments)


@pytest.mark.slow
def test_many_ports_with_tables_do_what_functions_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    placed = 0
    for number in range(-(-MANY // BATCH)):
        wrong, tables = _wrong(random_functions(number, BATCH), tmp_path)
        assert not wrong, wrong
        placed += tables
    with capsys.disabled():
        print(f"\n{placed} tables in constant memory")
    assert placed >= MANY


# --- seeded bugs


def _copies(change: Callable[[str], str]) -> Callable[[Patch], None]:
    """Change the copies to constant memory."""

    def seed(patch: Patch) -> None:
        real: Any = text_of_launchers._constant_copies
        patch.setattr(text_of_launchers, "_constant_copies", lambda launcher: [change(line) for line in real(launcher)])

    return seed


def _none(patch: Patch) -> None:
    patch.setattr(text_of_launchers, "_constant_copies", lambda launcher: [])


def _rows_swapped(patch: Patch) -> None:
    """Let rows be as many as their columns are."""
    real: Any = getattr(kernels, _PLACE)

    def place(*given: Any) -> Any:
        made = real(*given)
        return tuple(one if not hasattr(one.variable.type.of, "of") else _with_rows(one) for one in made)

    def _with_rows(one: Any) -> Any:
        outer = one.variable.type
        columns = replace(outer.of, count=outer.count, extent=None)
        return replace(one, variable=replace(one.variable, type=replace(outer, of=columns, count=outer.of.count)))

    patch.setattr(kernels, _PLACE, place)


BUGS: Final[dict[str, Callable[[Patch], None]]] = {
    "no copy": _none,
    "half of a table is copied": _copies(
        lambda line: line.replace("sizeof(", "sizeof(", 1).replace("), 0,", ") / 2, 0,")
    ),
    "copied at the first launch alone": _copies(
        lambda line: f"static int once = 0; if (!once++) {line}".replace("once", f"once_{abs(hash(line)) % 10**6}")
    ),
    "the first element is missed": _copies(
        lambda line: line.replace("_gpu, sizeof", "_gpu + 1, sizeof").replace("), 0,", ") - sizeof(char) * 2, 0,")
    ),
    "copied from behind": _copies(lambda line: line.replace("), 0, cuda", ") - 2, 2, cuda")),
    "rows and columns are swapped": _rows_swapped,
}


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_wrong_tables_are_seen(bug: str, monkeypatch: Patch, tmp_path: Path) -> None:
    BUGS[bug](monkeypatch)
    assert any(_wrong(random_functions(number, BATCH), tmp_path)[0] for number in range(MANY // BATCH))
