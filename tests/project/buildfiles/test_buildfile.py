"""Build files: what is not understood is left alone, and the user is told the lines to add."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.buildfiles.projects import project, run
from warpsmith.project.buildfiles.buildfile import edit_build, lines_to_add

NO_VARIABLES = "prog: main.c solver.c\n\tgcc -O2 -o prog main.c solver.c -lm\n"


@pytest.mark.parametrize(
    "makefile",
    [
        NO_VARIABLES,
        "prog:\n\t./build.sh\n",
        "prog: main.o\n\tcc -o prog main.o\n",
        "prog:\n\t$(error broken)\n",
        "a: b: c:\n",
    ],
    ids=["no variables", "script", "other files", "broken", "no makefile"],
)
def test_what_is_not_understood_is_left_alone(makefile: str, tmp_path: Path) -> None:
    folder = project(tmp_path / "p", makefile)
    assert edit_build(folder, ["solver.c"], "warpsmith", run) is None
    assert (folder / "Makefile").read_text() == makefile


def test_the_lines_to_add_name_the_files() -> None:
    said = "\n".join(lines_to_add(["src/a.c"], "warpsmith"))
    assert "-DWARPSMITH: src/a.c" in said
    assert "warpsmith/*.cu" in said
