"""Ports beside pragmas that share a conditional with other code: right in the build at hand, no other one is made."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tree.in_place.test_edits import DONOR, MAIN, Words, printed
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.in_place.edits import Heads, in_place_text
from warpsmith.tree.in_place.versioned import InsertedText, Versioned
from warpsmith.tree.nodes import For, Launch, Stmt, Update
from warpsmith.tree.text.additions import remove_additions
from warpsmith.tree.walk import walk

PRAGMA = "#pragma omp parallel for\n"
# what stands before a loop, and which of its branches a build compiles
CONDITIONALS: dict[str, Callable[[bool, int], int]] = {
    f"#ifdef A\n    a[1] += x;\n{PRAGMA}#endif\n": lambda a, b: a,
    f"#if defined(A) && \\\n    B > 2\n    a[1] += x;\n{PRAGMA}#endif\n": lambda a, b: a and b > 2,
    f"#if B > 2\n    a[1] += 2 + x;\n#else\n    a[1] += x;\n{PRAGMA}#endif\n": lambda a, b: b <= 2,
    f"#ifdef A\n    a[1] += x;\n{PRAGMA}#else\n    a[1] += 2 + x;\n{PRAGMA}#endif\n": lambda a, b: 1 + a,
    f"#if B > 1\n#ifdef A\n    a[1] += x;\n#if B > 2\n{PRAGMA}#endif\n#endif\n#endif\n": lambda a, b: a and b > 2,
    f"#ifdef A\n    a[1] += x;\n{PRAGMA}#else\n    a[1] += 2 + x;\n#endif\n": lambda a, b: a,
    # the pragma has a conditional of its own: the port stands before it
    f"#ifdef A\n    a[1] += x;\n#endif\n#ifdef A\n{PRAGMA}#endif\n": lambda a, b: 0,
}
BUILDS: dict[tuple[str, ...], tuple[bool, int]] = {
    (): (False, 0),
    ("-DA", "-DB=2"): (True, 2),
    ("-DA", "-DB=3"): (True, 3),
}
LOOP = "    for (int i = 0; i < n - 1; i++)\n        a[i] += 5;\n"
TEXT = "void f(int x, int n, int *a)\n{\n" + "    a[0]++;\n".join(f"{c}{LOOP}" for c in CONDITIONALS) + "}\n"


def ported(text: str, flags: tuple[str, ...], folder: Path, *, updates: bool = False) -> str:
    """Return the text in which the loops are ported, as the build with `flags` has it."""
    path = folder / "a.c"
    path.write_text(DONOR + text)
    (unit,) = load_program([str(path)], FrontOptions(arguments=flags)).program.units
    function = unit.functions[1]
    versions, inserted = [], []
    for loop in (node for node in walk(function) if isinstance(node, For)):
        launch = Launch(span=loop.span, kernel="k", arguments=(), region="r")
        versions.append(Versioned(function, (loop,), (launch,), None))
        update = Update(span=loop.span, to_device=True, variable=None, address=None, bytes=None, cause=loop.span)
        inserted += [InsertedText(function, where, loop, (update,)) for where in ("before", "after")] if updates else []
    return in_place_text(unit, versions, inserted, Words(), Heads())


def errors(text: str, folder: Path, *flags: str) -> list[str]:
    """Return the lines on which a build for the GPU stops."""
    (folder / "b.c").write_text(text + MAIN)
    command = ["gcc", "-w", "-fsyntax-only", "-DWARPSMITH", *flags, "b.c"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return re.findall(r'error: #error "(.*)"', done.stderr)


@pytest.mark.parametrize("flags", BUILDS)
def test_the_port_is_in_every_build_for_the_gpu_that_there_is(flags: tuple[str, ...], tmp_path: Path) -> None:
    made = ported(TEXT, flags, tmp_path, updates=True)
    assert remove_additions(made) == DONOR + TEXT
    # the build at hand runs the user's lines where the device is not in use, else every port and what is around it
    before = printed(DONOR + TEXT, tmp_path, *flags)
    after = printed(made, tmp_path, *flags, "-fopenmp")
    assert [line.replace("update 1 ", "") for line in after[:2]] == before[:2]
    launched = "update 1 device 4 update 1 " * len(CONDITIONALS)
    assert all(line.startswith(launched) for line in after[2:])
    # a's first element counts the statements between the loops, its second what the conditionals do
    second = [line.removeprefix(launched)[2:] for line in after[2:]]
    assert second == [line[2:] for line in before[2:]]
    for other, macros in BUILDS.items():
        differs = [compiled(*macros) != compiled(*BUILDS[flags]) for compiled in CONDITIONALS.values()]
        # the pragma above the branch that was compiled is seen by builds with OpenMP alone, and no statement of theirs
        unseen = not flags and macros[0]
        assert len(errors(made, tmp_path, *other)) == sum(differs) - unseen, other


@pytest.mark.parametrize("flags", BUILDS)
def test_what_stands_before_a_loop_that_stays_is_compiled(flags: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(DONOR + TEXT)
    (unit,) = load_program([str(path)], FrontOptions(arguments=flags)).program.units
    function = unit.functions[1]
    ported: list[Stmt] = []
    for stmt in function.body.statements:
        launch = Launch(span=stmt.span, kernel="k", arguments=(), region="r")
        ported += (launch, stmt) if isinstance(stmt, For) else (stmt,)
    version = Versioned(function, function.body.statements, tuple(ported), None)
    made = in_place_text(unit, [version], [], Words(), Heads())
    assert remove_additions(made) == DONOR + TEXT
    before = printed(DONOR + TEXT, tmp_path, *flags)
    launched = "device 4 " * len(CONDITIONALS)
    assert printed(made, tmp_path, *flags, "-fopenmp") == [*before[:2], *(launched + line for line in before[2:])]


def test_the_line_says_what_is_missing(tmp_path: Path) -> None:
    said = [error.partition(": build")[0] for error in errors(ported(TEXT, ("-DA", "-DB=3"), tmp_path), tmp_path)]
    assert "ported as compiled with '#if B > 1', '#ifdef A', '#if B > 2'" in said
    assert "ported as compiled with '#if defined(A) && B > 2'" in said
    assert "ported as compiled without '#else' of '#if B > 2'" in said


@pytest.mark.parametrize("line", ["#error", "#define WARPSMITH_1"])
def test_seeded_a_check_that_is_lost(line: str, tmp_path: Path) -> None:
    made = ported(TEXT, ("-DA", "-DB=3"), tmp_path)
    wrong = re.sub(rf"{line}.*\n", "", made)
    stops = [[bool(errors(text, tmp_path, "-DA", b)) for b in ("-DB=3", "-DB=2")] for text in (made, wrong)]
    assert stops[0] == [False, True] != stops[1]


@pytest.mark.parametrize("defined", [True, False])
def test_what_the_file_decides_itself_needs_no_check(defined: bool, tmp_path: Path) -> None:
    conditional = f"#ifdef A\n    a[1] += x;\n{PRAGMA}#endif\n"
    decides = "#define A\n" if defined else "#undef A\n"
    text = f"{decides}void f(int x, int n, int *a)\n{{\n{conditional}{LOOP}}}\n"
    made = ported(text, (), tmp_path)
    assert remove_additions(made) == DONOR + text and "#error" not in made
    for flags in BUILDS:
        assert errors(made, tmp_path, *flags) == []
        before, after = (printed(one, tmp_path, *flags, "-fopenmp") for one in (DONOR + text, made))
        assert after[:1] == before[:1] and all(line.startswith("device 4 ") for line in after[-2:])
