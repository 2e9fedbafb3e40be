"""A file that decides something has a test file of its name, in the room of its name: a/b/c.py, tests/a/b/test_c.py.

Those that have none are listed in unnamed.toml: `decides_nothing` says why none is needed (data, a protocol, text: no
branch, no loop, no comparison); `to_write` is what is still missing, and only gets shorter. `WARPSMITH_UPDATE=1`
rewrites `to_write` after files have moved; look at the difference.
"""

from __future__ import annotations

import ast
import json
import os
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent
SOURCES = ROOT.parent / "src" / "warpsmith"
LIST = ROOT / "unnamed.toml"
# never more than there are: whoever names a test takes it down
MOST = 1

_DECISIONS = (
    ast.If, ast.IfExp, ast.BoolOp, ast.Compare, ast.While, ast.For, ast.Match, ast.Try, ast.comprehension,
)  # fmt: skip


def _unnamed() -> list[str]:
    """Return the files, below src/warpsmith, without a test file of their name."""
    files = (path.relative_to(SOURCES) for path in sorted(SOURCES.rglob("*.py")) if path.stem != "__init__")
    return [str(file) for file in files if not (ROOT / file.parent / f"test_{file.name}").is_file()]


def decides(text: str) -> bool:
    """Whether a function of a file tests, chooses or repeats anything."""
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
    return any(isinstance(node, _DECISIONS) for function in functions for node in ast.walk(function))


def _listed() -> tuple[dict[str, str], list[str]]:
    read = tomllib.loads(LIST.read_text())
    return read["decides_nothing"], read["to_write"]["files"]


def _rewrite(nothing: dict[str, str], missing: list[str]) -> None:
    text = LIST.read_text()
    assert "[to_write]" in text
    lines = "".join(f"    {json.dumps(file)},\n" for file in missing if file not in nothing)
    LIST.write_text(f"{text.partition('[to_write]')[0]}[to_write]\nfiles = [\n{lines}]\n")


def test_a_file_that_decides_something_has_a_test_of_its_name() -> None:
    missing = _unnamed()
    if os.environ.get("WARPSMITH_UPDATE") == "1":
        _rewrite(_listed()[0], missing)
    nothing, to_write = _listed()
    new = sorted(set(missing) - set(nothing) - set(to_write))
    assert not new, f"these need a test file of their name: {new}"
    done = sorted({*nothing, *to_write} - set(missing))
    assert not done, f"these have one, or are gone: take them out of {LIST.name}: {done}"
    assert to_write == sorted(to_write)


def test_the_list_only_gets_shorter() -> None:
    assert len(_listed()[1]) <= MOST


def test_what_is_said_to_decide_nothing_does_not() -> None:
    nothing, _ = _listed()
    assert not [file for file in nothing if decides((SOURCES / file).read_text())]
    assert all(len(reason) > 10 for reason in nothing.values())


def test_a_choice_would_be_noticed() -> None:
    assert decides("def f(a):\n    return 1 if a else 2\n")
    assert decides("class C:\n    def f(self):\n        return [a for a in self.all]\n")
    assert not decides("WORDS = tuple(w for w in 'ab' if w)\ndef f(a):\n    return a.b + 1\n")
