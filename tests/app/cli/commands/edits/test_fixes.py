"""`analyze --fix --diff --add-ignores --watch --metrics`: the user's files keep their bytes, what is offered holds."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from warpsmith.app.cli.commands import watch
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.report.port.json import schema

SOURCE = """\
__global__ void k(float *out, const float *in)
{
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y] * 2.5 + 0.1;
}
"""
SAFE = SOURCE.replace("tile[32][32]", "tile[32][33]")
UNSAFE = SAFE.replace("2.5 + 0.1", "2.5f + 0.1f")
OPTIONS = ("--block", "32,32", "-j", "1", "--isolated")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(SOURCE)
    return tmp_path


def run(*arguments: str) -> int:
    return run_guarded(warpsmith, ["analyze", *arguments])


def test_what_is_fixable_is_said_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    forms = ("--format", "concise", "--format", "text=t.txt", "--format", "json=t.json", "--format", "sarif=t.sarif")
    assert run("k.cu", *OPTIONS, *forms) == 0
    assert sorted(line.endswith("[k] [*]") for line in capsys.readouterr().out.splitlines()) == [True, True]
    text = Path("t.txt").read_text()
    assert "= fix: declare tile with rows of 33 (safe: --fix)" in text
    assert "1 fixable with --fix. 1 more fixable with --fix --unsafe-fixes." in text
    report = json.loads(Path("t.json").read_text())
    jsonschema.validate(report, schema())
    fixes = {finding["rule"]: finding["fix"] for finding in report["findings"]}
    assert fixes["MEM010"]["safe"] and not fixes["ARI003"]["safe"]
    assert [edit["text"] for edit in fixes["ARI003"]["edits"]] == ["f", "f"]
    parts = json.loads((Path(__file__).parents[4] / "report" / "sarif_parts.json").read_text())
    log = json.loads(Path("t.sarif").read_text())
    jsonschema.validate(log, parts)
    (change,) = next(r for r in log["runs"][0]["results"] if r["ruleId"] == "MEM010")["fixes"][0]["artifactChanges"]
    (replaced,) = change["replacements"]
    assert replaced["insertedContent"]["text"] == "33"
    assert replaced["deletedRegion"] == {"startLine": 3, "startColumn": 31, "endLine": 3, "endColumn": 33}
    assert Path("k.cu").read_text() == SOURCE


def test_a_diff_is_all_that_is_printed_and_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("k.cu", *OPTIONS, "--diff", "--unsafe-fixes") == 0
    out, err = capsys.readouterr()
    assert [line for line in out.splitlines() if line[0] in "+-"] == [
        "--- a/k.cu", "+++ b/k.cu", "-    __shared__ float tile[32][32];", "+    __shared__ float tile[32][33];",
        *(f"{sign}    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y] * {sum};"
          for sign, sum in (("-", "2.5 + 0.1"), ("+", "2.5f + 0.1f"))),
    ]  # fmt: skip
    assert "would mend 2 findings in 1 file (ARI003 1, MEM010 1)" in err
    assert Path("k.cu").read_text() == SOURCE


@pytest.mark.parametrize(("more", "wanted"), [((), SAFE), (("--unsafe-fixes",), UNSAFE)])
def test_files_keep_their_other_bytes_their_mode_and_their_links(
    more: tuple[str, ...], wanted: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def held(text: str) -> bytes:
        lines = f"// \u00e9\t\n{text}// no end".replace("\n", "\r\n")
        return b"\xef\xbb\xbf" + lines.encode("latin-1")

    Path("real.cu").write_bytes(held(SOURCE))
    Path("real.cu").chmod(0o754)
    Path("k.cu").unlink()
    Path("k.cu").symlink_to("real.cu")
    assert run("k.cu", "./k.cu", *OPTIONS, "--fix", *more) == 0
    assert Path("real.cu").read_bytes() == held(wanted)
    assert stat.S_IMODE(Path("real.cu").stat().st_mode) == 0o754
    assert Path("k.cu").is_symlink()
    assert sorted(path.name for path in folder.iterdir()) == ["k.cu", "real.cu"]
    assert "[MEM010]" not in capsys.readouterr().out


def test_a_header_that_others_include_is_not_touched(capsys: pytest.CaptureFixture[str]) -> None:
    Path("tile.cuh").write_text(SOURCE)
    for name in ("a.cu", "b.cu"):
        Path(name).write_text('#include "tile.cuh"\n')
    assert run("a.cu", "b.cu", *OPTIONS, "--fix", "--unsafe-fixes") == 0
    assert Path("tile.cuh").read_text() == SOURCE
    assert "mended nothing" in capsys.readouterr().err
    assert run("tile.cuh", "a.cu", *OPTIONS, "--fix") == 0
    assert Path("tile.cuh").read_text() == SAFE


def test_a_read_only_folder_or_standard_input_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert run("k.cu", *OPTIONS, "--fix") == 2
    assert "k.cu cannot be written: permission denied" in capsys.readouterr().err
    assert Path("k.cu").read_text() == SOURCE
    assert run("k.cu", *OPTIONS, "--fix", "--add-ignores") == 2
    assert run("k.cu", *OPTIONS, "--fix", "--watch") == 2


def test_added_comments_silence_and_ask_for_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("k.cu", *OPTIONS, "--add-ignores") == 0
    text = Path("k.cu").read_text()
    comment = "    // warpsmith: ignore[ARI003, MEM010] TODO: say why\n"
    assert text == SOURCE.replace("    out[", f"{comment}    out[")
    out, err = capsys.readouterr()
    assert "silenced 2 findings in 1 file (ARI003 1, MEM010 1)" in err
    assert "[MEM010]" not in out.replace("ignore[MEM001]", "")
    assert "SUP002" in out
    Path("k.cu").write_text(text.replace("TODO: say why", "rows are short"))
    assert run("k.cu", *OPTIONS) == 0
    assert "SUP002" not in capsys.readouterr().out


def test_metrics_are_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("k.cu", *OPTIONS, "--metrics") == 0
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "sectors a request 4 4 store out, line 6" in rows
    assert "bank ways 32 1 load tile, line 6" in rows
    assert any("registers a thread" in row and row.endswith("estimate") for row in rows)
    assert any(row.startswith("occupancy") and "limited by" in row for row in rows)


def test_watching_runs_again_after_a_change_and_ends_quietly(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def steps() -> Iterator[None]:
        yield
        Path("k.cu").write_text(UNSAFE)
        yield
        Path("k.cu").write_text("__global__ void k( {")
        yield
        raise KeyboardInterrupt

    moments = steps()
    monkeypatch.setattr(watch, "sleep", lambda pause: next(moments))
    assert run("k.cu", *OPTIONS, "--watch", "--format", "concise") == 130
    out, err = capsys.readouterr()
    assert out.count("MEM010") == 1
    assert err.count("changed: k.cu") == 2
    assert "INT001" not in err


def test_headers_and_the_configuration_are_watched(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("warpsmith.toml").write_text('device = "sm_80"\n')
    Path("tile.cuh").write_text(SOURCE)
    Path("k.cu").write_text('#include "tile.cuh"\n')

    def steps() -> Iterator[None]:
        yield
        Path("tile.cuh").write_text("__global__ void k( {")
        yield
        Path("tile.cuh").write_text(SAFE)
        yield
        Path("warpsmith.toml").write_text("devcie = 1\n")
        yield
        raise KeyboardInterrupt

    moments = steps()
    monkeypatch.setattr(watch, "sleep", lambda pause: next(moments))
    assert run("k.cu", "--block", "32,32", "-j", "1", "--watch", "--format", "concise") == 130
    out, err = capsys.readouterr()
    assert out.count("MEM010") == 1
    assert err.count("watching 3 files") == 4
    assert err.count("changed: tile.cuh") == 2
    assert "did you mean 'device'?" in err
