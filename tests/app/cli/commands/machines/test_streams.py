"""`warpsmith simulate FILE.br`: kernels and host code on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

EXAMPLES = Path(__file__).parents[5] / "examples" / "brook"
SORT = str(EXAMPLES / "bitonic.br")


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(warpsmith, ["simulate", *arguments])


def test_main_is_run_where_nothing_is_named() -> None:
    done = _run(SORT)
    assert done.exit_code == 0 and "main in" in done.output and "10 passes of 1 kernel" in done.output
    assert "values  f32[16]: 0 1 2 3 4 5 6 7 …" in done.output


def test_a_function_gets_its_arguments_and_arrays_go_to_files(tmp_path: Path) -> None:
    file = str(tmp_path / "x.npy")
    arguments = ("--arg", "values=each:f32[n]=7-i", "--arg", "n=8", "--out", f"values={file}", "--format", "json")
    done = _run(SORT, "--kernel", "sort", *arguments)
    found = json.loads(done.output)
    assert found["outputs"][0]["first"] == ["0", "1", "2", "3", "4", "5", "6", "7"] and Path(file).is_file()


def test_a_kernel_is_run_by_itself() -> None:
    numbers = ("width=2", "distance=1", "period=2", "domain_width=4")
    arrays = ("input=each:f32[4]=4-i", "output=empty:f32[4]")
    arguments = [part for one in (*numbers, *arrays) for part in ("--arg", one)]
    done = _run(SORT, "--kernel", "sort_pass", *arguments)
    assert done.exit_code == 0 and "output  f32[4], 4 changed: 3 4 2 1" in done.output


@pytest.mark.parametrize(
    "options", [("--timeline", "svg"), ("-i",), ("--policy", "all"), ("--block", "64"), ("--profile",)]
)
def test_what_is_for_one_kernel_is_told(options: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_guarded(warpsmith, ["simulate", SORT, *options]) == 2
    assert "not for host code" in capsys.readouterr().err


def test_a_mistake_has_its_line_and_a_caret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.br"
    file.write_text("kernel void k(out float o<>)\n{\n    o = 1 +;\n}\n")
    assert run_guarded(warpsmith, ["simulate", str(file)]) == 2
    shown = capsys.readouterr().err
    assert "k.br:3:12: error[BRK001] ';' cannot stand here" in shown and "expected an expression" in shown
    assert "   |            ^" in shown or "  |            ^" in shown


def test_a_mistake_of_host_code_is_in_the_document_too(tmp_path: Path) -> None:
    file = tmp_path / "k.br"
    file.write_text("int main()\n{\n    int a[2];\n    a[2] = 1;\n    return 0;\n}\n")
    done = _run(str(file), "--format", "json")
    found = json.loads(done.output)
    (finding,) = found["findings"]
    assert found["exit_code"] == 2 and (finding["rule"], finding["line"]) == ("BRK002", 4)


def test_a_folder_and_a_file_that_is_not_there_have_no_host_code(tmp_path: Path) -> None:
    (tmp_path / "folder.br").mkdir()
    for name in ("folder.br", "none.br"):
        assert run_guarded(warpsmith, ["simulate", str(tmp_path / name)]) == 2
