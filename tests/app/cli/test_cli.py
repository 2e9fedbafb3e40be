"""The command line: exit codes, output that is whole or absent, and errors in the user's words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.report.port.json import schema

EXAMPLES = Path(__file__).parents[3] / "examples"
LU = str(EXAMPLES / "lu.c")
RELAX = str(EXAMPLES / "relax.c")


def run(*arguments: str) -> int:
    return run_guarded(warpsmith, arguments)


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    out = capsys.readouterr().out
    assert all(name in out for name in ("port", "verify", "explain", "doctor", "devices"))


@pytest.mark.parametrize("name", ["port", "verify", "explain", "doctor", "devices"])
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(name, "--help") == 0
    assert "Usage: warpsmith " + name in capsys.readouterr().out


def test_a_mistyped_command_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("prot", LU) == 2
    assert "Did you mean 'port'?" in capsys.readouterr().err


def test_no_arguments_is_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("port") == 2
    assert "warpsmith port --help" in capsys.readouterr().err


def test_survey_writes_nothing_and_lists_every_loop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("port", "--survey", LU, "-o", str(tmp_path / "gpu")) == 0
    out = capsys.readouterr().out
    assert "7 loops" in out
    assert not (tmp_path / "gpu").exists()


def test_output_is_written_and_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gpu = tmp_path / "gpu"
    assert run("port", LU, "--verify", "off", "-o", str(gpu)) == 0
    names = {path.name for path in gpu.iterdir()}
    assert names == {"lu.c", "lu_kernels.cu", "lu_kernels.h"}
    (gpu / "lu.c").write_text("mine")
    (gpu / "lu_kernels.h").unlink()
    assert run("port", LU, "--verify", "off", "-o", str(gpu)) == 2
    assert (gpu / "lu.c").read_text() == "mine"
    assert not (gpu / "lu_kernels.h").exists()
    assert "--force" in capsys.readouterr().err
    assert run("port", LU, "--verify", "off", "-o", str(gpu), "--force") == 0
    assert (gpu / "lu.c").read_text() != "mine"


def test_a_loop_asked_for_that_cannot_be_ported_is_a_negative_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("port", RELAX, "--loop", f"{RELAX}:5", "--verify", "off", "-o", str(tmp_path / "gpu")) == 1
    out = capsys.readouterr().out
    assert "error[POR" in out
    assert "distance" in out
    assert not (tmp_path / "gpu").exists()


def test_no_loop_at_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("port", LU, "--loop", f"{LU}:2") == 2
    assert "no loop starts at" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("empty.c", b"", "empty"),
        ("binary.c", bytes(range(256)) * 8, "binary"),
        ("syntax.c", b"void f(int n) { for (int i = 0; i < n; i++ { } }\n", "expected"),
        ("header.c", b'#include "no_such_header.h"\nint x;\n', "no_such_header.h"),
    ],
)
def test_unusable_input(
    name: str, content: bytes, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert run("port", str(path), "-o", str(tmp_path / "gpu")) == 2
    err = capsys.readouterr().err
    assert word in err
    assert "error[INP" in err
    assert "help:" in err
    assert "Traceback" not in err
    assert not (tmp_path / "gpu").exists()


def test_a_missing_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("port", "no/such/file.c") == 2
    assert "no/such/file.c" in capsys.readouterr().err


def test_one_bad_input_of_two_is_incomplete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.c"
    bad.write_text("int f( {\n")
    assert run("port", "--survey", LU, str(bad)) == 3
    captured = capsys.readouterr()
    assert "lu.c" in captured.out
    assert "bad.c" in captured.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("port", LU, "--verify", "off"),
        ("port", "--survey", RELAX),
        ("port", "no/such/file.c"),
        ("port", "--no-such-option"),
        ("explain", f"{LU}:13"),
        ("devices",),
        ("doctor",),
    ],
    ids=lambda arguments: " ".join(Path(word).name for word in arguments),
)
def test_json_is_one_valid_document_on_every_path(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    run(*arguments, "--json")
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema())


def test_diff_applies_to_the_users_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("port", LU, "--verify", "off", "--diff") == 0
    out = capsys.readouterr().out
    assert out.startswith("--- a/lu.c\n+++ b/lu.c\n")
    assert "+++ b/lu_kernels.cu" in out


@pytest.mark.parametrize("subject", ["POR003", "por003", "carried-dependence"])
def test_explain_a_rule(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", subject) == 0
    assert "Do instead" in capsys.readouterr().out


def test_explain_a_loop(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", f"{RELAX}:5") == 0
    out = capsys.readouterr().out
    assert "no single step makes it parallel; tried: distribute" in out
    assert "witness" in out


def test_explain_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", "POR999") == 2
    assert "POR00" in capsys.readouterr().err


def test_an_internal_error_is_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("warpsmith.app.cli.commands.port.port", broken)
    assert run("port", LU) == 70
    err = capsys.readouterr().err
    assert "this is a bug in warpsmith" in err
    assert "Traceback" not in err
    crash = Path(err.split("the details are in ")[1].strip())
    assert "RuntimeError: boom" in crash.read_text()
    crash.unlink()


def test_an_interrupt_exits_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("warpsmith.app.cli.commands.port.port", interrupted)
    assert run("port", LU) == 130


def test_an_interrupt_while_a_class_is_made_exits_130(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupting:
        def __set_name__(self, *_: object) -> None:
            raise KeyboardInterrupt

    def interrupted(*_: object) -> None:
        type("Made", (), {"part": Interrupting()})

    monkeypatch.setattr("warpsmith.app.cli.commands.port.port", interrupted)
    assert run("port", LU) == 130


def test_a_closed_pipe_is_quiet() -> None:
    done = subprocess.run(
        f"{sys.executable} -m warpsmith port --survey {LU} | head -c 1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


def test_a_closed_pipe_is_no_negative_answer() -> None:
    script = f"{sys.executable} -m warpsmith port --survey {LU} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_names_that_the_environment_cannot_encode_are_refused(tmp_path: Path) -> None:
    (tmp_path / "\u00fc.c").write_text("void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = i; }\n")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "warpsmith", "port", "--survey", "\u00fc.c"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 2 and b"no name of a file in ascii" in done.stderr


@pytest.mark.slow
def test_a_port_that_is_too_slow_to_judge_is_not_called_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "slow.c"
    path.write_text(
        """static double a[4];
static void step(int n) { for (int i = 0; i < n; i++) a[i] = a[i] * 0.5 + 1; }
int main(void) { for (int t = 0; t < 900000; t++) step(4); return a[3] > 2; }
"""
    )
    assert run("port", str(path), "--timeout", "1", "--json") == 124
    document = json.loads(capsys.readouterr().out)
    assert document["status"] == "incomplete"
    assert document["verify"]["status"] == "skipped"
    assert [reason["rule"] for reason in document["verify"]["reasons"]] == ["VER003"]


def test_functions_that_do_not_link_are_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "part.c"
    path.write_text(
        """double missing(double);
void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = i; }
double g(double x) { return missing(x); }
"""
    )
    assert run("port", str(path), "--json") == 3
    verify = json.loads(capsys.readouterr().out)["verify"]
    assert verify["status"] == "skipped"
    assert "undefined reference to `missing'" in verify["reasons"][0]["message"]


def test_generated_data_may_hold_nan_and_infinities(capsys: pytest.CaptureFixture[str]) -> None:
    saxpy = str(EXAMPLES / "saxpy.c")
    counts = []
    for options in ((), ("--special-values",)):
        assert run("port", saxpy, "--json", *options) == 0
        counts.append(len(json.loads(capsys.readouterr().out)["verify"]["live_out"]))
    assert counts[1] > counts[0]


def test_an_unknown_device_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("port", LU, "--verify", "off", "--device", "h10") == 2
    assert "did you mean" in capsys.readouterr().err


def test_the_device_says_what_a_launch_may_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    original, candidate = tmp_path / "a.c", tmp_path / "a.cu"
    original.write_text('#include <stdio.h>\nint main(void) { printf("%d\\n", 31); return 0; }\n')
    candidate.write_text("""#include <stdio.h>
__global__ void k(int *a)
{
    __shared__ int tile[10240];
    extern __shared__ int more[];
    tile[threadIdx.x * 320] = threadIdx.x;
    __syncthreads();
    more[threadIdx.x] = tile[(31 - threadIdx.x) * 320];
    a[threadIdx.x] = more[threadIdx.x];
}
int main(void)
{
    int *d, a = 0;
    cudaMalloc((void **)&d, 128);
    cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 61440);
    k<<<1, 32, 61440>>>(d);
    cudaMemcpy(&a, d, 4, cudaMemcpyDeviceToHost);
    printf("%d\\n", a);
}
""")
    assert run("verify", str(original), "--", str(candidate)) == 0
    capsys.readouterr()
    assert run("verify", "--device", "rtx4090", str(original), "--", str(candidate)) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "40960 bytes of static and 61440 of dynamic shared memory; there may be 101376 together" in told
    assert run("verify", "--device", "rtx", str(original), "--", str(candidate)) == 2
