"""Which source files and headers are text of the one file that includes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program

SCALE = "static void scale(double *a, int n) { for (int i = 0; i < n; i++) a[i] *= 2; }\n"


@pytest.mark.parametrize(("lines", "own"), [
    ('#include "parts/kernels.c"', True),
    ('#include "parts/../parts/kernels.c"', True),
    ('#include "parts/kernels.c"\n#define scale twice\n#include "parts/kernels.c"', False),
    ('#include "all.h"', False),
    ("#include <kernels.c>", False),
    ('#include "kernels.c"', False),
])  # fmt: skip
def test_a_file_is_its_includers_own(tmp_path: Path, lines: str, own: bool) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "kernels.c").write_text(SCALE)
    path = tmp_path / "main.c"
    path.write_text(f"{lines}\nint f(void) {{ return 1; }}\n")
    (tmp_path / "all.h").write_text('#include "parts/kernels.c"\n')
    (unit,) = load_program([str(path)], FrontOptions(arguments=(f"-I{tmp_path / 'parts'}",))).program.units
    assert [Path(file.path).name for file in unit.sources] == (["kernels.c"] if own else [])
    assert any(item.span.file.path.endswith("kernels.c") for item in unit.items) is own


def test_what_lies_outside_of_the_folder_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "main").mkdir()
    (tmp_path / "k.c").write_text(SCALE)
    path = tmp_path / "main" / "main.c"
    path.write_text('#include "../k.c"\n')
    (unit,) = load_program([str(path)], FrontOptions()).program.units
    assert not unit.sources


def test_what_another_file_includes_or_is_compiled_itself_is_no_one_s_own(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(SCALE)
    for name in ("a.c", "b.c"):
        (tmp_path / name).write_text('#include "k.c"\n')
    (tmp_path / "c.c").write_text("int c;\n")
    for names, own in ((["a.c", "c.c"], 1), (["a.c", "b.c"], 0), (["a.c", "k.c"], 0)):
        units = load_program([str(tmp_path / name) for name in names], FrontOptions()).program.units
        assert [len(unit.sources) for unit in units] == [own, 0]


def test_a_header_with_loops_is_its_includers_own(tmp_path: Path) -> None:
    (tmp_path / "kernels.h").write_text("#ifndef KERNELS_H\n#define KERNELS_H\n" + SCALE + "#endif\n")
    (tmp_path / "types.h").write_text("/* for all */ struct P { int for_all; };\n")
    one, other = tmp_path / "main.c", tmp_path / "other.c"
    one.write_text('#include "types.h"\n#include "kernels.h"\nint main(void) { return 0; }\n')
    (unit,) = load_program([str(one)], FrontOptions()).program.units
    assert [Path(file.path).name for file in unit.sources] == ["kernels.h"]
    other.write_text('#include "kernels.h"\nint g(void) { return 1; }\n')
    units = load_program([str(one), str(other)], FrontOptions()).program.units
    assert [unit.sources for unit in units] == [(), ()]
