"""Steps in order, each one checked; the first that is refused is named with its reason, and ends the replay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from msgspec import Struct

from tests.recipes.cases import TWO, after, everything, mapping, port_text, prepared, written
from warpsmith.base.errors import RefusedError, UsageError
from warpsmith.base.source import SourceFile
from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.catalogue import make
from warpsmith.loops.place import LoopContext
from warpsmith.offload.decisions import Decided
from warpsmith.poly.analyze import Facts
from warpsmith.recipes import replay
from warpsmith.recipes.listed import ListedStep
from warpsmith.recipes.reading import recipe_of
from warpsmith.recipes.replay import apply_steps
from warpsmith.recipes.writing import write_recipe
from warpsmith.tree.nodes import replace
from warpsmith.tree.program import Program


def test_steps_are_applied_in_order(tmp_path: Path) -> None:
    made = after(tmp_path, TWO, "interchange=f/i", "offload=f/j")
    assert [applied.step.name for applied in made.applied] == ["interchange", "offload"]
    assert all(isinstance(applied.verdict, Proved) for applied in made.applied)
    assert [applied.span.line for applied in made.applied] == [3, 3]
    assert [d.loop for d in made.program.decisions] == ["f/j"]


def test_a_refused_step_shows_the_dependence_in_the_users_text(tmp_path: Path) -> None:
    with pytest.raises(RefusedError) as caught:
        after(tmp_path, TWO, "interchange=f/i", "offload=f/i")
    (finding,) = caught.value.findings
    assert finding.message.startswith("step 2 of 2, offload=f/i, is refused: carries a flow dependence on s")
    assert finding.rule == "POR003"
    assert "s[i] = 0.5 * s[i - 1] * s[i - 1] + s[i] * s[i];" in str(caught.value)
    assert any(help.startswith("for example: n = ") for help in finding.help)
    assert caught.value.exit_code == 1


def test_a_step_of_a_recipe_is_shown_in_the_recipe_and_in_the_program(tmp_path: Path) -> None:
    text = 'recipe = 1\n[[step]]\nname = "keep"\nloop = "f/i"\n[[step]]\nname = "offload"\nloop = "f/i#2"\n'
    recipe = recipe_of(SourceFile("r.toml", text))
    with pytest.raises(RefusedError) as caught:
        apply_steps(prepared(tmp_path, TWO), recipe.steps)
    (finding,) = caught.value.findings
    assert str(finding.span) == "r.toml:6:8"
    assert "step 2 of 2" in finding.message
    assert 'name = "offload"' in str(caught.value)
    assert "s[i] = 0.5" in str(caught.value)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("keep=f/k", "no loop is called f/k"),
        ("keep=g/i", "no loop is called g/i"),
        ("keep=f/i#3", "the nearest loops"),
        ("keep=0.c:4000", "no loop is called 0.c:4000"),
        ("keep=1.c:3", "no loop is called"),
        ("keep=::", "no loop is called"),
    ],
)
def test_an_address_that_names_no_loop_is_usage(tmp_path: Path, step: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        after(tmp_path, TWO, step)
    assert words in str(caught.value)
    assert caught.value.findings[0].rule == "INP010"


def test_an_address_that_names_two_loops_is_usage_until_it_says_which(tmp_path: Path) -> None:
    static = "static " + TWO
    start = prepared(tmp_path, static, static)
    with pytest.raises(UsageError) as caught:
        apply_steps(start, [ListedStep(make("keep", {"loop": "f/i"}))])
    assert caught.value.findings[0].rule == "INP011"
    assert "names 2 loops" in str(caught.value)
    assert f"{tmp_path}/1.c:f/i" in str(caught.value)
    for address in ("1.c:f/i", "1.c:3", f"{tmp_path}/1.c:f/i"):
        made = apply_steps(start, [ListedStep(make("keep", {"loop": address}))])
        (decision,) = made.program.decisions
        assert decision.node.span.file.path.endswith("1.c")


def test_two_loops_on_one_line_are_two(tmp_path: Path) -> None:
    loop = "for (int i = 0; i < n; i++)"
    text = f"void f(int n, double *a)\n{{\n    {loop} a[i] = 1; {loop} a[i] += 1;\n}}\n"
    with pytest.raises(UsageError) as caught:
        after(tmp_path, text, "keep=0.c:3")
    assert "say which: f/i, f/i#2" in str(caught.value)


def test_decisions_are_honored(tmp_path: Path) -> None:
    assert mapping(prepared(tmp_path, TWO))["f/i"][0] == "yx"
    assert mapping(after(tmp_path, TWO, "map=f/i,axes=x:y,block=8:32")) == {"f/i": ("xy", (8, 32, 1))}
    assert mapping(after(tmp_path, TWO, "map=f/i,axes=x:y"))["f/i"][0] == "xy"
    assert mapping(after(tmp_path, TWO, "map=f/i,axes=x")) == {"f/i": ("x", (256, 1, 1))}
    assert set(mapping(after(tmp_path, TWO, "offload=f/i/j"))) == {"f/i/j"}
    assert not mapping(after(tmp_path, TWO, "keep=f/i"))
    assert set(mapping(after(tmp_path, TWO, "keep=f/i", "offload=f/i/j"))) == {"f/i/j"}
    assert not mapping(after(tmp_path, TWO, "offload=f/i", "keep=f/i"))
    refusals = written(after(tmp_path, TWO, "keep=f/i")).port.plan.refusals
    assert {refusal.reason.rule for refusal in refusals} == {"STP005"}


def test_mapping_a_loop_twice_is_mapping_it_as_said_last(tmp_path: Path) -> None:
    once = mapping(after(tmp_path, TWO, "map=f/i,axes=x:y"))
    assert mapping(after(tmp_path, TWO, "map=f/i,axes=x:y", "map=f/i,axes=x:y")) == once
    assert mapping(after(tmp_path, TWO, "map=f/i,axes=x", "map=f/i,axes=x:y")) == once


def test_a_recipe_that_places_loops_places_all_of_them(tmp_path: Path) -> None:
    text = TWO.replace("0.5 * s[i - 1] * s[i - 1] + ", "")
    assert set(mapping(after(tmp_path, text, "offload=f/i"))) == {"f/i", "f/i#2"}
    assert set(mapping(after(tmp_path, text, "offload=f/i"), only=True)) == {"f/i"}


@pytest.mark.parametrize(
    ("step", "rule"),
    [
        ("map=f/i,axes=z", "STP003"),
        ("map=f/i,axes=x:x", "STP003"),
        ("map=f/i,axes=x:y:z", "STP002"),
        ("map=f/i,axes=x:y:z:w", "STP003"),
        ("map=f/i,axes=x:y,block=32", "STP003"),
        ("map=f/i,axes=x:y,block=64:32", "STP003"),
        ("map=f/i,axes=x:y,block=0:32", "STP003"),
        ("map=f/i,axes=x:y,block=-1:-32", "STP003"),
        ("map=f/i#2,axes=x", "POR003"),
        ("offload=f/i#2", "POR003"),
    ],
)
def test_a_placement_that_cannot_be_is_refused(tmp_path: Path, step: str, rule: str) -> None:
    with pytest.raises(RefusedError) as caught:
        after(tmp_path, TWO, step)
    assert caught.value.findings[0].rule == rule


def test_a_kernel_that_was_asked_for_and_cannot_be_is_an_error(tmp_path: Path) -> None:
    text = """#include <stdlib.h>
void f(int n, double *restrict *restrict a)
{
    for (int i = 0; i < n; i++)
        a[i] = 0;
}
"""
    plan = written(after(tmp_path, text, "offload=f/i")).port.plan
    assert not plan.fragments
    assert [finding.severity for finding in plan.findings] == ["error"]


def test_a_step_that_makes_a_decision_ambiguous_is_refused(tmp_path: Path) -> None:
    text = """void f(int n, double *restrict a, double *restrict b)
{
    for (int i = 0; i < n; i++) {
        a[i] = 1;
        b[i] = 2;
    }
}
"""
    with pytest.raises(RefusedError) as caught:
        after(tmp_path, text, "offload=f/i", "distribute=f/i")
    assert caught.value.findings[0].rule == "STP005"
    assert "stand last" in str(caught.value)
    assert len(after(tmp_path, text, "distribute=f/i", "offload=f/i").program.decisions) == 1


def test_a_decision_follows_its_loop_through_steps_inside_it(tmp_path: Path) -> None:
    made = after(tmp_path, TWO, "map=f/i,axes=x,block=64", "unroll=f/i/j,factor=2")
    place = LoopContext.of(made.program, "f/i")
    decision = Decided.of(made.program, place.function).threads(place.loop)
    assert decision is not None
    assert decision.node is not place.loop
    assert decision.block == (64,)


class Grows(Struct, frozen=True):
    """Double what stands before the loop."""

    name: ClassVar[str] = "grows"
    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        return Proved()

    def apply(self, program: Program) -> Program:
        (_, function), *_ = program.functions()
        *first, loop = function.body.statements
        body = replace(function.body, statements=(*first, *first, loop))
        return program.with_function(function, replace(function, body=body))


def test_steps_that_make_any_amount_of_text_are_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "MOST_NODES", 2000)
    text = "void f(int n, double *a)\n{\n    a[0] = 1;\n    for (int i = 0; i < n; i++)\n        a[i] = 1;\n}\n"
    with pytest.raises(RefusedError) as caught:
        apply_steps(prepared(tmp_path, text), [ListedStep(Grows("f/i"))] * 30)
    assert caught.value.findings[0].rule == "STP006"


def test_a_function_of_a_header_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text(TWO.replace("void", "static void", 1))
    with pytest.raises(RefusedError) as caught:
        after(tmp_path, '#include "h.h"\nint x;\n', "interchange=f/i")
    assert "stands in a header" in str(caught.value)


def test_a_long_recipe_stops_at_the_first_refused_step(tmp_path: Path) -> None:
    steps = [ListedStep(make("keep", {"loop": "f/i"}))] * 100 + [ListedStep(make("offload", {"loop": "f/i#2"}))] * 9900
    with pytest.raises(RefusedError) as caught:
        apply_steps(prepared(tmp_path, TWO), steps)
    assert "step 101 of 10000" in str(caught.value)


SEQUENCE = """void f(int n, int m, double a[n][m])
{
    for (int i = 1; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = 0.5 * a[i - 1][j];
}
"""


def test_what_would_make_a_step_legal_is_tried_and_checked(tmp_path: Path) -> None:
    with pytest.raises(RefusedError) as plain:
        after(tmp_path, SEQUENCE, "offload=f/i")
    assert "(checked)" not in str(plain.value)
    with pytest.raises(RefusedError) as caught:
        after(tmp_path, SEQUENCE, "map=f/i,axes=x", explain=True)
    helps = [help for finding in caught.value.findings for help in finding.help]
    assert "flow dependence of a: distance (1, 0), direction (<, =), carried by f/i" in helps
    enabling = [help.split()[2] for help in helps if help.endswith("(checked)")]
    for option in enabling:
        made = after(tmp_path, SEQUENCE, option, "map=f/i,axes=x")
        assert len(made.applied) == 2
    assert enabling or "no single step that was tried makes it legal" in helps


def test_a_reason_without_a_place_is_told_too(tmp_path: Path) -> None:
    listed = ListedStep(make("keep", {"loop": "f/i"}))
    (finding,) = replay.refusal(listed, "step 1 of 1", Unknown((Reason("STP002", "it has no place"),)))
    assert finding.message == "step 1 of 1, keep=f/i, does not fit: it has no place"
    (empty,) = replay.refusal(listed, "step 1 of 1", Unknown(()))
    assert "cannot be applied" in empty.message


REPLAY = """
import sys
from pathlib import Path
from tests.recipes.cases import port_text, prepared
from warpsmith.recipes.reading import read_recipe
from warpsmith.recipes.replay import apply_steps
made = apply_steps(prepared(Path(sys.argv[1]), Path(sys.argv[2]).read_text()), read_recipe(sys.argv[3]).steps)
print(port_text(made, only=True), end="")
"""


def test_a_replay_gives_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    made = after(tmp_path, TWO, "interchange=f/i", "map=f/j,axes=x:y")
    expected = port_text(made)
    recipe = tmp_path / "r.toml"
    recipe.write_text(write_recipe(everything(made), [], ["0.c"]))
    (tmp_path / "again").mkdir()
    for seed in ("0", "4711"):
        done = subprocess.run(
            [sys.executable, "-c", REPLAY, str(tmp_path / "again"), str(tmp_path / "0.c"), str(recipe)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr == ""
        assert done.stdout == expected
