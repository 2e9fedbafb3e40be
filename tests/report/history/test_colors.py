"""Colors of histories and of heat maps."""

from __future__ import annotations

from itertools import pairwise

from warpsmith.report.history.colors import HEAT_STEPS, PAINTS


def test_more_heat_is_lighter_whatever_colors_one_sees() -> None:
    ramp = [bytes.fromhex(PAINTS[f"heat{step}"].fill[1:]) for step in range(HEAT_STEPS)]
    light = [0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in ramp]
    assert all(high - low > 5 for low, high in pairwise(light))
    assert (PAINTS["heat0"].fill, PAINTS[f"heat{HEAT_STEPS - 1}"].fill) == ("#00224e", "#fee838")


def test_states_of_lanes_differ_without_color() -> None:
    states = [PAINTS[name] for name in ("active", "masked", "stalled", "ready", "empty")]
    assert len({(one.pattern, one.fill) for one in states}) == 5 and len({one.pattern for one in states[2:]}) == 3
