"""Pragmas in the ports: a wrong one is said to be wrong, an open one is believed and tested, or not believed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.flows.port import PortOptions, port
from warpsmith.front.load import FrontOptions

INDIRECT = """
#include <stdio.h>
#include <stdlib.h>
static double table[1000];
static int places[900];
static void spread(int step)
{
    for (int i = 0; i < 900; i++)
        places[i] = i * step % 1000;
}
void f(int n, const int *restrict place)
{
    double t;
#pragma omp parallel for private(t)
    for (int i = 0; i < n; i++) {
        t = 0.5 * i;
        table[place[i]] = t + 1;
    }
}
int main(int argc, char **argv)
{
    spread(argc > 1 ? atoi(argv[1]) : 7);
    f(900, places);
    double sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += table[i] * (i % 7);
    printf("%.15g\\n", sum);
    return 0;
}
"""

WRONG = """
double g(int n, const double *restrict a, double *restrict b)
{
    double t = 0, s = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        t = a[i];
        b[i] = t * t;
    }
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        s += b[i];
#pragma omp parallel for
    for (int i = 1; i < n; i++)
        b[i] = b[i - 1] * b[i - 1] + b[i];
#pragma omp parallel for privat(t)
    for (int i = 0; i < n; i++)
        b[i] += a[i];
#pragma omp parallel for private(t)
    for (int i = 0; i < n; i++) {
        t = b[i];
        b[i] = t + 1;
    }
    return s;
}
"""


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, object]]:
    code = run_guarded(warpsmith, [*arguments, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return code, document


def _loop(document: dict[str, object], name: str) -> dict[str, object]:
    loops = document["loops"]
    assert isinstance(loops, list)
    return next(loop for loop in loops if loop["id"] == name)


def _claims(document: dict[str, object]) -> list[tuple[str, str]]:
    findings = document["findings"]
    assert isinstance(findings, list)
    return [(f["rule"], f["message"]) for f in findings if f["rule"].startswith("CLM")]


def _write(folder: Path, text: str) -> str:
    path = folder / "claims.c"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(("step", "status"), [("7", "pass"), ("4", "fail")])
def test_an_open_claim_is_believed_and_tested(
    step: str, status: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _write(tmp_path, INDIRECT)
    _, document = _json(capsys, "port", path, "--loop", "f/i", "--run-args", step)
    loop = _loop(document, "f/i")
    assert loop["ported"]
    assumptions = loop["assumptions"]
    assert isinstance(assumptions, list)
    (assumption,) = assumptions
    assert assumption["kind"] == "granted"
    assert "line 14" in assumption["text"] and "#pragma omp parallel for private(t)" in assumption["text"]
    ((rule, message),) = _claims(document)
    assert rule == "CLM002" and "assumed" in message and "not affine" in message
    verify = document["verify"]
    assert isinstance(verify, dict) and verify["status"] == status
    if status == "fail":
        text = json.dumps(verify)
        assert "table[" in text and "race" in text


def test_a_claim_may_be_checked_and_not_believed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _write(tmp_path, INDIRECT)
    code, document = _json(capsys, "port", path, "--loop", "f/i", "--verify", "off", "--claims", "check")
    assert code == 1 and not _loop(document, "f/i")["ported"]
    ((rule, message),) = _claims(document)
    assert rule == "CLM002" and "not proved" in message


def test_every_claim_gets_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _write(tmp_path, WRONG)
    _, document = _json(capsys, "port", path, "--survey")
    claims = _claims(document)
    assert [rule for rule, _ in claims] == ["CLM001", "CLM001", "CLM001", "CLM003", "CLM004"]
    said = ["t needs private", "s needs reduction(+: s)", "carries a dependence on b", "privat(t)", "confirmed"]
    assert all(word in message for word, (_, message) in zip(said, claims, strict=True)), claims
    # proved without the pragma's word, or not at all
    categories = [_loop(document, name)["category"] for name in ("g/i", "g/i#2", "g/i#3", "g/i#4", "g/i#5")]
    assert categories == ["parallel", "reduction", "sequential", "parallel", "parallel"]


def test_a_refuted_claim_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _write(tmp_path, WRONG)
    assert run_guarded(warpsmith, ["explain", f"{path}:6"]) == 0
    text = capsys.readouterr().out
    assert "CLM001" in text and "t needs private: iteration i = 0 writes t, iteration i = 1 reads it (n = 2)" in text


STAYS = """#include <stdio.h>
static double a[4000], b[4000];
double stays(int n)
{
    double s = 0, t;
#pragma omp parallel for private(t) schedule(static, 3) /* kept */
    for (int i = 0; i < n; i++) {
        t = i % 10;
        b[i] = t * 0.1;
    }
#pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++)
        s += b[i] / 3;
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            a[i] = 1.0 / (i + 1);
    }
    return s;
}
"""
GOES = """void goes(int n)
{
    if (n > 2)
#pragma omp parallel for
        for (int i = 1; i < n; i++)
            a[i] = a[i] + b[i - 1];
}
int main(void)
{
    double s = stays(4000);
    goes(4000);
    printf("%.12g %.12g\\n", s, a[77]);
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("-fopenmp",)])
def test_pragmas_of_loops_that_stay_are_left_alone(flags: tuple[str, ...], tmp_path: Path) -> None:
    path = _write(tmp_path, STAYS + GOES)
    # with -fopenmp the program is built so: sums of the original are made on several threads
    result = port([path], PortOptions(front=FrontOptions(arguments=flags), loops=("goes/i",)))
    host = next(f.text for f in result.files if f.path.endswith(".c"))
    assert STAYS.partition("\n")[2] in host
    assert "#pragma" not in host.partition("void goes")[2]
    assert result.verification is not None and result.verification.status == "pass", result.verification


@pytest.mark.parametrize(("qualifier", "certainty"), [("", "conditional"), ("restrict ", "proven")])
def test_a_claim_that_holds_if_two_arrays_lie_apart_is_conditional(
    qualifier: str, certainty: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loop = "#pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        b[i] = a[i] + 1;"
    path = _write(tmp_path, f"void f(int n, const double *{qualifier}a, double *{qualifier}b)\n{{\n{loop}\n}}\n")
    _, document = _json(capsys, "port", path, "--survey")
    findings = document["findings"]
    assert isinstance(findings, list)
    (claim,) = (finding for finding in findings if finding["rule"] == "CLM004")
    assert claim["certainty"] == certainty and bool(claim.get("assumptions")) == (certainty == "conditional")
