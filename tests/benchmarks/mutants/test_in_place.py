"""A mutant in a process that has loaded the module: all that hold a function get it, and what cannot be is refused."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from benchmarks.mutants.in_place import put_in_place, replacements

SOURCE = """from functools import cached_property, lru_cache

LIMIT = 7

def small(a, most=3):
    return a < most

class C:
    size = 2

    @property
    def doubled(self):
        return self.size * 2

    @cached_property
    def kept(self):
        return [x for x in range(self.size) if x < 7]

@lru_cache
def remembered(a):
    def inner():
        return a + 1
    return inner()
"""


@pytest.fixture
def loaded(tmp_path: Path) -> ModuleType:
    path = tmp_path / "sample.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("sample", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("change", "asked", "before", "after"),
    [
        (("a < most", "a <= most"), "m.small(3)", False, True),
        (("self.size * 2", "self.size * 3"), "m.C().doubled", 4, 6),
        (("if x < 7", "if False"), "m.C().kept", [0, 1], []),
        (("a + 1", "a + 2"), "m.remembered(1)", 2, 3),
        (("return self.size * 2", "return (self.size\n * 3)"), "(m.C().doubled, m.remembered(1))", (4, 2), (6, 2)),
    ],
)
def test_what_was_imported_does_what_the_mutant_does(
    loaded: ModuleType, change: tuple[str, str], asked: str, before: object, after: object
) -> None:
    held = {"m": loaded}
    assert eval(asked, held) == before
    loaded.remembered.cache_clear()
    changes = replacements(SOURCE, SOURCE.replace(*change), str(loaded.__file__))
    assert changes is not None and len(changes) == 1
    put_in_place(changes)
    assert eval(asked, held) == after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 7", "LIMIT = 8"),
        ("most=3", "most=4"),
        ("size = 2", "size = 1"),
        ("class C:", "class D:"),
        ("(a)", "(a"),
    ],
)
def test_what_is_done_while_a_module_is_loaded_is_refused(loaded: ModuleType, old: str, new: str) -> None:
    assert replacements(SOURCE, SOURCE.replace(old, new), str(loaded.__file__)) is None


def test_a_module_that_is_not_loaded_is_refused() -> None:
    assert replacements(SOURCE, SOURCE.replace("a < most", "a > most"), "/nowhere/sample.py") is None
