"""`explain` finds the page of a rule, a family, a term or a step."""

from __future__ import annotations

import pytest

from tests.app.cli.runs import document, typed
from warpsmith.app.cli.commands import explain_loop as loop_page


@pytest.mark.parametrize(
    ("subject", "key", "count"),
    [
        ("MEM001", "rules", 1), ("mem001", "rules", 1), ("uncoalesced-global-access", "rules", 1), ("ARI", "rules", 7),
        ("divergent", "terms", 1), ("bank conflict", "terms", 1), ("Bank-Conflict", "terms", 1), ("tile", "steps", 1),
    ],
)  # fmt: skip
def test_pages(subject: str, key: str, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    made = document(capsys, "explain", subject)
    assert (made["command"], made["status"], len(made[key])) == ("explain", "ok", count)
    code, out, _ = typed(capsys, "explain", subject)
    assert code == 0 and out.strip()


def test_a_word_that_nobody_knows_gets_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = typed(capsys, "explain", "divergnt")
    assert code == 2 and "no rule, term, step or loop is called 'divergnt'" in err and "did you mean divergent" in err
    assert "did you mean" not in typed(capsys, "explain", "zzzzzz")[2]


def test_a_file_with_a_line_is_a_loop(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, ...]] = []

    def explained(file: str, subject: str, given: object, *, as_json: bool) -> str:
        asked.append((file, subject, as_json))
        return "the page"

    monkeypatch.setattr(loop_page, "explained_loop", explained)
    assert typed(capsys, "explain", "src:a/lu.c:11")[1] == "the page\n"
    typed(capsys, "explain", "lu.c:11", "--json")
    assert asked == [("src:a/lu.c", "src:a/lu.c:11", False), ("lu.c", "lu.c:11", True)]
    assert typed(capsys, "explain", "lu.c:x")[0] == 2 and typed(capsys, "explain", ":11")[0] == 2


def test_mappings_of_a_loop(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("explain", "examples/manual/pixels.c:4", "--mappings")
    code, out, _ = typed(capsys, *asked)
    assert code == 0 and "18 ways to lay p, c on x, y" in out
    (nest,) = document(capsys, *asked)["mappings"]["nests"]
    assert [one["model"] for one in nest["winners"]] == ["lines", "tables"]
    code, _, err = typed(capsys, *asked, "--accesses")
    assert code == 2 and "--accesses and --mappings are two reports" in err
    code, _, err = typed(capsys, "explain", "tile", "--mappings")
    assert code == 2 and "--mappings is for a loop" in err


def test_accesses_of_a_loop(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = typed(capsys, "explain", "examples/manual/product.c:6", "--accesses")
    assert code == 0 and "no single nest removes all three; A with C or B with C" in out
    made = document(capsys, "explain", "examples/manual/product.c:6", "--accesses")
    assert [s["kernels"] for s in made["patterns"]["spaces"]] == [["ws_product_k1"]]
    assert typed(capsys, "explain", "examples/manual/product.c:6", "--accesses=html")[1].startswith("<!doctype html>")
    code, _, err = typed(capsys, "explain", "tile", "--accesses")
    assert code == 2 and "--accesses is for a loop" in err and "name it as FILE:LINE" in err
