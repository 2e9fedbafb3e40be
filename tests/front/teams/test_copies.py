"""Copies have nodes of their own; what is changed is nobody's text."""

from __future__ import annotations

from pathlib import Path

from tests.front.teams.as_text import read_text
from warpsmith.front.teams.copies import changed, copy_of
from warpsmith.tree.nodes import Literal, Name, Node
from warpsmith.tree.walk import same, walk


def test_a_copy_shares_no_node(tmp_path: Path) -> None:
    program, _ = read_text("int f(int n) { int k = n + 1; return k * 2; }", tmp_path)
    body = program.units[0].functions[0].body
    copied = copy_of(body)
    assert same(copied, body)
    assert not {id(n) for n in walk(copied)} & {id(n) for n in walk(body)}
    assert all(n.intact for n in walk(copied)) == all(n.intact for n in walk(body))


def test_what_changes_and_what_is_around_it_has_no_text(tmp_path: Path) -> None:
    program, _ = read_text("int f(int n) { int k = n + 1; return k * 2; }", tmp_path)
    body = program.units[0].functions[0].body

    def one(node: Node) -> Node:
        if isinstance(node, Name) and node.symbol.name == "n":
            return Literal(span=node.span, type=node.type, text="7", value=7)
        return node

    made = changed(body, one)
    assert made.span.text == ""
    first, second = made.statements
    assert first.span.text == "" and not first.intact
    assert second is body.statements[1]
    assert changed(body, lambda node: node) is body
