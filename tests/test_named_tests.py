"""A file that decides something has a test file of its name, in the room of its name: a/b/c.py, tests/a/b/test_c.py.

unnamed.toml lists the others, each with the reason why it needs none: data, a protocol, text, which have no branch, no
loop and no comparison.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent
SOURCES = ROOT.parent / "src" / "warpsmith"
LIST = ROOT / "unnamed.toml"

_DECISIONS = (
    ast.If, ast.IfExp, ast.BoolOp, ast.Compare, ast.While, ast.For, ast.Match, ast.Try, ast.comprehension,
)  # fmt: skip


def _unnamed() -> set[str]:
    """Return the files, below src/warpsmith, without a test file of their name."""
    files = (path.relative_to(SOURCES) for path in SOURCES.rglob("*.py") if path.stem != "__init__")
    return {str(file) for file in files if not (ROOT / file.parent / f"test_{file.name}").is_file()}


def decides(text: str) -> bool:
    """Whether a function of a file tests, chooses or repeats anything."""
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
    return any(isinstance(node, _DECISIONS) for function in functions for node in ast.walk(function))


def _reasons() -> dict[str, str]:
    """Return the files that are said to decide nothing, each with what it is."""
    listed: dict[str, str] = tomllib.loads(LIST.read_text())["decides_nothing"]
    return listed


def test_a_file_that_decides_something_has_a_test_of_its_name() -> None:
    missing, listed = _unnamed(), _reasons().keys()
    assert not missing - listed, "these need a test file of their name"
    assert not listed - missing, f"these have one, or are gone: take them out of {LIST.name}"


def test_what_is_said_to_decide_nothing_does_not() -> None:
    reasons = _reasons()
    assert not [file for file in reasons if decides((SOURCES / file).read_text())]
    assert all(len(reason) > 10 for reason in reasons.values())


def test_a_choice_would_be_noticed() -> None:
    assert decides("def f(a):\n    return 1 if a else 2\n")
    assert decides("class C:\n    def f(self):\n        return [a for a in self.all]\n")
    assert not decides("WORDS = tuple(w for w in 'ab' if w)\ndef f(a):\n    return a.b + 1\n")
