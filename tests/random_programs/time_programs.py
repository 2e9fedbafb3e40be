"""Random loops over time steps with two stencils, from one array to another and back, as functions of one signature.

    void f0(int n, int m, int l, double *restrict A, double *restrict B, const double *restrict D)

Nests of one, two or three loops, with the same range, which leaves elements around it that are never stored; distances
are not symmetric, either nest has its own; arrays of as many dimensions, or one row; what else is read is an element of
D, a size, a counter.
"""

from __future__ import annotations

import random
from typing import Final

from msgspec import Struct

__all__ = ["SIZES", "TimeLoop", "random_time_loops"]

SIZES: Final = ((0, 3, 2), (3, 3, 3), (6, 5, 7), (9, 8, 7), (14, 19, 6), (21, 9, 11), (40, 37, 5))
"""What n, m and l are."""
_NAMES: Final = "ijk"
_EXTENTS: Final = "nml"
_ELEMENTS: Final = ("double", "double", "float", "int")


class TimeLoop(Struct, frozen=True):
    """One function whose loop over time steps runs `iterations` x `passes` + 1 times, in a `block` along x, y and z."""

    name: str
    text: str
    depth: int
    element: str
    iterations: int
    passes: int
    block: tuple[int, ...]

    @property
    def loop(self) -> str:
        """The address of the loop over time steps."""
        return f"{self.name}/t{self.name[1:]}"


def random_time_loops(seed: int, count: int) -> list[TimeLoop]:
    """Return `count` functions."""
    return [_function(random.Random(f"time {seed} {number}"), f"f{seed}_{number}") for number in range(count)]


def _function(chosen: random.Random, name: str) -> TimeLoop:
    depth, flat = chosen.choice((1, 2, 2, 2, 3)), chosen.random() < 0.25
    element = chosen.choice(_ELEMENTS)
    iterations, passes = chosen.choice((1, 1, 2, 3)), chosen.choice((2, 2, 4))
    low, high = [0] * depth, [0] * depth
    bodies = [_value(chosen, array, depth, flat, (low, high)) for array in "AB"]
    ranges = [
        (str(-low[k] + chosen.choice((0, 0, 1))), f"{_EXTENTS[k]} - {high[k] + chosen.choice((0, 0, 1))}")
        for k in range(depth)
    ]
    nests = ""
    for target, value in zip("BA", bodies, strict=True):
        for k, (first, past) in enumerate(ranges):
            nests += f"{'    ' * (k + 2)}for (int {_NAMES[k]} = {first}; {_NAMES[k]} < {past}; {_NAMES[k]}++)\n"
        nests += f"{'    ' * (depth + 2)}{_element(target, list(_NAMES[:depth]), flat)} = {value};\n"
    steps = iterations * passes + 1
    # names that a step makes of it are new in all of a file
    counter = f"t{name[1:]}"
    header = f"for (int {counter} = 0; {counter} < {steps}; {counter}++)"
    text = f"{_head(name, element, depth, flat)}{{\n    {header} {{\n{nests}    }}\n}}\n"
    # a draw of its own: the programs of a seed stay what they were
    if random.Random(f"outside {name}").random() < 0.3:
        counters = ", ".join((counter, *_NAMES[:depth]))
        text = text.replace("for (int ", "for (").replace("{\n", f"{{\n    int {counters};\n", 1)
    block = chosen.choice({1: ((8,), (16,)), 2: ((8, 4), (4, 8), (16, 1), (16, 16)), 3: ((4, 4, 2), (8, 2, 2))}[depth])
    return TimeLoop(name, text, depth, element, iterations, passes, block)


def _value(chosen: random.Random, array: str, depth: int, flat: bool, reach: tuple[list[int], list[int]]) -> str:
    """Return what is stored: a sum of neighbors in an array, and sometimes of what else there is."""
    low, high = reach
    terms: list[str] = []
    far = chosen.choice((1, 1, 1, 2))
    for _ in range(chosen.randint(1, 5)):
        places: list[str] = []
        for k in range(depth):
            distance = chosen.randint(-far, far) if chosen.random() < 0.5 else 0
            places.append(_NAMES[k] if not distance else f"{_NAMES[k]} {'+' if distance > 0 else '-'} {abs(distance)}")
            low[k], high[k] = min(low[k], distance), max(high[k], distance)
        terms.append(chosen.choice(("", "", "3 * ")) + _element(array, places, flat))
    if chosen.random() < 0.3:
        terms.append(_element("D", list(_NAMES[:depth]), flat))
    if chosen.random() < 0.3:
        terms.append(chosen.choice(("n", "i", f"2 * {_NAMES[depth - 1]}")))
    return f"({' + '.join(terms)}) / 4"


def _element(array: str, places: list[str], flat: bool) -> str:
    if not flat:
        return f"{array}{''.join(f'[{place}]' for place in places)}"
    total = places[0]
    for place, extent in zip(places[1:], _EXTENTS[1:], strict=False):
        total = f"({total}) * {extent} + {place}"
    return f"{array}[{total}]"


def _head(name: str, element: str, depth: int, flat: bool) -> str:
    if flat or depth == 1:
        kinds = [f"{element} *restrict A", f"{element} *restrict B", f"const {element} *restrict D"]
    else:
        inner = "".join(f"[{extent}]" for extent in _EXTENTS[1:depth])
        kinds = [
            f"{word}{element} {array}[restrict n]{inner}" for word, array in (("", "A"), ("", "B"), ("const ", "D"))
        ]
    return f"void {name}(int n, int m, int l, {', '.join(kinds)})\n"
