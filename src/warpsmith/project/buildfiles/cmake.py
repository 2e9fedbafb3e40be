"""Telling a CMake project about ported files, and trying it before anybody else does.

    CMakeLists.txt                include(warpsmith/targets.cmake)         one line, at the end
    warpsmith/targets.cmake       option(WARPSMITH …); where it is ON: the library of the kernels, and for each target
                                  that compiles a ported file the macro and the library

The kernels are built by nvcc in a command of their own, so that the project's languages and its host compiler stay what
they are. The edit is tried in a copy: configured without WARPSMITH the compile commands are what they were, with it
each ported file has the macro and each program that holds it the library.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from warpsmith.project.buildfiles.makefile import LIBRARY, MakeEdit, Runner
from warpsmith.project.filling import fill_template

__all__ = ["edit_cmake"]

_TARGET = re.compile(r"CMakeFiles/([^/]+)\.dir/")


def edit_cmake(copy: Path, sources: Sequence[str], rules_folder: str, run: Runner) -> MakeEdit | None:
    """Return how the build of the project in `copy` learns of the ported `sources` (paths below it); None where its
    CMakeLists.txt is not understood. `copy` is a throw-away."""
    lists = copy / "CMakeLists.txt"
    if not lists.is_file():
        return None
    files = {os.path.realpath(copy / source) for source in sources}
    before = _configure_copy(copy, "ws-before", (), run)
    if before is None:
        return None
    mine = [entry for entry in before if _source(entry) in files]
    targets = list(dict.fromkeys(t for entry in mine for t in _TARGET.findall(entry["command"])[:1]))
    if {_source(entry) for entry in mine} != files or not targets:
        return None
    original = lists.read_bytes().decode("latin-1")
    end = "\r\n" if original.count("\r\n") * 2 > original.count("\n") else "\n"
    gap = "" if original.endswith("\n") else end
    texts = {
        "CMakeLists.txt": f"{original}{gap}include({rules_folder}/targets.cmake){end}",
        f"{rules_folder}/targets.cmake": fill_template(
            "targets.cmake", {"library": LIBRARY, "targets": " ".join(targets)}
        ),
    }
    for path, text in texts.items():
        (copy / path).parent.mkdir(exist_ok=True)
        (copy / path).write_bytes(text.encode("latin-1"))
    after = _configure_copy(copy, "ws-after", (), run)
    nvcc = ("-DWARPSMITH=ON", f"-DWARPSMITH_NVCC={copy / rules_folder / 'targets.cmake'}")
    ported = _configure_copy(copy, "ws-ported", nvcc, run)
    if after is None or ported is None or _plain(before, "ws-before") != _plain(after, "ws-after"):
        return None
    return MakeEdit(texts) if _is_right(copy / "ws-ported", ported, files, targets) else None


def _configure_copy(copy: Path, name: str, options: Sequence[str], run: Runner) -> list[dict[str, str]] | None:
    """Configure into the folder `name`; return the compile commands."""
    command = ["cmake", "-S", ".", "-B", name, "-G", "Unix Makefiles", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options]
    code, _ = run(command, copy)
    database = copy / name / "compile_commands.json"
    if code != 0 or not database.is_file():
        return None
    entries: list[dict[str, str]] = json.loads(database.read_text("utf-8"))
    return entries


def _source(entry: dict[str, str]) -> str:
    return os.path.realpath(Path(entry["directory"], entry["file"]))


def _plain(entries: list[dict[str, str]], name: str) -> list[str]:
    return sorted(entry["command"].replace(name, "build") for entry in entries)


def _is_right(build: Path, entries: list[dict[str, str]], files: set[str], targets: Sequence[str]) -> bool:
    """Whether the ported build defines the macro where it must, and links the library wherever a target goes."""
    if not all("-DWARPSMITH" in entry["command"].split() for entry in entries if _source(entry) in files):
        return False
    for link in build.rglob("link.txt"):
        words = link.read_text("utf-8").split()
        holds = any(f"CMakeFiles/{t}.dir/" in w or Path(w).name in _archives(t) for t in targets for w in words)
        archive = any(re.search(r"(^|/)(gcc-)?ar$", word) for word in words[:1])
        if holds and not archive and not any(word == "-lwarpsmith" or Path(word).name == LIBRARY for word in words):
            return False
    return True


def _archives(target: str) -> tuple[str, ...]:
    return (f"lib{target}.a", f"lib{target}.so")
