"""Both arms of every guard: each program's port prints what the program prints where its guards hold, and where each of
them is made to fail, one after the other and all at once.

A guard that fails leaves the user's own loops, with what brings data to the host and back around them.
"""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path
from random import Random

import msgspec.structs
import pytest
from benchmarks.polybench.suite import odd, programs

from tests.failing_guards import count_guards, fail_guards
from tests.random_programs.row_programs import row_program
from warpsmith.emit.files import OutputFile
from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.porting.sources import sources_of
from warpsmith.front.load import FrontOptions
from warpsmith.run.emulated.build import build_emulated, schedule_environment
from warpsmith.run.emulated.counts import read_counts
from warpsmith.run.native.tools import run_limited
from warpsmith.run.referee.reference import runtime_files
from warpsmith.run.verification import Sources

ROOT = Path(__file__).parent.parent
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)")

# functions without a program, and what has no guard
_EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.c")) if "int main(" in path.read_text()]
_QUICK = {"jacobi-2d"}
PROGRAMS = [
    pytest.param(path, id=path.stem, marks=[] if path.stem in _QUICK else [pytest.mark.slow])
    for path in (*_EXAMPLES, *programs())
]


@pytest.mark.parametrize("path", PROGRAMS)
def test_both_arms_of_every_guard_give_what_the_program_gives(path: Path, tmp_path: Path) -> None:
    macros = (*(f"-D{name}={size}" for name, size in odd(path).items()), "-DSUITE_DUMP")
    command = ["cc", "-O1", "-w", *macros, f"-I{path.parent}", "-o", str(tmp_path / "original"), str(path), "-lm"]
    subprocess.run(command, check=True)
    wanted = run_limited([str(tmp_path / "original")], tmp_path)
    result = port([str(path)], PortOptions(verify=False, front=FrontOptions(arguments=macros)))
    if result.ported is None or result.plan is None or not result.plan.fragments:
        pytest.skip("nothing is ported")
    sources = sources_of(result.ported.program, result.files, captured=False)
    launched = _run(sources, tmp_path / "held", wanted.stdout)
    assert launched > 0
    guards = sum(count_guards(file.text) for file in sources.files)
    # each alone where they are few
    for failing in [None, *(range(guards) if 1 < guards <= 3 else ())]:
        files = tuple(_fail(sources.files, None if failing is None else {failing}))
        name = "all" if failing is None else str(failing)
        left = _run(msgspec.structs.replace(sources, files=files), tmp_path / name, wanted.stdout)
        assert left <= launched and (left < launched) is (guards > 0), (name, left, launched)


@pytest.mark.slow
def test_a_guard_that_fails_alone_leaves_the_users_statements_beside_kernels(tmp_path: Path) -> None:
    """Each guard of a program whose parts have guards of their own: what a part's kernel did is taken up by the user's
    statements of the next one, and the other way round."""
    path = ROOT / "tests" / "emit" / "host" / "outline" / "guarded" / "clusters.c"
    macros = ("-D_OPENMP=201511",)
    command = ["cc", "-O1", "-w", "-fopenmp", "-o", str(tmp_path / "original"), str(path)]
    subprocess.run(command, check=True)
    wanted = run_limited([str(tmp_path / "original")], tmp_path)
    options = PortOptions(verify=False, front=FrontOptions(arguments=macros))
    result = port([str(path)], options)
    assert result.ported is not None
    sources = sources_of(result.ported.program, result.files, captured=False)
    (host,) = (file.text for file in result.files if file.path == "clusters.c")
    assert host.count("home[i] = at;") == host.count("} while (moved > 0") == 1
    launched = _run(sources, tmp_path / "held", wanted.stdout)
    guards = sum(count_guards(file.text) for file in sources.files)
    assert guards > 10
    for failing in range(guards):
        files = tuple(_fail(sources.files, {failing}))
        left = _run(msgspec.structs.replace(sources, files=files), tmp_path / str(failing), wanted.stdout)
        assert 0 < left < launched, (failing, left, launched)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_any_guards_may_fail_in_programs_over_rows(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "rows.c"
    path.write_text(row_program(seed))
    subprocess.run(["cc", "-O1", "-w", "-o", str(tmp_path / "original"), str(path), "-lm"], check=True)
    wanted = run_limited([str(tmp_path / "original")], tmp_path)
    result = port([str(path)], PortOptions(verify=False))
    assert result.ported is not None
    sources = sources_of(result.ported.program, result.files, captured=False)
    guards = sum(count_guards(file.text) for file in sources.files)
    chosen = Random(seed)
    for share in (0.0, 0.15, 0.4, 0.7):
        failing = frozenset(chosen.sample(range(guards), round(guards * share)))
        assert bool(failing) is (share > 0), guards
        files = tuple(_fail(sources.files, failing))
        launched = _run(msgspec.structs.replace(sources, files=files), tmp_path / str(share), wanted.stdout)
        assert launched > 0


def _fail(files: Sequence[OutputFile], numbers: Collection[int] | None) -> list[OutputFile]:
    """Return files in which some guards fail, or all of them do."""
    found = iter(range(10**6))

    def fails() -> bool:
        return numbers is None or next(found) in numbers

    return [msgspec.structs.replace(file, text=fail_guards(file.text, fails)) for file in files]


def _run(sources: Sources, folder: Path, wanted: bytes) -> int:
    """Build and run a port, compare what it prints, and return how often it launched a kernel."""
    built = build_emulated(sources, folder, extra_files=runtime_files())
    assert built.finding is None, built.finding
    counts = folder / "counts"
    ran = run_limited([*built.command], folder, environment=schedule_environment(0, folder / "reports", counts))
    assert ran.exit_code == 0, ran
    _compare(ran.stdout.decode(), wanted.decode())
    return sum(read_counts(counts).launches.values())


def _compare(found: str, wanted: str) -> None:
    """Check that two texts are equal, numbers up to the order of sums."""
    assert _NUMBER.sub("#", found) == _NUMBER.sub("#", wanted) != ""
    for a, b in zip(_NUMBER.findall(found), _NUMBER.findall(wanted), strict=True):
        assert a == b or math.isclose(float(a), float(b), rel_tol=1e-6, abs_tol=1e-9), (a, b)


_HELD = """
#include <stdio.h>
#include <stdlib.h>
static void relax(double *u, double *v, int n)
{
    int i;
    for (i = 1; i < n - 1; i++)
        v[i] = 0.5 * (u[i - 1] + u[i + 1]);
}
static void scale(double **w, int n, double f)
{
    int i, j;
    for (i = 0; i < 3; i++)
        for (j = 0; j < n; j++)
            w[i][j] = w[i][j] * f + 0.25;
}
int main(void)
{
    int n = 90, t, i;
    double *rows[3], **c = rows;
    for (t = 0; t < 3; t++) {
        c[t] = malloc(n * sizeof **c);
        for (i = 0; i < n; i++)
            c[t][i] = (i + t) % 7;
    }
    double *a = c[0], *b = c[1];
    for (t = 0; t < 6; t++) {
        relax(a, b, n);
        b[3] += 1;
        relax(b, a, n);
        if (t > 1)
            scale(c, n, 0.5 + a[2] * 0.01);
        printf("%g\\n", a[5]);
        double *s = a;
        a = b;
        b = s;
    }
    for (i = 0; i < n; i += 10)
        printf("%g %g %g\\n", a[i], b[i], c[2][i]);
    return 0;
}
"""


@pytest.mark.slow
def test_nothing_is_left_on_the_device_where_a_guard_fails_in_a_data_region(tmp_path: Path) -> None:
    path = tmp_path / "held.c"
    path.write_text(_HELD)
    subprocess.run(["cc", "-O1", "-w", "-o", str(tmp_path / "original"), str(path)], check=True)
    wanted = run_limited([str(tmp_path / "original")], tmp_path)
    result = port([str(path)], PortOptions(verify=False))
    assert result.ported is not None
    sources = sources_of(result.ported.program, result.files, captured=False)
    host, kernels = (next(f.text for f in sources.files if f.path == name) for name in ("held.c", "held_kernels.cu"))
    assert "ws_data_begin(" in host and "ws_update_device_all" not in host
    guards = count_guards(kernels)
    assert kernels.count("ws_data_to_host(WS_HERE);") == guards > 2
    launched = _run(sources, tmp_path / "held", wanted.stdout)
    for failing in (None, 0, guards - 1):
        files = tuple(_fail(sources.files, None if failing is None else {failing}))
        left = _run(msgspec.structs.replace(sources, files=files), tmp_path / str(failing), wanted.stdout)
        assert left < launched
    # what stayed on the device would be stale behind the user's loop
    stale = [msgspec.structs.replace(f, text=f.text.replace("    ws_let_go(file, line);\n}\n\nextern", "}\n\nextern"))
             for f in _fail(sources.files, {0})]  # fmt: skip
    with pytest.raises(AssertionError):
        _run(msgspec.structs.replace(sources, files=tuple(stale)), tmp_path / "stale", wanted.stdout)


def test_a_guard_is_found_by_its_reason() -> None:
    text = "    // only where a and\n    // b differ\n    if (!ws_apart(a, b))\n        return 0;\n    if (n)\n"
    (changed,) = _fail([OutputFile("k.cu", text)], None)
    assert changed.text == text.replace("if (!", "if (1 || !")
    assert _fail([OutputFile("k.cu", text)], {1})[0].text == text
