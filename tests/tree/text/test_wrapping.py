"""Long lines of generated text; of host text, clang-format itself is asked."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

import pytest
from benchmarks.host_text import STYLE
from hypothesis import given
from hypothesis import strategies as st

from warpsmith.tree.text.wrapping import wrap, wrap_aligned

NAMES = ("n", "width", "ws_gpu", "grid->stride", "(in.*ws_member(image_data_())).data()", "&sum", "weights.size()",
         "ws_gpu.on ? g->ny : 0", "a_rather_long_name_of_a_field", "p[i + 1]")  # fmt: skip
HEADS = ("if (!{}({}))", "WARPSMITH_ONLY(if (!{}({})))", "WARPSMITH_ONLY({}({});)", "{}({});",
         "struct ws_solver_data ws_gpu = {}({});", "WARPSMITH_ONLY(struct ws_solver_data ws_gpu = {}({});)",
         "WARPSMITH_ONLY(ws_gpu_done = {}({});)")  # fmt: skip


@given(st.lists(st.sampled_from(["alpha", "f(a, b)", '"x, y"', "(c && d)"]), min_size=1, max_size=30))
def test_wrapping_changes_blanks_only(parts: list[str]) -> None:
    line = "    call(" + ", ".join(parts) + ");"
    result = wrap(line, 40)
    assert "".join(result.split()) == "".join(line.split())
    assert all(len(piece) <= 40 for piece in result.split("\n"))


@given(
    st.lists(st.sampled_from(["alpha", "f(a, b)", "(c && d)", "a_long_name[i + 1]"]), min_size=1, max_size=20),
    st.sampled_from([", ", " && ", " || "]),
    st.text("abc_", min_size=1, max_size=24),
)
def test_what_goes_on_below_an_argument_comes_to_an_end(parts: list[str], between: str, name: str) -> None:
    line = f"if (!{name}({between.join(parts)}))"
    result = wrap_aligned(line, 40)
    assert "".join(result.split()) == "".join(line.split())
    assert all(piece.strip() for piece in result.split("\n"))


def test_a_line_of_the_preprocessor_is_never_broken() -> None:
    line = "    #pragma omp for private(a, b), shared(first, second, third) schedule(static, 4)"
    assert wrap(line, 40) == line
    assert "\n" in wrap(line.replace("#pragma", "pragma"), 40)
    assert wrap_aligned(line.strip(), 40) == line.strip()


def test_lines_are_broken_outside_of_parentheses_as_far_right_as_can_be() -> None:
    line = "  call(first, second(a, b), third) && other(c, d) || last(e);"
    assert wrap(line, 45) == "  call(first, second(a, b), third)\n      && other(c, d) || last(e);"
    assert wrap(line, 62) == line
    assert wrap("a" * 50, 20) == "a" * 50
    assert wrap("int a = 1; int b = 2;", 15) == "int a = 1;\n    int b = 2;"
    # without a list, at the signs of a sum
    assert wrap("total[i] = first[i] + second[i] * third[i];", 30) == "total[i] = first[i] +\n    second[i] * third[i];"
    assert wrap("x = condition ? first : second;", 24) == "x = condition ? first\n    : second;"


@pytest.mark.parametrize("line", ["// see ws_f_1(a), ws_f_1(b)", "/* ws_f_1(a), ws_f_1(b),", '"ws_f_1(a, b)"', ""])
def test_what_has_no_place_for_a_break_stays_whole(line: str) -> None:
    assert wrap_aligned(line, 10) == line


def formatted(lines: list[str]) -> list[str]:
    """Return what clang-format makes of statements, each of them in a function of its own."""
    text = "".join(f"void f{n}()\n{{\n    {line}\n        x();\n}}\n" for n, line in enumerate(lines))
    command = [str(Path(sysconfig.get_path("scripts")) / "clang-format"), f"--style={STYLE}", "--assume-filename=a.cpp"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return [body.split("{\n", 1)[1].rsplit("x();", 1)[0].rstrip() for body in done.split("\n}\n")[:-1]]


def call(head: str, number: int) -> str:
    """Return one of many statements with a long call."""
    arguments = (NAMES[(number * k + k // 3) % len(NAMES)] for k in range(1, 3 + number % 13))
    return head.format(f"ws_{'long_' * (number % 7)}name_{number}", ", ".join(arguments))


@pytest.mark.parametrize("head", HEADS)
def test_host_text_is_broken_where_clang_format_breaks_it(head: str) -> None:
    calls = [call(head, number) for number in range(300)]
    mine = ["\n".join(f"    {line}" for line in wrap_aligned(one, 116).split("\n")) for one in calls]
    different = [pair for pair in zip(mine, formatted(calls), strict=True) if pair[0] != pair[1]]
    assert not different, f"{len(different)} of {len(calls)}\n" + "\n\n".join("\n--\n".join(p) for p in different[:4])
