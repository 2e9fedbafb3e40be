"""Loading C text that a test holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from warpsmith.front.clang.process import parse_files
from warpsmith.front.clang.wire import Dump, Request
from warpsmith.front.cuda.source import DeviceInput, device_arguments, read_device_input
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions, Loaded, load_program
from warpsmith.front.separate import Parsed, parse_separately
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


def parsed(folder: Path, text: str, *arguments: str, name: str = "case.c") -> Parsed:
    """Return a text as the parser read it, before it is a tree."""
    path = folder / name
    path.write_text(text)
    (made,) = parse_separately([Source(str(path), arguments)], FrontOptions())
    return made


def device_dump(folder: Path, text: str, *arguments: str, name: str = "k.cu", plain: bool = True) -> Dump:
    """Return the tables of a file of device code."""
    (answer,) = parse_files([device_request(folder, text, *arguments, name=name, plain=plain)], 60)
    assert isinstance(answer, Dump)
    return answer


def device_request(folder: Path, text: str, *arguments: str, name: str = "k.cu", plain: bool = True) -> Request:
    """Return what the parser is asked for a file of device code."""
    path = folder / name
    path.write_text(text)
    given = read_device_input(Source(str(path), arguments), 400_000)
    assert isinstance(given, DeviceInput)
    return str(path), device_arguments(given, plain=plain), None, 400_000, False


def function(loaded: Loaded, name: str = "f") -> Function:
    """Return the function `name` of a program."""
    return next(f for _, f in loaded.program.functions() if f.symbol.name == name)


def found(node: Node, *kinds: type) -> list[Node]:
    """Return the nodes of some kinds below a node, in source order."""
    return [n for n in walk(node) if isinstance(n, kinds)]
