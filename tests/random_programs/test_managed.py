"""`--data managed`: random programs of several files do what they did, and seeded slips are seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.random_programs.acceptance import is_accepted
from tests.random_programs.resident_programs import resident_program
from warpsmith.emit import parts
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.offload.data import residency, resident_regions
from warpsmith.offload.plan import OffloadOptions

Patch = pytest.MonkeyPatch
PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ROOM(n) malloc((n) * sizeof(double))
typedef struct { int n; double *u, *v; } Field;
static double table[64];
static void *room(size_t bytes)
{
    void *p = NULL;
    if (posix_memalign(&p, 64, bytes))
        exit(1);
    return p;
}
static void step(Field *f)
{
    for (int i = 1; i < f->n - 1; i++)
        f->v[i] = 0.5 * (f->u[i - 1] + f->u[i + 1]) + table[i % 64];
    double *t = f->u;
    f->u = f->v;
    f->v = t;
}
int main(void)
{
    Field f = { 100, room(100 * sizeof(double)), calloc(100, sizeof(double)) };
    double local[100], *sums = malloc(20 * sizeof(double)), *whole = ROOM(100);
    for (int i = 0; i < 64; i++)
        table[i] = 0.01 * i;
    for (int i = 0; i < 20; i++)
        sums[i] = 2 * i;
    sums = realloc(sums, 100 * sizeof(double));
    for (int i = 20; i < 100; i++)
        sums[i] = 3 * i;
    for (int i = 0; i < 100; i++)
        whole[i] = 0.25 * i;
    for (int i = 0; i < f.n; i++) {
        f.u[i] = i;
        local[i] = 1;
    }
    for (int t = 0; t < 5; t++) {
        step(&f);
        f.u[t] += 1;
        sums[t + 3] = f.u[t + 1];
        for (int i = 0; i < f.n; i++)
            local[i] += f.u[i] * sums[i];
        for (int i = 0; i < f.n; i++)
            sums[i] += f.v[i];
        if (sums[t] > 1e9)
            break;
        for (int i = 0; i < f.n; i++)
            sums[i] = sums[i] * 0.5 + f.v[i];
        for (int i = 0; i < 100; i++)
            whole[i] = whole[i] * 0.5 + sums[i];
    }
    for (int i = 0; i < 100; i += 9)
        printf("%.9g %.9g %.9g %.9g %.9g\\n", f.u[i], f.v[i], local[i], sums[i], whole[i]);
    free(f.u);
    free(f.v);
    free(sums);
    free(whole);
    return 0;
}
"""


def _ported(files: dict[str, str], directory: Path) -> PortResult:
    for name, text in files.items():
        (directory / name).write_text(text)
    options = PortOptions(offload=OffloadOptions(data="managed"))
    return port([str(directory / name) for name in files if name.endswith(".c")], options)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 125))
def test_random_programs_do_what_they_did(seed: int, tmp_path: Path) -> None:
    result = _ported(resident_program(seed).files, tmp_path)
    assert is_accepted(result.verification), result.verification


@pytest.mark.slow
def test_random_programs_share_memory(tmp_path: Path) -> None:
    shared = 0
    for seed in range(100, 106):
        folder = tmp_path / str(seed)
        folder.mkdir()
        files = _ported(resident_program(seed).files, folder).files
        shared += any("ws_managed_malloc(" in file.text for file in files if file.path.endswith(".c"))
    assert shared >= 4


# --- seeded bugs


def _in_run_time(old: str, new: str) -> Callable[[Patch], None]:
    """Change the run time that ports carry."""

    def seed(patch: Patch) -> None:
        real = parts._text
        assert any(old in real(name) for name in parts.part_names()), old
        patch.setattr(parts, "_text", lambda name: real(name).replace(old, new))

    return seed


def _host_code_between(patch: Patch) -> None:
    """Take host code between kernels into their region, where nobody waits for them."""
    patch.setattr(residency, "host_between", lambda *_: None)
    patch.setattr(resident_regions, "check_transfers", lambda *_: ())


_BUGS: dict[str, Callable[[Patch], None]] = {
    "nobody waits": _in_run_time("    ws_managed_wait(file, line);\n", ""),
    "host code between kernels": _host_code_between,
    "everything is shared": _in_run_time("found != nullptr && found->given &&", "found != nullptr &&"),
    "what grows is not moved": _in_run_time("    memcpy(memory, old, had < bytes ? had : bytes);\n", ""),
    "no zeros": _in_run_time("memset(memory, 0, count * bytes)", "memory"),
    "a section begins where its page does": _in_run_time(
        "return (void *)host;", "return (void *)((unsigned long long)host & ~4095ull);"
    ),
}


@pytest.mark.slow
def test_the_program_without_a_bug(tmp_path: Path) -> None:
    result = _ported({"p.c": PROGRAM}, tmp_path)
    assert is_accepted(result.verification), result.verification
    assert result.verification is not None and result.verification.copies is not None
    resident = port([str(tmp_path / "p.c")], PortOptions(offload=OffloadOptions())).verification
    assert resident is not None and resident.copies is not None
    assert result.verification.copies.bytes_to_device < resident.copies.bytes_to_device


@pytest.mark.slow
@pytest.mark.parametrize("name", _BUGS)
def test_bugs_are_seen(name: str, tmp_path: Path, monkeypatch: Patch) -> None:
    _BUGS[name](monkeypatch)
    verification = _ported({"p.c": PROGRAM}, tmp_path).verification
    assert verification is not None and verification.status == "fail", verification
