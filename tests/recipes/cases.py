"""C text in, the program before and after steps out."""

from __future__ import annotations

from pathlib import Path

from warpsmith.flows.porting.plan import Written, writable_port
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.step import Step
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.recipes.placement import recorded_steps
from warpsmith.recipes.replay import apply_steps
from warpsmith.recipes.transforms import transforms

TWO = """void f(int n, int m, double a[n][m], double *restrict s)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = 0.5 * a[i][j];
    for (int i = 1; i < n; i++)
        s[i] = 0.5 * s[i - 1] * s[i - 1] + s[i] * s[i];
}
"""


def prepared(folder: Path, *texts: str) -> Prepared:
    """Return the programs `0.c`, `1.c`, … as they are written."""
    paths = [folder / f"{number}.c" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    loaded = load_program([str(path) for path in paths], FrontOptions())
    assert not loaded.findings
    facts = Facts.about(loaded.program, PolyOptions())
    return Prepared(facts, facts)


def after(folder: Path, text: str, *options: str, explain: bool = False) -> Prepared:
    """Return one file's program after the steps that `--transform` options name."""
    return apply_steps(prepared(folder, text), transforms(options), explain=explain)


def written(made: Prepared, *, only: bool = False) -> Written:
    """Return the port; `only`: nothing becomes a kernel but what decisions name."""
    return writable_port(made, OffloadOptions(decided_only=only))


def mapping(made: Prepared, *, only: bool = False) -> dict[str, tuple[str, tuple[int, int, int]]]:
    """Return for every kernel its region, the axes of its loops and its block."""
    fragments = written(made, only=only).port.plan.fragments
    return {f.region: ("".join(m.axis for m in f.kernel.mapped), f.kernel.block) for f in fragments}


def everything(made: Prepared) -> tuple[Step, ...]:
    """Return the steps of a port's recipe."""
    return recorded_steps([applied.step for applied in made.applied], written(made).port.plan)


def port_text(made: Prepared, *, only: bool = False) -> str:
    """Return the text of all files of a port."""
    return "".join(f"{file.path}\n{file.text}" for file in written(made, only=only).files)
