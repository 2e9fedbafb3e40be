"""Many files at once: the same results in the same order, and one that fails takes no other with it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.explaining import explain_files as module
from warpsmith.flows.explaining.explain_file import FileResult, FileTask, explain_file
from warpsmith.flows.explaining.explain_files import explain_files
from warpsmith.kernels.shape import Launching
from warpsmith.kernels.units import KernelFile
from warpsmith.machine.devices import device
from warpsmith.settings.read import Wanted, read_settings

KERNEL = """\
.version 7.0
.target sm_70
.address_size 64
.visible .entry {name}(.param .u64 to)
{{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, {step};
    add.s64 %rd3, %rd2, %rd3;
    st.global.u32 [%rd3], %r1;
    ret;
}}
"""


def tasks(folder: Path, count: int = 5) -> list[FileTask]:
    made = []
    for number in range(count):
        path = folder / f"k{number}.ptx"
        path.write_text(KERNEL.format(name=f"kernel_{number}", step=4 << number))
        settings = read_settings(Wanted(files=False, environment=False))
        made.append(FileTask(KernelFile(str(path)), (device("sm_80"),), Launching(), settings))
    return made


def _told(results: list[FileResult]) -> list[tuple[object, ...]]:
    return [(r.path, r.names, [f.finding.message for f in r.findings], len(r.diagnostics), r.failed) for r in results]


@pytest.fixture
def bad(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What happens where the third file is read; the processes are copies of this one."""
    what: list[object] = []

    def explained(task: FileTask) -> FileResult:
        if "k2" in task.wanted.path:
            match what[0]:
                case int(number):
                    os.kill(os.getpid(), number)
                case Exception() as error:
                    raise error
        return explain_file(task)

    monkeypatch.setattr(module, "explain_file", explained)
    return what


def test_the_number_of_processes_changes_nothing(tmp_path: Path) -> None:
    given = tasks(tmp_path)
    one, two = explain_files(given, 1), explain_files(given, 2)
    assert _told(one) == _told(two)
    assert [r.names for r in two] == [[f"kernel_{number}"] for number in range(5)]
    assert any(r.findings for r in two)


def test_a_process_that_dies_takes_one_file_with_it(tmp_path: Path, bad: list[object]) -> None:
    bad.append(int(signal.SIGKILL))
    results = explain_files(tasks(tmp_path), 2)
    assert [bool(r.names) for r in results] == [True, True, False, True, True]
    assert [d.rule for d in results[2].diagnostics] == ["INT070"]
    assert "died" in results[2].diagnostics[0].message


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_ours_costs_one_file(jobs: int, tmp_path: Path, bad: list[object]) -> None:
    bad.append(IndexError("of ours"))
    results = explain_files(tasks(tmp_path), jobs)
    assert [bool(r.names) for r in results] == [True, True, False, True, True]
    assert "IndexError: of ours" in results[2].crashed


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_cannot_be_read_is_said_of_the_file(jobs: int, tmp_path: Path, bad: list[object]) -> None:
    bad.append(InputError(Finding("INP001", "error", "cannot be read")))
    results = explain_files(tasks(tmp_path), jobs)
    assert [r.failed for r in results] == [False, False, True, False, False]
    assert [d.message for d in results[2].diagnostics] == ["cannot be read"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_was_asked_for_wrongly_ends_it(jobs: int, tmp_path: Path, bad: list[object]) -> None:
    bad.append(UsageError(Finding("INP000", "error", "no such thing")))
    with pytest.raises(UsageError) as raised:
        explain_files(tasks(tmp_path), jobs)
    assert raised.value.findings[0].message == "no such thing"
