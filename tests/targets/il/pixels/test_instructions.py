"""Instructions of pixel shaders: fetches, outputs, remainders."""

from __future__ import annotations

import pytest

from tests.targets.il.pixels.agree import written

OWN, GATHER = "sample_resource(0)_sampler(0)", "sample_resource(1)_sampler(0)"


def lines(value: str, *, translated: bool = False, result: str = "float") -> list[str]:
    """Return the instructions of a kernel that writes a value."""
    head = f"kernel void k(float a<>, float g[], float4 v[], float s, int n, out {result} o<>) "
    text = written(f"{head}{{ o = {value}; }}", "k", translated=translated).text
    return [one.strip() for one in text.partition("\n\n")[2].splitlines() if one.strip() not in ("endmain", "end")]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("a", [f"{OWN} r0, v0.xyyy", "mov o0.x___, r0.x"]),
        ("g[instance().x]", [f"{GATHER} r0, v0.x", "mov o0.x___, r0.x"]),
        ("g[s]", [f"{GATHER} r0, cb0[0].x", "mov o0.x___, r0.x"]),
        ("g[n]", ["itof r0.x___, cb0[0].x", f"{GATHER} r1, r0.x", "mov o0.x___, r1.x"]),
        (
            "fmod(a, s)",
            [f"{OWN} r0, v0.xyyy", "mod r1.x___, r0.x, cb0[0].x", "mov o0.x___, r1.x"],
        ),
        ("g[s] - g[s]", [f"{GATHER} r0, cb0[0].x", "sub r1.x___, r0.x, r0.x", "mov o0.x___, r1.x"]),
    ],
)
def test_an_instruction_is_as_people_write_it(value: str, wanted: list[str]) -> None:
    assert lines(value) == wanted


def test_vectors_are_fetched_whole_and_written_by_components() -> None:
    found = lines("v[n].wzyx", result="float4")
    assert sum(one.startswith("sample_resource") for one in found) == 1
    assert [one for one in found if " o0" in one] == [
        "mov o0.x___, r1.w", "mov o0._y__, r1.z", "mov o0.__z_, r1.y", "mov o0.___w, r1.x"
    ]  # fmt: skip


def test_a_translated_place_is_counted_in_rows() -> None:
    found = lines("g[n] + (float)instance().x", translated=True)
    assert any(one.startswith("udiv") for one in found) and any(one.startswith("imul") for one in found)
    assert f"{GATHER} r0, v0.xyyy" in lines("g[instance().x]", translated=True)
