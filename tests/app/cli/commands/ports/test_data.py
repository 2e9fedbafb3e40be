"""`port --data`: where the choice comes from, what contradicts it, and what the port then does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.cli.runs import typed
from warpsmith.app.cli.commands.ports.data import data_scheme
from warpsmith.base.errors import UsageError
from warpsmith.settings.read import Wanted, read_settings

SOURCE = """void f(int n, double *restrict a, double *restrict b)
{
    for (int t = 0; t < 9; t++) {
        for (int i = 0; i < n; i++)
            b[i] = a[i] * 0.5;
        for (int i = 0; i < n; i++)
            a[i] = b[i] + 1;
    }
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    Path("a.c").write_text(SOURCE)
    return tmp_path


def copies(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """Return the copies and loops of a port in order, each with how far it is indented."""
    code, out, _ = typed(capsys, "port", "a.c", "--all", "--verify", "off", "--timeline", "-", *words)
    assert code == 0, out
    return [line.split("  [")[0] for line in out[out.index("timeline\n") :].splitlines()[2:]]


def test_copies_stand_around_each_kernel(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    resident, alone = copies(capsys), copies(capsys, "--data", "per-call")
    inside = [line for line in alone[alone.index("    for t  line 3") :] if "->" in line]
    assert [line.split(" for")[0].split() for line in inside] == [
        ["a", "->", "device"],
        ["b", "->", "host"],
        ["b", "->", "device"],
        ["a", "->", "host"],
    ]
    at = resident.index("    for t  line 3")
    assert not [line for line in resident[at:] if line.startswith("      ") and "->" in line], (
        "nothing moves in the loop"
    )


def test_the_configuration_says_it_and_an_option_wins(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = copies(capsys, "--data", "per-call")
    (here / "warpsmith.toml").write_text('data = "per-call"\n')
    assert copies(capsys) == asked
    assert copies(capsys, "--data", "resident") != asked


@pytest.mark.parametrize("scheme", ["host", "mixed"])
def test_a_scheme_that_keeps_data_between_kernels_contradicts(scheme: str) -> None:
    settings = read_settings(Wanted({"data": "per-call"}, files=False, environment=False))
    with pytest.raises(UsageError, match="copies around each kernel"):
        data_scheme({"transfers": scheme}, settings, project=False)
    assert data_scheme({"transfers": "fragment"}, settings, project=False).data == "per-call"
    kept = read_settings(Wanted({}, files=False, environment=False))
    assert data_scheme({"transfers": scheme}, kept, project=False).data == "resident"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--transfers", "fragment"), "--data managed keeps data where they are, and --transfers fragment copies them"),
        (("--pinned",), "--pinned makes copies faster, and --data managed shares the memory in place of copies"),
        (("-p", "compile_commands.json"), "--data managed replaces the allocations of files, not of projects"),
    ],
)
@pytest.mark.usefixtures("here")
def test_what_shared_memory_does_not_go_with(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = typed(capsys, "port", "a.c", "--data", "managed", *words)
    assert code == 2 and said in out + err


def test_shared_arrays_are_named_and_others_are_copied(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "#include <stdlib.h>\nstatic double w[9];\ndouble *f(int n)\n{\n    double *a = malloc(n * sizeof(double));\n"
    )
    (here / "b.c").write_text(f"{text}    for (int i = 0; i < n; i++)\n        a[i] = w[i % 9];\n    return a;\n}}\n")
    code, out, _ = typed(capsys, "port", "b.c", "--all", "--verify", "off", "--data", "managed")
    assert code == 0 and "shared  a: nothing is copied" in out and "'w' is copied: it is a static array" in out
    assert "w to the device" in " ".join(out.split())
