from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

SOURCE = """double weight(const double *table, double x);
void f(int n, double *restrict a, const double *restrict t) {
    for (int i = 0; i < n; i++)
        a[i] = weight(t, a[i]);
}
"""
DESCRIBED = '[[functions]]\nnames = "weight"\narguments = "table x"\nreads = "table"\n'


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run_guarded(warpsmith, list(words))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_what_a_file_describes_is_used_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, effects = tmp_path / "a.c", tmp_path / "my.toml"
    source.write_text(SOURCE)
    effects.write_text(DESCRIBED)
    _, out, _ = said(capsys, "explain", f"{source}:3")
    assert "calls weight, which is not defined here" in out and 'arguments = "t a"' in out
    _, out, _ = said(capsys, "explain", f"{source}:3", "--effects", str(effects))
    assert "parallel" in out and "weight reads argument 1, writes no memory" in out and "asserted" in out
    _, out, _ = said(capsys, "port", "--survey", "--json", str(source), "--effects", str(effects))
    (loop,) = json.loads(out)["loops"]
    assert loop["assumptions"] == [
        {"text": f"weight reads argument 1, writes no memory ({effects}:2)", "kind": "granted"}
    ]
    # known is not enough for the device: it needs the function's text
    code, out, _ = said(capsys, "port", str(source), "--loop", "a.c:3", "--effects", str(effects), "--verify", "off")
    assert code == 1 and "weight" in out


def test_a_wrong_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, effects = tmp_path / "a.c", tmp_path / "my.toml"
    source.write_text(SOURCE)
    effects.write_text(DESCRIBED.replace("reads", "raeds"))
    for words in (("port", str(source)), ("explain", f"{source}:3"), ("survey", str(source), "--no-cache")):
        code, _, err = said(capsys, *words, "--effects", str(effects))
        assert code == 2 and "my.toml:4" in err and "did you mean reads?" in err


def test_a_run_needs_a_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.c").write_text(SOURCE)
    code, _, err = said(capsys, "survey", str(tmp_path / "a.c"), "--run", "./a", "--no-cache")
    assert code == 2 and "needs the command that builds" in err


def test_a_survey_ranks_by_seconds(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.c").write_text(
        "#define EACH(i, n) for (int i = 0; i < n; i++)\nstatic double a[2000];\nint main(void) {\n"
        "    for (int i = 0; i < 2000; i++)\n        a[i] = i;\n"
        "    for (int t = 0; t < 2000; t++)\n        for (int i = 0; i < 2000; i++)\n            a[i] *= t;\n"
        "    EACH(i, 3) a[i] = 0;\n    return a[7] > 1e300;\n}\n"
    )
    monkeypatch.chdir(tmp_path)
    words = ("--no-cache", "-j1", "--json", "--", "gcc", "-O1", "a.c", "-o", "a")
    code, out, err = said(capfd, "survey", "--run", "./a", *words)
    loops = json.loads(out)["loops"]
    shown = {loop["span"]["line"]: loop["weight"].get("measured") for loop in loops}
    assert code == 0 and loops[0]["span"]["line"] in (6, 7)
    assert (shown[7]["entries"], shown[7]["iterations"]) == (2000, 4_000_000)
    assert shown[7]["bytes"] == 4_000_000 * 16 and shown[7]["gain_s"] < shown[7]["seconds"]
    assert not shown[9] and "1 loop was not counted" in err and "a.c:9" in err
