"""No analysis swallows a node that it does not know: each `match` over a closed union names what it stands for.

A match names all its nodes, or ends in `case _` and has a line in node_coverage.toml that lists what is left. Who adds
a node is told every analysis that has to take a stand on it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.node_coverage import SOURCES, Kinds, Match, matches, unions
from warpsmith.tree.nodes import Node

PACKAGES = ("poly", "loops", "offload", "analysis", "tree", "ssa")
FILES = [path for package in PACKAGES for path in sorted((SOURCES / "warpsmith" / package).rglob("*.py"))]
TABLE = tomllib.loads((Path(__file__).parent / "node_coverage.toml").read_text())
LISTED: Mapping[str, str] = {
    f"{file}:{function}": text for file, lines in TABLE["files"].items() for function, text in lines.items()
}


def _found(known: Mapping[str, Kinds]) -> dict[str, Match]:
    return {match.where: match for path in FILES for match in matches(path, known) if match.swallowed}


def _listed(text: str) -> frozenset[str]:
    """Return the nodes that a line of the table lists; a word in small letters is a family of them."""
    families = TABLE["families"]
    return frozenset(name for word in text.split() for name in families.get(word, word).split())


def _strangers(known: Mapping[str, Kinds]) -> dict[str, frozenset[str]]:
    """Return, by its place, the nodes that a match neither names nor lists, or lists although it names them."""
    found = _found(known)
    assert sorted(LISTED.keys() - found.keys()) == []
    wrong = {where: match.swallowed ^ _listed(LISTED.get(where, "")) for where, match in found.items()}
    return {where: names for where, names in wrong.items() if names}


def test_every_match_names_or_lists_the_nodes_that_it_stands_for() -> None:
    assert _strangers(unions()) == {}


def test_every_family_is_of_nodes() -> None:
    names = {kind.__name__ for kinds in unions().values() for kind in kinds}
    assert not [word for family in TABLE["families"].values() for word in family.split() if word not in names]


@pytest.mark.slow
def test_the_tool_sees_the_matches() -> None:
    places = {match.where for path in FILES for match in matches(path, unions())}
    assert len(places) > 120
    assert {"poly/pointers/accesses.py:_value", "poly/effects/assigned.py:statement", "loops/place.py:change"} <= places


class Planted(Node, frozen=True, eq=False, kw_only=True):
    """A node that no analysis knows."""


_ASKED = {
    "Expr": ("poly/pointers/accesses.py:_value", "poly/pointers/accesses.py:bases", "offload/memory/places.py:value"),
    "Stmt": ("poly/effects/liveness.py:statement", "poly/effects/assigned.py:_simple", "loops/search/cost.py:_cost"),
    "Node": ("poly/pointers/accesses.py:_own_accesses", "poly/pointers/pointers.py:_collect", "loops/place.py:change"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("union", "places"), _ASKED.items())
def test_a_planted_node_is_told_everywhere(union: str, places: tuple[str, ...]) -> None:
    grown = {name: kinds | {Planted} if name in (union, "Node") else kinds for name, kinds in unions().items()}
    told = _strangers(grown)
    assert set(places) <= told.keys()
    assert all(names == {"Planted"} for names in told.values())
