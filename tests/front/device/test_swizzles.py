"""Components of OpenCL's vectors, by their lanes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.conftest import parsed
from warpsmith.front.device.swizzles import components_in, find_named_lanes


@pytest.mark.parametrize(
    ("name", "lanes", "found"),
    [
        ("x", 4, (0,)), ("wzyx", 4, (3, 2, 1, 0)), ("xx", 2, (0, 0)), ("rgba", 4, (0, 1, 2, 3)), ("xg", 4, ()),
        ("z", 2, ()), ("s0", 2, (0,)), ("sF", 16, (15,)), ("S1a", 16, (1, 10)), ("s4", 4, ()), ("s", 4, ()),
        ("lo", 4, (0, 1)), ("hi", 4, (2, 3)), ("even", 8, (0, 2, 4, 6)), ("odd", 4, (1, 3)), ("hi", 3, (2, 3)),
        ("odd", 3, (1, 3)), ("lo", 2, (0,)), ("length", 4, ()), ("", 4, ()),
    ],
)  # fmt: skip
def test_names_of_lanes(name: str, lanes: int, found: tuple[int, ...]) -> None:
    assert find_named_lanes(name, lanes) == found


def test_a_macro_means_the_only_component_that_fits(tmp_path: Path) -> None:
    text = (
        "#define LOW(v) v.lo\n#define BOTH(v) (v.xy + v.zw)\n#define SAME(v) (v.xy + v.lo)\n#define DEEP(v) LOW(v)\n"
        "#define AT(v) (v->w)\n#define LOOP(v) LOOP(v)\nint x;\n"
    )
    context = parsed(tmp_path, text).context
    assert context is not None
    uses = {use: components_in(context, f"{use}(p)", 2, 4) for use in ("LOW", "BOTH", "SAME", "DEEP", "AT", "LOOP")}
    assert uses == {"LOW": "lo", "BOTH": "", "SAME": "xy", "DEEP": "lo", "AT": "", "LOOP": ""}
    assert components_in(context, "AT(p)", 1, 4) == "w" and components_in(context, "q.zw", 2, 4) == "zw"
