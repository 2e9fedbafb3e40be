"""Assumptions: guarded ones hold or fail at run time, and the result is right in both cases; refused ones say why.

Each program takes one argument, which makes its guard true or false. Whether the device was used is not believed but
counted: the host part is run on a runtime that counts launches.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.polybench.launches import build, count

from tests.sampling import one_in
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

MAIN = """
int main(int argc, char **argv)
{
    enum { SIZE = 4000 };
    int given = argc > 1 ? atoi(argv[1]) : 0;
    double *data = malloc(SIZE * sizeof(double));
    if (data == NULL)
        return 1;
    for (int i = 0; i < SIZE; i++)
        data[i] = 1.0 + i % 10;
    CALL;
    double sum = 0.0;
    for (int i = 0; i < SIZE; i++)
        sum += data[i] * (i % 7 + 1);
    printf("%.15g\\n", sum);
    free(data);
    return 0;
}
"""

# function; its call; arguments for which the guard holds; arguments for which it does not
GUARDED = {
    "pointers": (
        """void f(int n, double *to, double *from) { for (int i = 0; i < n; i++) to[i] = 0.5 * from[i]; }""",
        "f(900, data + given, data)",
        ("900", "2000"),
        ("1", "899"),
    ),
    "two dimensions": (
        """void f(int n, int m, double to[n][m], double from[n][m])
        { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) to[i][j] = 0.5 * from[i][j]; }""",
        "f(30, 30, (double(*)[30])(data + given), (double(*)[30])data)",
        ("900", "2000"),
        ("1", "30"),
    ),
    "rows of a vector": (
        """void f(int n, int p, int m, double *a)
        { for (int i = 0; i < n; i++) for (int j = 0; j < p; j++) a[i * m + j] = 0.5 * a[i * m + j] + 1.0; }""",
        "f(30, 40, given, data)",
        ("40", "90"),
        ("1", "39"),
    ),
    "no wrap": (
        """void f(unsigned n, unsigned k, double *a) { for (unsigned i = 3; i < n; i++) a[i + k] = a[i + k] * 0.5; }""",
        "f(900u, (unsigned)given, data)",
        ("0", "100"),
        ("-3", "-2"),
    ),
    "an unsigned bound": (
        """void f(unsigned n, double *restrict a, const double *restrict b)
        { for (unsigned i = 0; i < n * 2u; i++) a[i] = b[i] + 1.0; }""",
        "f((unsigned)given, data, data + 2000)",
        ("900", "0"),
        ("-2147483648", "-2147483647"),
    ),
    "an offset": (
        """void f(int n, int k, double *a) { for (int i = 0; i < n; i++) a[i] = 0.5 * a[i + k]; }""",
        "f(900, given, data + 1000)",
        ("900", "-900"),
        ("-1", "-5"),
    ),
}
# What no guard is made for, and a grant is.
GRANTED = {
    "a permutation": (
        """static double table[1000];
        static int places[900];
        static void spread(int step) { for (int i = 0; i < 900; i++) places[i] = i * step % 1000; }
        void f(int n, const int *restrict place) { for (int i = 0; i < n; i++) table[place[i]] = 0.5 * i; }""",
        "spread(given); f(900, places); for (int i = 0; i < 1000; i++) data[i] = table[i]",
        ("7",),
        ("4",),
    ),
}
REFUSED = ("pointers", "two dimensions", "rows of a vector", "an offset", "a permutation")


def _write(name: str, folder: Path) -> Path:
    function, call, _, _ = (GUARDED | GRANTED)[name]
    path = folder / "guarded.c"
    path.write_text("#include <stdio.h>\n#include <stdlib.h>\n" + function + MAIN.replace("CALL", call))
    return path


def _run(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> tuple[int, dict[str, object]]:
    code = run_guarded(warpsmith, ["port", str(path), "--json", "--loop", "f/i", *options])
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return code, document


def _first(document: dict[str, object]) -> dict[str, object]:
    loops = document["loops"]
    assert isinstance(loops, list)
    return next(loop for loop in loops if loop["id"] == "f/i")


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(6, GUARDED))
def test_a_guard_chooses_the_device_or_the_original(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, gpu = _write(name, tmp_path), tmp_path / "gpu"
    _, _, holds, fails = GUARDED[name]
    for given, expected in ((holds[0], (0, "pass")), (fails[0], (3, "undecided"))):
        code, document = _run(capsys, path, "--run-args", given)
        verify = document["verify"]
        assert isinstance(verify, dict)
        assert (code, verify["status"]) == expected, document
    _, document = _run(capsys, path, "--verify", "off", "-o", str(gpu))
    assumptions = _first(document)["assumptions"]
    assert isinstance(assumptions, list)
    assert [entry["kind"] for entry in assumptions] == ["guarded"] * len(assumptions) != []
    program = build(gpu)
    for arguments, used in ((holds, True), (fails, False)):
        for given in arguments:
            counts = count(program, 60.0, (given,))
            assert counts is not None
            # A bound of zero is nothing to do, and no launch either.
            idle = name == "an unsigned bound" and given == "0"
            assert (counts.launches > 0) == (used and not idle), given


@pytest.mark.parametrize("name", REFUSED)
def test_without_guards_it_is_refused_with_a_reason(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document = _run(capsys, _write(name, tmp_path), "--verify", "off", "--no-guards")
    assert code == 1
    loop = _first(document)
    assert not loop["ported"]
    reasons = loop["reasons"]
    assert isinstance(reasons, list)
    assert all(reason["text"] for reason in reasons) and reasons


def _granted(capsys: pytest.CaptureFixture[str], path: Path, grant: str, given: str) -> dict[str, object]:
    _, document = _run(capsys, path, "--no-guards", "--assume", grant, "--run-args", given)
    loop = _first(document)
    assert loop["ported"], loop
    assumptions = loop["assumptions"]
    assert isinstance(assumptions, list)
    assert {"text": grant, "kind": "granted"} in assumptions
    verify = document["verify"]
    assert isinstance(verify, dict)
    return verify


@pytest.mark.parametrize(
    ("name", "grant"),
    one_in(
        3,
        [
            ("an offset", "k >= n"),
            ("pointers", "noalias(to, from)"),
            ("two dimensions", "noalias(to, from)"),
            ("rows of a vector", "p <= m"),
            ("a permutation", "injective(place)"),
        ],
    ),
)
def test_a_granted_assumption_is_believed_and_tested(
    name: str, grant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _write(name, tmp_path)
    _, _, holds, fails = (GUARDED | GRANTED)[name]
    assert _granted(capsys, path, grant, holds[0])["status"] == "pass"
    # Asserted wrongly: the referee finds out.
    assert _granted(capsys, path, grant, fails[0])["status"] == "fail"
