"""The promises of warpsmith, one test each."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.sampling import one_in
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.report.port.json import schema

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, object]]:
    code = run_guarded(warpsmith, [*arguments, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    jsonschema.validate(document, schema())
    return code, document


def loops(document: dict[str, object]) -> dict[str, dict[str, object]]:
    entries = document["loops"]
    assert isinstance(entries, list)
    return {entry["id"]: entry for entry in entries}


def transfers(document: dict[str, object]) -> list[dict[str, object]]:
    entries = document.get("transfers", [])
    assert isinstance(entries, list)
    return entries


def line(transfer: dict[str, object]) -> int:
    span = transfer["span"]
    assert isinstance(span, dict)
    return int(span["line"])


# the function lu of examples/lu.c
LU_LINES = (10, 23)


@pytest.mark.slow
@pytest.mark.parametrize("size", one_in(4, [67, 1, 2, 130]))
def test_lu_is_ported_and_verified(size: int, capsys: pytest.CaptureFixture[str]) -> None:
    code, document = run(capsys, "port", str(EXAMPLES / "lu.c"), "--run-args", str(size))
    # a matrix of one element leaves lu nothing to do: no kernel of it runs, and none is shown to be right
    assert code == (3 if size == 1 else 0), document
    found = loops(document)
    assert found["lu/k"]["category"] == "sequential"
    reasons = found["lu/k"]["reasons"]
    assert isinstance(reasons, list)
    assert reasons[0]["dependence"]["carried_by"] == "lu/k"
    assert all(found[name]["ported"] for name in ("lu/k/i", "lu/k/i#2", "lu/k/i#2/j"))
    inside = [(t["direction"], t["in_loop"]) for t in transfers(document) if LU_LINES[0] <= line(t) <= LU_LINES[1]]
    assert inside == [("to_device", None), ("to_host", None)]
    verify = document["verify"]
    assert isinstance(verify, dict)
    assert verify["status"] == ("undecided" if size == 1 else "pass")
    assert verify["schedules"] >= 3


def test_lu_maps_j_to_x(capsys: pytest.CaptureFixture[str]) -> None:
    _, document = run(capsys, "port", str(EXAMPLES / "lu.c"), "--verify", "off")
    kernels = document["kernels"]
    assert isinstance(kernels, list)
    (update,) = [
        kernel for kernel in kernels if kernel["mapping"].keys() == {"i", "j"} and "lu/k/i#2" in kernel["loops"]
    ]
    assert update["mapping"] == {"i": "y", "j": "x"}


@pytest.mark.parametrize("name", one_in(4, ["gemm", "jacobi2d", "saxpy", "fractal"]))
def test_an_example_is_ported_and_verified(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, document = run(capsys, "port", str(EXAMPLES / f"{name}.c"))
    assert code == 0, document
    verify = document["verify"]
    assert isinstance(verify, dict)
    assert verify["status"] == "pass", verify


def test_jacobi_copies_nothing_inside_the_time_loop(capsys: pytest.CaptureFixture[str]) -> None:
    _, document = run(capsys, "port", str(EXAMPLES / "jacobi2d.c"), "--verify", "off")
    found = loops(document)
    assert not found["jacobi2d/t"]["ported"]
    assert sum(bool(found[name]["ported"]) for name in found if name.startswith("jacobi2d/t/")) == 4
    assert not [t for t in transfers(document) if t["in_loop"] == "jacobi2d/t"]


def test_a_relaxation_is_refused_with_its_distance_and_a_witness(capsys: pytest.CaptureFixture[str]) -> None:
    path = EXAMPLES / "relax.c"
    code, document = run(capsys, "port", str(path), "--loop", f"{path}:5")
    assert code == 1
    (loop,) = loops(document).values()
    reasons = loop["reasons"]
    assert isinstance(reasons, list)
    dependence = next(reason["dependence"] for reason in reasons if "dependence" in reason)
    assert dependence["distance"] == [1]
    assert "u[" in dependence["witness"]


@pytest.mark.parametrize("shift", one_in(3, ["0", "1", "1000"]))
def test_pointers_that_may_overlap_are_tested_at_run_time(shift: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, document = run(capsys, "port", str(EXAMPLES / "overlap.c"), "--run-args", shift)
    # where they overlap the user's own loops run: that the kernel is right is then not shown
    assert code == (3 if shift == "1" else 0), document
    loop = loops(document)["scale/i"]
    assert loop["ported"]
    assumptions = loop["assumptions"]
    assert isinstance(assumptions, list)
    assert [entry["kind"] for entry in assumptions] == ["guarded"] * len(assumptions) != []
    verify = document["verify"]
    assert isinstance(verify, dict)
    assert verify["status"] == ("undecided" if shift == "1" else "pass"), verify


def test_without_guards_the_overlap_is_a_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    _, document = run(capsys, "port", str(EXAMPLES / "overlap.c"), "--no-guards", "--verify", "off")
    assert not loops(document)["scale/i"]["ported"]
