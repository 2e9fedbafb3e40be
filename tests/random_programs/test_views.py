"""Programs that see one array in several shapes: their guards hold at natural sizes, and ports do what they do."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from msgspec import Struct, field

from tests.random_programs.view_programs import NATURAL, render_views
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting.sources import sources_of
from warpsmith.offload.plan import OffloadOptions
from warpsmith.run.emulated.build import build_emulated, schedule_environment
from warpsmith.run.emulated.counts import read_counts
from warpsmith.run.native.tools import run_limited
from warpsmith.run.referee.reference import runtime_files
from warpsmith.run.verification import is_made_for

SHARE = 0.99
"""How many of the kernels have to be launched at natural sizes."""


class Views(Struct):
    """Counts over all programs. `idle`: the conditions before kernels that no run came to."""

    loops: int = 0
    parallel: int = 0
    kernels: int = 0
    launched: int = 0
    idle: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"{self.loops} loops, {self.parallel} on the device; {self.launched} of {self.kernels} kernels launched at "
            f"{NATURAL}; not launched:"
        ]
        return "\n".join([*lines, *(f"  {count:4} {text}" for text, count in self.idle.most_common())])


def run_both(text: str, directory: Path, views: Views, arguments: str = NATURAL) -> None:
    """Port one program, run it and its original at natural sizes, and count."""
    directory.mkdir()
    path = directory / "views.c"
    path.write_text(text)
    subprocess.run(["cc", "-O1", "-w", "-o", directory / "original", path], check=True)
    expected = run_limited([str(directory / "original"), *arguments.split()], directory).stdout
    # what is printed is compared digit by digit
    result = port([str(path)], PortOptions(verify=False, offload=OffloadOptions(precise_fp=True)))
    views.loops += sum(len(function.loops) for function in result.facts.functions)
    assert result.plan is not None
    if result.ported is None:
        return
    counts = directory / "counts"
    printed = _printed(result, directory, counts, arguments)
    if printed != expected:
        views.wrong.append(f"{text}\nprinted {printed!r}, not {expected!r}")
    seen = read_counts(counts).launches
    views.parallel += len({name for fragment in result.plan.fragments for name in fragment.loops})
    for fragment in result.plan.fragments:
        views.kernels += 1
        if any(is_made_for(f"{fragment.kernel.name}_kernel", name) for name in seen):
            views.launched += 1
        else:
            views.idle.update([" and ".join(a.text for a in fragment.assumptions) or "(no condition)"])


def _printed(result: PortResult, directory: Path, counts: Path, arguments: str) -> bytes:
    assert result.ported is not None
    sources = sources_of(result.ported.program, result.files, captured=False)
    built = build_emulated(sources, directory / "build", extra_files=runtime_files())
    assert built.finding is None, built.finding
    environment = schedule_environment(0, directory / "reports", counts)
    return run_limited([*built.command, *arguments.split()], directory, environment=environment).stdout


@pytest.mark.slow
@pytest.mark.parametrize("programs", [3, 150])
def test_guards_hold_at_natural_sizes(programs: int, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    views = Views()
    for seed in range(programs):
        run_both(render_views(seed), tmp_path / f"program{seed}", views)
    with capsys.disabled():
        print(f"\n{views}")
    assert not views.wrong, "\n\n".join(views.wrong[:3])
    assert views.launched >= SHARE * views.kernels
    assert views.parallel >= 0.6 * views.loops
