"""Members of std::numeric_limits, as a compiler has them; std::size and its like."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Return
from warpsmith.tree.printing.printer import nothing, print_expr

HEAD = "#include <array>\n#include <cstdio>\n#include <iterator>\n#include <limits>\n#include <vector>\n"
TYPES = ("int", "unsigned", "long", "unsigned long", "long long", "float", "double")
LEFT = ("char", "short", "long double")


def _returned(tmp_path: Path, functions: str) -> list[str]:
    path = tmp_path / "limits.cpp"
    path.write_text(HEAD + functions)
    found = [f for _, f in load_program([str(path)], FrontOptions()).program.functions()]
    values = [f.body.statements[-1] for f in found if re.match("f\\d", f.symbol.name)]
    return [print_expr(v.value, nothing) for v in values if isinstance(v, Return) and v.value is not None]


def test_limits_are_those_of_a_compiler(tmp_path: Path) -> None:
    asked = [f"std::numeric_limits<{type}>::{name}()" for type in TYPES for name in ("max", "min", "lowest")]
    asked += [f"std::numeric_limits<{type}>::epsilon()" for type in ("float", "double")]
    made = _returned(tmp_path, "".join(f"auto f{n}() {{ return {text}; }}\n" for n, text in enumerate(asked)))
    assert len(made) == len(asked)
    assert not any("numeric_limits" in text for text in made)
    same = " && ".join(f"({text}) == {limit}" for text, limit in zip(made, asked, strict=True))
    types = " && ".join(f"sizeof({text}) == sizeof({limit})" for text, limit in zip(made, asked, strict=True))
    path = tmp_path / "check.cpp"
    path.write_text(f"{HEAD}int main() {{ return {same} && {types} ? 0 : 1; }}\n")
    subprocess.run(["g++", "-w", "-O0", "-o", str(tmp_path / "check"), str(path)], check=True)
    subprocess.run([str(tmp_path / "check")], check=True)


def test_what_has_no_literal_stays(tmp_path: Path) -> None:
    asked = [f"std::numeric_limits<{type}>::max()" for type in LEFT] + ["std::numeric_limits<double>::infinity()"]
    made = _returned(tmp_path, "".join(f"auto f{n}() {{ return {text}; }}\n" for n, text in enumerate(asked)))
    assert all("numeric_limits" in text for text in made)


def test_the_size_of_what_has_one(tmp_path: Path) -> None:
    asked = ("v", "*w", "h", "a", "p[0]")
    functions = (
        f"auto f{n}(std::vector<double> &v, std::vector<double> *w, std::array<int, 3> &h, double (*p)[5], int k)\n"
        f"{{ double a[4]; return std::size({text}); }}\n"
        for n, text in enumerate(asked)
    )
    assert _returned(tmp_path, "".join(functions)) == ["v.size()", "w->size()", "(size_t)3", "(size_t)4", "(size_t)5"]
