"""The examples in docstrings show what is printed. (pytest would collect every module for the few that have some.)"""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
SHOWN = sorted(path for path in SOURCE.rglob("*.py") if re.search(r"^\s*>>> ", path.read_text(), re.MULTILINE))


def _module(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("name", [_module(path) for path in SHOWN])
def test_examples_of_a_module_show_what_is_printed(name: str) -> None:
    seen = doctest.testmod(import_module(name))
    assert seen.attempted and not seen.failed


def test_a_wrong_example_is_seen() -> None:
    example = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None)
    assert doctest.DocTestRunner().run(example, out=lambda _: None).failed == 1
