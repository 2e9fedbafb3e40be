"""The project's rules that a linter does not know: sizes, lone imports, light start, one place for each heavy
library."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from msgspec import Struct

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "warpsmith").rglob("*.py"))
FOLDERS = sorted({path.parent for path in SOURCES})
FOLDER_LIMIT = 16
FIRST_WANTED = 5
"""From how many files on a folder names the one to begin with."""
FILE_LIMIT = 600
FUNCTION_LIMIT = 60
HEAVY = ("islpy", "clang", "numpy", "rich", "jinja2")
C_LINES_LIMIT = 10
# preprocessor lines and declarations; and lines that end as C's do, of which other languages have many, too
_C_LINE = re.compile(
    r"\s*#\s*(define|include|if|ifdef|ifndef|pragma|undef)\b"
    r"|.*\b(void|int|char|bool|float|double|long|unsigned|size_t|const|static|struct|typedef|namespace)\b[ *]"
    r".*[;{(,)]\s*$"
)
_LIKE_C = re.compile(r"\s*#\s*\w|.*([;{})]|\*/)\s*$")


def _module(path: Path, root: Path = ROOT / "src") -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Facts(Struct, frozen=True):
    """What is asked of the text of a module: what it imports, what it imports where that is run, its classes, its
    functions of more than the limit, and the lines of its strings that hold C."""

    imports: tuple[str, ...]
    run_imports: tuple[str, ...]
    classes: tuple[str, ...]
    long_functions: tuple[str, ...]
    c_strings: tuple[int, ...]


@cache
def _facts(path: Path) -> Facts:
    """Return the facts of a module, which is parsed once for all tests."""
    tree = ast.parse(path.read_text())
    nodes = list(ast.walk(tree))
    only_types = {inner for node in nodes if _is_type_checking(node) for inner in ast.walk(node)}
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef))
    return Facts(
        tuple(name for node in nodes for name in _imported(node)),
        tuple(name for node in nodes if node not in only_types for name in _imported(node)),
        tuple(node.name for node in tree.body if isinstance(node, ast.ClassDef)),
        tuple(f.name for f in functions if (f.end_lineno or 0) - f.lineno + 1 > FUNCTION_LIMIT),
        tuple(line for line, text in _strings(nodes) if _holds_long_c(text)),
    )


@pytest.mark.parametrize("path", SOURCES, ids=_module)
def test_a_file_and_its_functions_are_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= FILE_LIMIT
    assert not _facts(path).long_functions


# what a program is made of, as a tree and as the kernel IR have it; and a launch, as the host writes and runs it
SAME_IDEA = {"Function", "Launch", "Return", "Switch", "Symbol"}


def test_a_class_name_means_one_thing() -> None:
    defined = Counter(name for path in SOURCES for name in _facts(path).classes)
    assert {name for name, count in defined.items() if count > 1 and not name.startswith("_")} == SAME_IDEA


@pytest.mark.parametrize("path", SOURCES, ids=_module)
def test_all_is_sorted_and_names_what_exists(path: Path) -> None:
    module = importlib.import_module(_module(path))
    public = getattr(module, "__all__", None)
    if public is not None:
        assert sorted(public) == sorted(set(public))
        assert all(hasattr(module, name) for name in public)


def _imported(node: ast.AST) -> Iterator[str]:
    """Yield what one node imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module is not None:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and _last_name(node.func) == "import_module":
        yield from (str(part.value) for part in node.args[:1] if isinstance(part, ast.Constant))


def _is_type_checking(node: ast.AST) -> bool:
    """Whether a node is `if TYPE_CHECKING`, under whatever name that was imported."""
    return isinstance(node, ast.If) and any(_last_name(part) == "TYPE_CHECKING" for part in ast.walk(node.test))


def _last_name(node: ast.AST) -> str:
    """Return `c` of `c`, `b.c` and `a.b.c`."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _graph(root: Path) -> dict[str, set[str]]:
    """Return the modules that each module below `root` imports, by every kind of import."""
    paths = {_module(path, root): path for path in sorted(root.rglob("*.py"))}
    return {n: {i for i in _facts(p).imports if i in paths and i != n} for n, p in paths.items()}


def test_no_circle_of_imports_be_they_for_types_or_in_functions() -> None:
    graph = _graph(ROOT / "src")
    assert len(graph) == len(SOURCES)
    assert len(list(TopologicalSorter(graph).static_order())) == len(SOURCES)


@pytest.mark.parametrize(
    "back",
    [
        "from package.one import a\n",
        "import package.one\n",
        "from package import one\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from package.one import a\n",
        "import typing\nif typing.TYPE_CHECKING:\n    from package.one import a\n",
        "def f() -> None:\n    from package.one import a\n",
        "from importlib import import_module\nimport_module('package.one')\n",
    ],
)
def test_every_kind_of_import_closes_a_circle(tmp_path: Path, back: str) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "one.py").write_text("from package.two import b\n")
    (tmp_path / "package" / "two.py").write_text(back)
    with pytest.raises(CycleError):
        list(TopologicalSorter(_graph(tmp_path)).static_order())


def _layers() -> dict[str, set[str]]:
    """Return what is layered in each package that a contract layers, by the package's name."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return {
        package: {name for layer in contract["layers"] for name in re.findall(r"\w+", layer)}
        for contract in contracts
        for package in contract.get("containers", ())
    }


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT / "src")))
def test_a_folder_is_small_and_its_rooms_are_layered(folder: Path) -> None:
    """A prefix that three files share is a folder."""
    modules = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    assert len(modules) <= FOLDER_LIMIT
    prefixes = Counter(stem.partition("_")[0] for stem in modules)
    assert not [prefix for prefix, count in prefixes.items() if count > 2], (
        "a prefix that three files share is a folder"
    )
    inner = {path.parent.name for path in folder.glob("*/__init__.py")}
    package = _module(folder / "__init__.py")
    if len(inner | set(modules)) > 1 and package != "warpsmith":
        assert inner <= _layers().get(package, set())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT / "src")))
def test_a_folder_says_what_it_holds_and_what_to_read_first(folder: Path) -> None:
    said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
    assert len(said) > 15
    named = re.findall(r"`([\w./]+\.py)`", said)
    assert all((folder / name).is_file() for name in named)
    assert named or not len(list(folder.glob("*.py"))) >= FIRST_WANTED


def test_imports_for_the_type_checker_count_in_the_contracts() -> None:
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    assert linter["exclude_type_checking_imports"] is False
    assert not [contract["name"] for contract in linter["contracts"] if contract.get("ignore_imports")]


@pytest.mark.parametrize("statement", ["import warpsmith", "import warpsmith.app.cli.main"])
def test_importing_loads_no_heavy_library(statement: str) -> None:
    program = f"{statement}; import sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(done.stdout)}
    assert not loaded & set(HEAVY)


SEEN_BY = {"islpy": {"poly"}, "clang": set[str](), "cuda": {"base"}, "jinja2": {"report"}}
"""The packages that import a library: NVRTC makes PTX for front, and checks texts for run; of libclang's wheel only the
library is taken, by ctypes."""


@pytest.mark.parametrize("library", SEEN_BY)
def test_a_library_is_seen_by_its_packages_only(library: str) -> None:
    seen = {
        _module(p).split(".")[1] for p in SOURCES if library in {name.split(".")[0] for name in _facts(p).run_imports}
    }
    assert seen == SEEN_BY[library]


def test_no_names_of_an_attic() -> None:
    assert not [path for path in SOURCES if path.stem in ("utils", "helpers", "common", "misc", "tools2")]


C_FILES = sorted(
    str(path.relative_to(ROOT / "src" / "warpsmith"))
    for path in (*(ROOT / "src/warpsmith/emit/runtime").iterdir(), ROOT / "src/warpsmith/run/capture/ws_harness.h")
    if len(path.read_text().splitlines()) > 2 * C_LINES_LIMIT and path.suffix in (".cu", ".h")
)


def _strings(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every string of a module that is no docstring; what is put in is left out."""
    bodies = (node.body for node in nodes if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef))
    other = {body[0].value for body in bodies if body and isinstance(body[0], ast.Expr)}
    other |= {part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(p.value) if isinstance(p, ast.Constant) else "x" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in other:
            yield node.lineno, node.value


def _holds_long_c(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    like = sum(bool(_LIKE_C.match(line)) for line in lines)
    return len(lines) > C_LINES_LIMIT and sum(bool(_C_LINE.match(line)) for line in lines) > 1 and 2 * like > len(lines)


def test_c_and_cxx_stand_in_files_of_their_own() -> None:
    assert not [f"{path}:{line}" for path in SOURCES for line in _facts(path).c_strings]


@pytest.mark.parametrize("name", C_FILES)
def test_c_in_a_string_would_be_seen(name: str, tmp_path: Path) -> None:
    text = (ROOT / "src" / "warpsmith" / name).read_text()
    module = tmp_path / "module.py"
    module.write_text(f'"""What it is."""\nTEXT = {text!r}\nOTHER = f{text.replace("{", "{{").replace("}", "}}")!r}\n')
    assert _facts(module).c_strings == (2, 3)


def test_every_place_that_the_map_names_exists() -> None:
    words = re.findall(r"`([\w./]+)`", (ROOT / "CONTRIBUTING.md").read_text())
    named = {word.rstrip("/") for word in words if word.endswith((".py", ".toml", ".c", ".cu", ".h")) or "/" in word}
    tops = (ROOT / "src", ROOT / "tests", ROOT / "benchmarks", ROOT / "docs", ROOT / ".ci")
    there = {str(path.relative_to(ROOT)) for top in tops for path in top.rglob("*")} | {"pyproject.toml"}
    assert len(named) > 40
    assert not [name for name in sorted(named) if not any(f"/{path}".endswith(f"/{name}") for path in there)]


def test_every_module_that_a_docstring_names_exists() -> None:
    """By its name (`walk.py`) or its place (`tree/walk.py`); of the tests as well."""
    there = {f"/{path.relative_to(top)}" for top in (ROOT / "src", ROOT) for path in top.rglob("*.py")}
    named = {(path, name) for path in SOURCES for name in re.findall(r"(?<![\w/*.{])[\w/]+\.py\b", path.read_text())}
    assert len(named) > 40
    assert not [(path, name) for path, name in sorted(named) if not any(one.endswith(f"/{name}") for one in there)]
