"""Host code of the examples with all its passes, against numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.front.brook.by_hand import in_c, numbers_in
from tests.front.brook.running import EXAMPLES
from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.source import SourceFile
from warpsmith.flows.streams.run import StreamOptions, find_host, run_host
from warpsmith.report.streams.model import StreamReport


def example(name: str) -> SourceFile:
    """Return an example."""
    return SourceFile.read(str(EXAMPLES / name))


def results(report: StreamReport, folder: Path, *names: str) -> list[npt.NDArray[np.float32]]:
    """Return the arrays that a run has left in files."""
    assert [row.name for row in report.outputs if row.file] == list(names)
    return [np.load(folder / f"{name}.npy") for name in names]


def sort(folder: Path, count: int) -> StreamReport:
    """Sort numbers, and compare with numpy."""
    values = numbers_in(count, count)
    np.save(folder / "in.npy", values)
    options = StreamOptions((f"values=@{folder}/in.npy", f"n={count}"), {"values": f"{folder}/values.npy"})
    report = run_host(example("bitonic.br"), "sort", options)
    (found,) = results(report, folder, "values")
    assert found.tolist() == sorted(values.tolist())
    return report


@pytest.mark.slow
@pytest.mark.parametrize("log", range(4, 13))
def test_all_passes_of_the_network_sort(log: int, tmp_path: Path) -> None:
    assert len(sort(tmp_path, 1 << log).passes) == log * (log + 1) // 2


@pytest.mark.slow
@pytest.mark.parametrize("log", [14, 16, 18, 20])
def test_all_passes_sort_many_numbers(log: int, tmp_path: Path) -> None:
    sort(tmp_path, 1 << log)


def test_matrices_are_multiplied(tmp_path: Path) -> None:
    a, b = numbers_in(1, 64), numbers_in(2, 64)
    for name, array in (("a", a), ("b", b)):
        np.save(tmp_path / f"{name}_in.npy", array)
    texts = (f"a=@{tmp_path}/a_in.npy", f"b=@{tmp_path}/b_in.npy", "c=zeros:f32[64]", "n=8")
    report = run_host(example("product.br"), "product", StreamOptions(texts, {"c": f"{tmp_path}/c.npy"}))
    wanted = np.zeros(64, "f4")
    in_c("multiply", a, b, wanted, 8, 8, 8)
    assert results(report, tmp_path, "c")[0].tobytes() == wanted.tobytes()


def test_heat_spreads_round_by_round(tmp_path: Path) -> None:
    plate = numbers_in(3, 63)
    np.save(tmp_path / "in.npy", plate)
    texts = (f"plate=@{tmp_path}/in.npy", "rows=7", "columns=9", "rounds=3")
    report = run_host(example("heat.br"), "relax", StreamOptions(texts, {"plate": f"{tmp_path}/plate.npy"}))
    for _ in range(6):
        before, plate = plate, np.zeros(63, "f4")
        in_c("spread", before, plate, 7, 9)
    assert results(report, tmp_path, "plate")[0].tobytes() == plate.tobytes()
    assert len(report.passes) == 6 and (report.passes[0].height, report.passes[0].width) == (7, 9)


def test_sums_of_rows_and_of_all(tmp_path: Path) -> None:
    values = numbers_in(4, 48)
    np.save(tmp_path / "in.npy", values)
    texts = (f"values=@{tmp_path}/in.npy", "rows=zeros:f32[6]", "total=zeros:f32[1]", "height=6", "width=8")
    out = {"rows": f"{tmp_path}/rows.npy", "total": f"{tmp_path}/total.npy"}
    rows, total = results(run_host(example("sum.br"), "sums", StreamOptions(texts, out)), tmp_path, "rows", "total")
    squares = values * values
    wanted, all_of_them = np.zeros(6, "f4"), np.zeros(1, "f4")
    in_c("add", squares, wanted, 6, 8, 6, 1)
    in_c("add", squares, all_of_them, 6, 8, 1, 1)
    assert rows.tobytes() == wanted.tobytes() and total.tobytes() == all_of_them.tobytes()


def test_the_function_that_is_meant() -> None:
    file = example("bitonic.br")
    assert [find_host(file, name) for name in ("", "sort", "sort_pass", "none")] == ["main", "sort", "", ""]
    assert find_host(example("product.br"), "") == ""


def test_what_is_missing_is_said() -> None:
    with pytest.raises(UsageError, match="sort needs arguments for values"):
        run_host(example("bitonic.br"), "sort", StreamOptions())
    texts = ("values=zeros:f32[16]", "n=16")
    with pytest.raises(UsageError, match="no stream is written to an array of this name"):
        run_host(example("bitonic.br"), "sort", StreamOptions(texts, {"other": "x.npy"}))
    with pytest.raises(UsageError, match="cannot be written"):
        run_host(example("bitonic.br"), "sort", StreamOptions(texts, {"values": "/nowhere/x.npy"}))


def test_mistakes_in_kernels_are_told_before_anything_runs() -> None:
    text = "kernel void k(out float o<>) { o = b; }\nint main() { return 0; }"
    with pytest.raises(InputError, match="'b' is not declared"):
        run_host(SourceFile("k.br", text), "main", StreamOptions())
