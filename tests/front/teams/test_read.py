"""Constructs whose threads ask for their numbers, as loops: what is read, what is not, and what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.teams.as_text import as_loops, read_text
from tests.front.teams.constructs import LEFT, READ, program
from tests.random_programs.steps_sequences import NoWords
from warpsmith.front.teams.read import left_out_finding
from warpsmith.tree.nodes import For, Pragma
from warpsmith.tree.printing.patch import unit_text
from warpsmith.tree.walk import loops, names, walk


@pytest.mark.parametrize("title", READ)
def test_a_construct_is_read_as_loops(title: str, tmp_path: Path) -> None:
    before, found = read_text(program(READ[title]), tmp_path)
    assert (found.read, found.left, found.threads) == (1, (), 8)
    (function,) = found.program.units[0].functions
    counted = [loop for loop, around in loops(function.body) if isinstance(loop, For) and not around]
    assert len(counted) == 1
    assert not any(n.symbol.name.startswith("omp_") for n in names(function.body))
    # as long as nothing changes the user's text is what is printed
    assert unit_text(before.units[0], found.program.units[0], NoWords()) == before.units[0].file.text
    # no node stands in two places
    nodes = [*walk(function)]
    assert len({id(n) for n in nodes}) == len(nodes)


@pytest.mark.parametrize("title", LEFT)
def test_what_is_not_read_is_said(title: str, tmp_path: Path) -> None:
    body, why = LEFT[title]
    before, found = read_text(program(body), tmp_path)
    assert found.read == 0
    assert found.program is before
    assert [why in one.text for one in found.left] == [True]
    assert why in left_out_finding(found.left[0]).message


def test_without_the_users_word_only_known_numbers_are_read(tmp_path: Path) -> None:
    _, found = read_text(program(READ["turned in a team"]), tmp_path, granted=False)
    assert found.read == 0
    (finding,) = map(left_out_finding, found.left)
    assert finding.rule == "CLM006"
    assert finding.help == ("--assume 'full_teams(work)', if it is right with all of them",)
    _, found = read_text(program(READ["a number of threads that is asked for"]), tmp_path, granted=False)
    assert found.read == 1
    pragmas = [n for n in walk(found.program.units[0].functions[0]) if isinstance(n, Pragma) and n.reading is not None]
    assert [p.reading for p in pragmas] == [(), ()]


def test_loops_as_they_are_printed(tmp_path: Path) -> None:
    before, found = read_text(program(READ["a thread's own variable on both sides"]), tmp_path)
    text = as_loops(before, found)
    assert (
        text.partition("{\n")[2]
        == """    {
        #pragma omp target teams distribute num_teams(teams) thread_limit(8) map(tofrom: a[0:teams * 8], b[0:teams * 8])
        for (int team = 0; team < teams; team++) {
            double part[B];
            double mine_of[8];
            double few_of[8][2];
            #pragma omp parallel for
            for (int t = 0; t < 8; t++) {
                const int i = team * B + t;
                mine_of[t] = b[i] + 1;
                few_of[t][0] = mine_of[t];
                few_of[t][1] = t;
                part[t] = mine_of[t] * mine_of[t];
            }
            #pragma omp parallel for
            for (int t = 0; t < 8; t++) {
                const int i = team * B + t;
                a[i] = part[(t + 1) % B] + mine_of[t] + few_of[t][0] * few_of[t][1];
            }
        }
    }
}
"""
    )
