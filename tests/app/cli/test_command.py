"""Global options mean one thing, before and after the name of every command; how the program starts and ends."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from warpsmith.app.cli.command import GLOBAL_OPTIONS, Command, Group
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import COMMANDS, warpsmith

KERNEL = "__global__ void k(int *a)\n{\n    a[threadIdx.x * 32] = 1;\n}\n"
PROGRAM = [sys.executable, "-m", "warpsmith"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(KERNEL)
    return tmp_path


def _commands(group: click.Command, *words: str) -> list[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(group, click.Group):
        return [(words, group)]
    context = click.Context(group)
    found: list[tuple[tuple[str, ...], click.Command]] = [(words, group)]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found += _commands(command, *words, name)
    return found


ALL = _commands(warpsmith)


def test_every_command_takes_every_global_option_and_has_no_other_of_that_name() -> None:
    names = {word for option in GLOBAL_OPTIONS for word in option.opts}
    for words, command in ALL:
        assert isinstance(command, Command | Group), words
        own = [word for parameter in command.params for word in parameter.opts]
        assert not names & set(own), words
        parsed = [word for p in command.get_params(click.Context(command)) for word in p.opts]
        assert names <= set(parsed), words
        assert len(parsed) == len(set(parsed)), words


def test_the_bare_command_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["-q"], ["config"], ["baseline"]):
        assert run_guarded(warpsmith, words) == 0
        assert "Global options:" in capsys.readouterr().out


def test_a_missing_command_is_an_error_where_json_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--json"], ["config", "--json"], ["--json", "baseline"]):
        assert run_guarded(warpsmith, words) == 2
        assert "a command is missing" in json.loads(capsys.readouterr().out)["diagnostics"][0]["message"]


def test_the_version_and_misspelled_commands(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["-V"], ["rules", "--version"], ["config", "-V"], ["baseline", "write", "-V"]):
        assert run_guarded(warpsmith, words) == 0
        assert capsys.readouterr().out.startswith("warpsmith, version ")
    for words, meant in ((["ruls"], "rules"), (["config", "shw"], "show"), (["baseline", "chek"], "check")):
        assert run_guarded(warpsmith, words) == 2
        assert f"Did you mean '{meant}'?" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["rules"], ["rules", "--json"]])
def test_a_full_device_is_said_and_is_no_error_of_ours(words: list[str], here: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "INT070" not in done.stderr
    assert "Traceback" not in done.stderr
    assert "no space left on device" in done.stderr


def test_closed_streams(here: Path) -> None:
    for redirection in (">&-", "2>&-", ">&- 2>&-", "| head -c 1 >/dev/null"):
        done = subprocess.run(
            f"{' '.join(PROGRAM)} rules {redirection}", shell=True, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), redirection
    done = subprocess.run(
        f"{' '.join(PROGRAM)} analyze k.cu >&- <&-", shell=True, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


STARTED = "import sys; from warpsmith.app.cli.start import main; print('on', flush=True); main()"


def test_an_interrupt_is_quiet_at_any_moment(here: Path) -> None:
    (here / "a.c").write_text("void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = i; }\n")
    subprocess.run([*PROGRAM, "port", "a.c", "-o", "whole"], capture_output=True, check=True)
    whole = _contents(here / "whole")
    ended: list[int] = []
    for delay in (0.03, 0.1, 0.2, 0.4, 0.8):
        with subprocess.Popen(
            [sys.executable, "-c", STARTED, "port", "a.c", "-o", "gpu"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"on\n"
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert b"Traceback" not in err
        assert process.returncode in (0, 130), (delay, err)
        # a stop may come while all is written, or just behind it: there is all of it or nothing
        assert _contents(here / "gpu") in (whole, *([{}] if process.returncode else []))
        shutil.rmtree(here / "gpu", ignore_errors=True)
        ended.append(process.returncode)
    assert ended[:2] == [130, 130]


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_tables_of_commands_agree() -> None:
    assert {words[0] for words, _ in ALL if words} == set(COMMANDS)
    assert [*COMMANDS] == sorted(COMMANDS)
