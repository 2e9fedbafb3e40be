"""Names of functions in device code: an instance of a template has one of its own where its arguments are said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.emit.device.test_device import kernel_of
from warpsmith.emit.device.device import device_section
from warpsmith.emit.words import choose_support
from warpsmith.front.load import FrontOptions, load_program

TEXT = """
template <int UP> static int level(int x) { int y = x; if (x > 3) y += UP; return y; }
template <typename T> static T twice(T x) { T y = x; if (x > 3) y += x; return y; }
static int plain(int x) { int y = x; if (x > 3) y++; return y; }
"""


def functions(statement: str, folder: Path, *, prefix: str = "") -> tuple[dict[str, int], str]:
    """Return how often the functions of a kernel's device code are defined, and what the kernel says."""
    file = folder / "a.cpp"
    file.write_text(f"{TEXT}void f(int *a, int n, int level_1) {{ {statement} }}\n")
    loaded = load_program([str(file)], FrontOptions())
    assert not loaded.findings, loaded.findings
    program = loaded.program
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    made = device_section(program, program.units[0], (kernel_of(function, 0),), choose_support(program), prefix)
    heads = re.findall(r"static __device__ \w+ (\w+)\(.*\)[^;]*$", made.device, re.MULTILINE)
    line = next(line for line in made.device.splitlines() if "a[0] =" in line)
    return {name: heads.count(name) for name in heads}, line.strip("{} ")


@pytest.mark.parametrize(
    ("statement", "names", "line"),
    [
        ("a[0] = level<0>(n);", {"level_0"}, "a[0] = level_0(n);"),
        ("a[0] = level<0>(n) + level<2>(n);", {"level_0", "level_2"}, "a[0] = level_0(n) + level_2(n);"),
        # a parameter has the name already
        ("a[0] = level<1>(n) + level_1;", {"level_1_"}, "a[0] = level_1_(n) + level_1;"),
        ("a[0] = twice<int>(n);", {"twice_int"}, "a[0] = twice_int(n);"),
        ("a[0] = plain(n);", {"plain"}, "a[0] = plain(n);"),
        # the arguments tell these apart
        ("a[0] = twice(n) + (int)twice(0.5f);", {"twice"}, "a[0] = twice(n) + (int)twice(0.5f);"),
    ],
)
def test_the_names_of_instances(statement: str, names: set[str], line: str, tmp_path: Path) -> None:
    found, said = functions(statement, tmp_path)
    assert set(found) == names
    assert said == line


def test_a_prefix_goes_before_all_names(tmp_path: Path) -> None:
    found, said = functions("a[0] = level<0>(n) + plain(n);", tmp_path, prefix="mine_")
    assert set(found) == {"mine_level_0", "mine_plain"} and said == "a[0] = mine_level_0(n) + mine_plain(n);"
