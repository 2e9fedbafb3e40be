"""The house rules that a linter does not know: sizes, lone imports, light start, one place for each heavy library."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "warpsmith").rglob("*.py"))
FILE_LIMIT = 600
FUNCTION_LIMIT = 60
HEAVY = ("islpy", "clang", "numpy", "rich")


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _functions(path: Path) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("path", SOURCES, ids=_module)
def test_a_file_and_its_functions_are_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= FILE_LIMIT
    long = [f.name for f in _functions(path) if (f.end_lineno or 0) - f.lineno + 1 > FUNCTION_LIMIT]
    assert not long


@pytest.mark.parametrize("path", SOURCES, ids=_module)
def test_all_is_sorted_and_names_what_exists(path: Path) -> None:
    module = importlib.import_module(_module(path))
    public = getattr(module, "__all__", None)
    if public is not None:
        assert sorted(public) == sorted(set(public))
        assert all(hasattr(module, name) for name in public)


def _imports(path: Path) -> Iterator[str]:
    """Yield what a module imports, names inside `if TYPE_CHECKING` left out."""
    tree = ast.parse(path.read_text())
    only_types = {inner for node in ast.walk(tree) if _is_type_checking(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if node in only_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def test_no_circle_of_imports_so_that_every_module_can_be_imported_alone() -> None:
    modules = {_module(path): path for path in SOURCES}
    graph = {name: {i for i in _imports(path) if i in modules and i != name} for name, path in modules.items()}
    assert list(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("statement", ["import warpsmith", "import warpsmith.app.cli.main"])
def test_importing_loads_no_heavy_library(statement: str) -> None:
    program = f"{statement}; import sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(done.stdout)}
    assert not loaded & set(HEAVY)


@pytest.mark.parametrize(("library", "package"), [("islpy", "poly"), ("clang", "front"), ("cuda", "run")])
def test_a_library_is_seen_by_one_package_only(library: str, package: str) -> None:
    for path in SOURCES:
        if library in {name.split(".")[0] for name in _imports(path)}:
            assert _module(path).split(".")[1] == package, path


def test_no_names_of_an_attic() -> None:
    assert not [path for path in SOURCES if path.stem in ("utils", "helpers", "common", "misc", "tools2")]


def test_every_place_that_the_map_names_exists() -> None:
    words = re.findall(r"`([\w./]+)`", (ROOT / "CONTRIBUTING.md").read_text())
    named = {word.rstrip("/") for word in words if word.endswith((".py", ".toml", ".c", ".h")) or "/" in word}
    tops = (ROOT / "src", ROOT / "tests", ROOT / "docs", ROOT / ".ci")
    there = {str(path.relative_to(ROOT)) for top in tops for path in top.rglob("*")} | {"pyproject.toml"}
    assert len(named) > 40
    assert not [name for name in sorted(named) if not any(f"/{path}".endswith(f"/{name}") for path in there)]
