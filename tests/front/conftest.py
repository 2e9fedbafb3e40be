"""Loading C text that a test holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, Loaded, load_program
from warpsmith.tree.nodes import Function, Node
from warpsmith.tree.walk import walk

Load = Callable[..., Loaded]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return a function that loads C text (a str, or bytes as they are) with options."""

    def run(text: str | bytes, *arguments: str, name: str = "case.c") -> Loaded:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return load_program([str(path)], FrontOptions(arguments=arguments))

    return run


def function(loaded: Loaded, name: str = "f") -> Function:
    """Return the function `name` of a program."""
    return next(f for _, f in loaded.program.functions() if f.symbol.name == name)


def found(node: Node, *kinds: type) -> list[Node]:
    """Return the nodes of some kinds below a node, in source order."""
    return [n for n in walk(node) if isinstance(n, kinds)]
