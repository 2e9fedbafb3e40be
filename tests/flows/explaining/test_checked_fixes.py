"""A fix that is wrong is not offered, and never written: the analysis of what it would make refuses it."""

from __future__ import annotations

from importlib import import_module

import pytest
from msgspec.structs import replace

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.base.fixes import Fix
from warpsmith.base.source import Edit, Span
from warpsmith.base.time_limit import OutOfTimeError
from warpsmith.fixes.site import Trees
from warpsmith.flows.explain import ExplainOptions
from warpsmith.flows.explaining.checked_fixes import mends
from warpsmith.flows.explaining.explain_file import FileResult
from warpsmith.flows.fix_files import Mended, fix_files
from warpsmith.kernels.shape import Launching
from warpsmith.kernels.units import KernelFile
from warpsmith.report.analysis.model import Reported
from warpsmith.settings.read import Wanted, read_settings

SOURCE = """\
__global__ void k(float *out, const float *in)
{
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""
RIGHT = ("tile[32][32]", "tile[32][33]")


def mended(edit: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> Mended:
    """Return what becomes of the file where `edit` is what is proposed for every finding."""
    start = SOURCE.index(edit[0])

    def seeded(trees: Trees, _: object, found: KernelFinding) -> tuple[Fix, ...]:
        if found.rule != "MEM010":
            return ()
        return (Fix("seeded", (Edit(Span(trees.file, start, start + len(edit[0])), edit[1]),), safe=True),)

    monkeypatch.setattr(import_module("warpsmith.flows.explaining.explain_file"), "proposals", seeded)
    settings = read_settings(Wanted({"jobs": 1}, None, files=False, environment=False))
    options = ExplainOptions(settings, Launching((32, 32, 1), (1, 1, 1)))
    return fix_files([KernelFile("k.cu", text=SOURCE)], options, unsafe=True)


def test_the_right_one_is_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    (edited,) = mended(RIGHT, monkeypatch).edited
    assert edited.text == SOURCE.replace(*RIGHT)


@pytest.mark.parametrize(
    "edit",
    [
        ("tile[32][32]", "tile[32][64]"),
        ("tile[32][32]", "tile[32][33"),
        ("__syncthreads();", ";"),
        ("tile[threadIdx.x][threadIdx.y];", "0.0f;"),
        ("out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];", ""),
        ("__global__ ", ""),
        ("threadIdx.y * 32 + threadIdx.x];", "threadIdx.x * 32 + threadIdx.y];"),
    ],
    ids=["mends nothing", "does not parse", "races", "loads less", "stores nothing", "no kernel", "mends nothing else"],
)
def test_a_wrong_one_is_refused(edit: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    found = mended(edit, monkeypatch)
    assert not found.edited
    assert not found.applied
    assert all(one.fix is None for one in found.before.findings)
    assert "MEM010" in [one.finding.rule for one in found.before.findings]


OTHER = """\
__device__ float half(float x) { return 0.5f * x; }
__global__ void other(float *out, const float *in) { out[threadIdx.x] = half(in[threadIdx.x]); }
"""


@pytest.mark.parametrize(
    ("edit", "again"),
    [(RIGHT, {"k"}), (("0.5f * x", "0.25f * x"), {"other"}), (("__shared__ float", "__shared__  float"), set[str]())],
    ids=["a kernel", "what a kernel calls", "nothing but its layout"],
)
def test_only_kernels_that_an_edit_changes_are_analyzed_again(
    edit: tuple[str, str], again: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    examined: list[str] = []
    module = import_module("warpsmith.flows.explaining.explain_file")
    examine = module.examine

    def counted(given: object, name: str, *rest: object, **named: object) -> object:
        examined.append(name)
        return examine(given, name, *rest, **named)

    monkeypatch.setattr(module, "examine", counted)
    monkeypatch.setitem(globals(), "SOURCE", SOURCE + OTHER)
    mended(edit, monkeypatch)
    once = examined.index("other") + 1
    assert set(examined[:once]) == {"k", "other"}
    trial = examined[once : len(examined) if not again else once + len(again)]
    assert set(trial) == again


def test_a_kernel_that_took_too_long_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    examined: list[str] = []
    module = import_module("warpsmith.flows.explaining.explain_file")
    examine = module.examine

    def late(given: object, name: str, *rest: object, **named: object) -> object:
        examined.append(name)
        if name == "other":
            raise OutOfTimeError
        return examine(given, name, *rest, **named)

    monkeypatch.setattr(module, "examine", late)
    monkeypatch.setitem(globals(), "SOURCE", SOURCE + OTHER)
    assert mended(RIGHT, monkeypatch).edited
    # in the trial as before the edit, and at last of the edited file
    assert examined == ["k", "other"] * 3


def test_what_a_run_showed_is_gone_only_where_another_run_does_not_show_it() -> None:
    finding = KernelFinding("SYN002", "a race", "witnessed", "k", None, "race", replay="warpsmith simulate k.cu")
    before = FileResult("k.cu", findings=[Reported(finding, "k.cu", "k", "error", "")])
    assert mends(before, FileResult("k.cu"), (), before.findings)
    assert not mends(before, FileResult("k.cu", unseen=frozenset({"k"})), (), before.findings)
    assert mends(before, FileResult("k.cu", unseen=frozenset({"other"})), (), before.findings)
    told = [replace(one, finding=replace(finding, replay="")) for one in before.findings]
    assert mends(FileResult("k.cu", findings=told), FileResult("k.cu", unseen=frozenset({"k"})), (), told)
