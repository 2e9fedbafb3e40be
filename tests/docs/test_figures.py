"""Figures 1 to 3 and 5 to 7 of the first document, read back from the SVG files of the manual: areas by state."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from tests.docs.test_pages import PICTURES

Box = tuple[float, float, float, float, str]
_COLORS = {"#ffffff": "active", "#000000": "masked", "url(#stalled)": "stalled", "url(#ready)": "ready"}
LEFT = 110


def boxes(name: str) -> tuple[list[Box], dict[str, float]]:
    """Return what has a title, as x, y, width, height, state; and the heights at which words stand on the left."""
    found: list[Box] = []
    rows: dict[str, float] = {}
    for one in ElementTree.parse(PICTURES / f"{name}.svg").iter():
        if one.tag.endswith("}rect") and len(one):
            x, y, wide, high = (float(one.get(key, "")) for key in ("x", "y", "width", "height"))
            fill = one.get("fill", "")
            found.append((x, y, wide, high, _COLORS.get(fill, fill)))
        elif one.tag.endswith("}text") and re.match(r"slot|ALU", one.text or ""):
            rows[one.text or ""] = float(one.get("y", "")) - 4
    return found, rows


def share(name: str, row: str, states: str) -> float:
    """Return the share of a row's area that is in some state."""
    found, rows = boxes(name)
    own = [box for box in found if box[1] <= rows[row] < box[1] + box[3]]
    right = max(x + wide for x, _, wide, _, _ in found)
    return sum(wide for _, _, wide, _, state in own if re.fullmatch(states, state)) / (right - LEFT)


def test_figure_1_both_alus_are_taken() -> None:
    assert min(share("figure-1", f"ALU {n}", "#.*") for n in range(2)) > 0.95


def test_figure_2_the_second_alu_starves() -> None:
    assert share("figure-2", "ALU 0", "#.*") > 0.95 and share("figure-2", "ALU 1", "#.*") < 0.05


def test_figure_3_two_waves_almost_always_wait_and_in_turn_all_do() -> None:
    waits = [share("figure-3", f"slot {n}", "ready") for n in range(4)]
    assert max(waits[:2]) < 0.25 and min(waits[2:]) > 0.75
    fair = [share("figure-3-fair", f"slot {n}", "ready") for n in range(4)]
    assert max(fair) - min(fair) < 0.1 and 0.4 < max(fair) < 0.6


@pytest.mark.parametrize(
    ("name", "clocks", "masked"),
    [
        # two of eight instructions, half of the lanes
        ("mask-odd_lanes", 8, 2 * 16),
        # five instructions an iteration; lane 15 leaves first, lanes 16 to 31 never enter
        ("mask-up_to_16", 86, sum(5 * (16 + n) for n in range(16))),
        # two instructions for each half
        ("mask-two_halves", 8, 2 * 16 + 2 * 16),
    ],
)
def test_figures_5_to_7_mask_what_the_listings_imply(name: str, clocks: int, masked: int) -> None:
    found, _ = boxes(name)
    area = {state: sum(wide * high for _, _, wide, high, of in found if of == state) for state in ("active", "masked")}
    whole = area["active"] + area["masked"]
    assert abs(whole / (32 * clocks) - area["masked"] / masked) < 1e-9
