"""`demo journey` on the command line: what is sent, in which form, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.app.cli.runs import typed
from tests.report.journey.made import made_journey
from warpsmith.app.cli.about import journey
from warpsmith.flows.journey.subjects import Subject
from warpsmith.front.inputs import Source
from warpsmith.report.json_parts import schema

KERNEL = "__global__ void k(int *v, int n) { if (threadIdx.x < n) v[threadIdx.x] += n; }\n"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Subject]:
    """Stand in for the stages, and note what is sent through them."""
    found: list[Subject] = []
    monkeypatch.chdir(tmp_path)

    def travel(subject: Subject, *_: object) -> object:
        found.append(subject)
        return made_journey()

    monkeypatch.setattr(journey, "travel", travel)
    return found


def test_one_of_ours_ends_with_its_code(sent: list[Subject], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = typed(capsys, "demo", "journey", "lu")
    assert (
        code == 1 and sent[0].name == "lu" and out.endswith("2 of 4 outputs differ from the original's; 1 not run.\n")
    )


def test_a_kernel_of_the_users_is_launched_as_it_is_said(
    sent: list[Subject], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "k.cu").write_text(KERNEL)
    words = ("--file", "k.cu", "--kernel", "k", "--block", "32", "--grid", "2", "--arg", "n=3", "--shared", "8")
    assert typed(capsys, "demo", "journey", *words)[0] == 1
    hand = sent[0].hand
    assert hand is not None and (hand.kernel, hand.block, hand.grid, hand.shared) == ("k", (32, 1, 1), (2, 1, 1), 8)
    assert sent[0].values == ("n=3",)


def test_a_function_of_the_users_is_named_and_gets_its_arguments(
    sent: list[Subject], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "f.c").write_text("void f(int n) {}\n")
    assert typed(capsys, "demo", "journey", "--file", "f.c", "--kernel", "f", "--arg", "n=3", "-D", "M=2")[0] == 1
    assert (sent[0].name, sent[0].values, sent[0].hand, sent[0].rounds) == ("f", ("n=3",), None, None)
    assert sent[0].loops_source == Source("f.c", ("-DM=2",), text="void f(int n) {}\n")


def test_the_form_follows_the_file(sent: list[Subject], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert typed(capsys, "demo", "journey", "lu", "-o", "lu.html")[0] == 1
    assert (tmp_path / "lu.html").read_text().startswith("<!doctype html>")
    assert typed(capsys, "demo", "journey", "lu", "-o", "lu.txt")[0] == 1
    assert (tmp_path / "lu.txt").read_text().startswith("a through everything")
    code, out, _ = typed(capsys, "demo", "journey", "lu", "--json")
    jsonschema.validate(json.loads(out), schema())
    assert code == 1 and len(sent) == 3
    # nothing is worked out for a file that is not to be written
    assert typed(capsys, "demo", "journey", "lu", "-o", "lu.html")[0] == 2 and len(sent) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name one of the kernels, or a file"),
        (("lu", "--file", "k.cu"), "name one of the kernels, or a file"),
        (("sort",), "no kernel of ours is called 'sort'"),
        (("lu", "--block", "32"), "--block: our own kernels have launches of their own"),
        (("lu", "--warp", "8"), "No such option"),
        (("--file", "k.cu", "--block", "0"), "--block takes one to three numbers above 0"),
        (("--file", "loops.cpp"), "warpsmith port loops.cpp -o gpu"),
        (("--file", "none.c"), "none.c does not exist"),
        (("--file", "none.c", "--block", "32"), "--block: none.c has loops"),
    ],
)
def test_what_makes_no_sense_is_said(
    words: tuple[str, ...], said: str, sent: list[Subject], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = typed(capsys, "demo", "journey", *words)
    assert code == 2 and said in err and not sent


def test_a_file_that_is_not_there_is_a_document_too(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = typed(capsys, "demo", "journey", "--file", "k.cu", "--json")
    document = json.loads(out)
    jsonschema.validate(document, schema())
    assert (
        code == 2 and document["status"] == "error" and "k.cu does not exist" in document["diagnostics"][0]["message"]
    )
