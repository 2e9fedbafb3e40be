"""Random stencils as functions of one signature.

    void f0(int n, int m, int l, double *restrict C, const double *restrict A, const double *restrict D)

Nests of one, two or three loops store to C what they read around their own element of A and D, which have as many
dimensions, as arrays or as one row. Distances are not symmetric; some reads are in windows of loops inside, some under
conditions on counters; ranges are as long as arrays let them be, or shorter, and triangles.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import prod
from typing import Final

from msgspec import Struct

__all__ = ["SIZES", "Stencil", "elements", "program", "random_stencils"]

SIZES: Final = ((0, 3, 2), (1, 1, 1), (5, 4, 3), (7, 9, 8), (12, 17, 10), (19, 8, 13), (33, 34, 3))
"""What n, m and l are."""
_NAMES: Final = "ijk"
_EXTENTS: Final = "nml"
_ELEMENTS: Final = ("double", "double", "float", "int")
_COUNTERS: Final = ("int", "int", "int", "long")
_FARTHEST: Final = 3


class Stencil(Struct, frozen=True):
    """One function, with how many loops it has, and the types of its elements and sizes."""

    name: str
    text: str
    depth: int
    element: str
    counter: str


def random_stencils(seed: int, count: int) -> list[Stencil]:
    """Return `count` functions."""
    return [_function(random.Random(f"{seed} {number}"), f"f{seed}_{number}") for number in range(count)]


def elements(one: Stencil, size: tuple[int, int, int]) -> int:
    """Return how many elements an array has."""
    return prod(size[: one.depth])


def program(stencils: Sequence[Stencil]) -> str:
    """Return a program that calls every function at every size and prints what it leaves."""
    most = max(prod(size) for size in SIZES)
    kinds = sorted({one.element for one in stencils})
    data = "".join(f"static {kind} c_{kind}[{most}], a_{kind}[{most}], d_{kind}[{most}];\n" for kind in kinds)
    fill = "".join(
        f"        c_{kind}[i] = ({kind})((seed + i * 37) % 23) / 8;\n"
        f"        a_{kind}[i] = ({kind})((seed + i * 29) % 31 - 9) / 4;\n"
        f"        d_{kind}[i] = ({kind})((seed + i * 41) % 29 - 7) / 2;\n"
        for kind in kinds
    )
    sizes = ", ".join(f"{{{', '.join(map(str, size))}}}" for size in SIZES)
    calls = "".join(
        f"        fill(s);\n        {f.name}(sizes[s][0], sizes[s][1], sizes[s][2], (void *)c_{f.element},\n"
        f"            (void *)a_{f.element}, (void *)d_{f.element});\n"
        f'        printf("{f.name} %d %.17g\\n", s, digest_{f.element}());\n'
        for f in stencils
    )
    digests = "".join(
        f"static double digest_{kind}(void)\n{{\n    double d = 0;\n    for (int i = 0; i < {most}; i++)\n"
        f"        d = d * 0.99 + (double)c_{kind}[i];\n    return d;\n}}\n"
        for kind in kinds
    )
    texts = "\n".join(f.text for f in stencils)
    return (
        f"#include <stdio.h>\n{data}static const int sizes[][3] = {{{sizes}}};\n\n{texts}\n"
        f"static void fill(int seed)\n{{\n    for (int i = 0; i < {most}; i++) {{\n{fill}    }}\n}}\n{digests}"
        f"int main(void)\n{{\n    for (int s = 0; s < {len(SIZES)}; s++) {{\n{calls}    }}\n    return 0;\n}}\n"
    )


class _Form(Struct):
    """What one function is made of; `low` and `high`: how far its reads reach along each loop."""

    chosen: random.Random
    depth: int
    flat: bool
    low: list[int]
    high: list[int]

    def element(self, array: str, places: Sequence[str]) -> str:
        if not self.flat:
            return f"{array}{''.join(f'[{place}]' for place in places)}"
        total = places[0]
        for place, extent in zip(places[1:], _EXTENTS[1:], strict=False):
            total = f"({total}) * {extent} + {place}"
        return f"{array}[{total}]"

    def read(self, array: str) -> str:
        """Return a read at a random distance."""
        places: list[str] = []
        far = self.chosen.choice((1, 1, 2, _FARTHEST))
        for position in range(self.depth):
            distance = self.chosen.randint(-far, far) if self.chosen.random() < 0.6 else 0
            places.append(_plus(_NAMES[position], distance))
            self.low[position] = min(self.low[position], distance)
            self.high[position] = max(self.high[position], distance)
        return self.element(array, places)

    def window(self, array: str, counter: str) -> list[str]:
        """Return loops that sum up a window."""
        first, last = self.chosen.randint(-2, 1), self.chosen.randint(0, 2)
        last = max(first, last)
        position, sign = self.chosen.randrange(self.depth), self.chosen.choice("++-")
        ends = (first, last) if sign == "+" else (-last, -first)
        self.low[position], self.high[position] = min(self.low[position], ends[0]), max(self.high[position], ends[1])
        places = [_NAMES[k] if k != position else f"{_NAMES[k]} {sign} w" for k in range(self.depth)]
        return [f"for ({counter} w = {first}; w <= {last}; w++)", f"    s += {self.element(array, places)};"]


def _function(chosen: random.Random, name: str) -> Stencil:
    depth = chosen.choice((1, 2, 2, 2, 3))
    form = _Form(chosen, depth, chosen.random() < 0.3, [0] * depth, [0] * depth)
    element, counter = chosen.choice(_ELEMENTS), chosen.choice(_COUNTERS)
    arrays = ["A"] if chosen.random() < 0.6 else ["A", "D"]
    lines = [f"{element} s = {form.element('D', list(_NAMES[:depth])) if chosen.random() < 0.3 else '0'};"]
    reads = [form.read(chosen.choice(arrays)) for _ in range(chosen.randint(2, 6))]
    weights = ("", "2 * ", "(n + 1) * ")
    lines.append(f"s += {' + '.join(chosen.choice(weights) + one for one in reads)};")
    if chosen.random() < 0.3:
        lines += form.window("A", counter)
    if chosen.random() < 0.2:
        lines += [f"if ({chosen.choice(('i > 4', 'i >= n - 5', 'n > m', f'{_NAMES[depth - 1]} < 6'))})",
                  f"    s -= {form.read('A')};"]  # fmt: skip
    lines.append(f"{form.element('C', list(_NAMES[:depth]))} {chosen.choice(('=', '=', '+='))} s;")
    headers = [_header(form, position, counter) for position in range(depth)]
    indent = "    " * (depth + 1)
    nest = "".join(f"{'    ' * (k + 1)}{header}\n" for k, header in enumerate(headers))
    body = "".join(f"{indent}{line}\n" for line in lines)
    text = f"{_head(name, element, counter, form)}{{\n{nest[:-1]} {{\n{body}{indent[4:]}}}\n}}\n"
    return Stencil(name, text, depth, element, counter)


def _header(form: _Form, position: int, counter: str) -> str:
    """Return a loop whose reads all lie inside the arrays."""
    name, extent = _NAMES[position], _EXTENTS[position]
    first = -form.low[position] + form.chosen.choice((0, 0, 1, 3))
    left = form.high[position] + form.chosen.choice((0, 0, 1, 2))
    start = str(first)
    if position and form.chosen.random() < 0.15:
        # a triangle
        start = f"{_NAMES[position - 1]} + {max(first, 1)}"
    return f"for ({counter} {name} = {start}; {name} < {_plus(extent, -left)}; {name}++)"


def _head(name: str, element: str, counter: str, form: _Form) -> str:
    sizes = f"{counter} n, {counter} m, {counter} l"
    if form.flat or form.depth == 1:
        kinds = [f"{element} *restrict C", f"const {element} *restrict A", f"const {element} *restrict D"]
    else:
        inner = "".join(f"[{extent}]" for extent in _EXTENTS[1 : form.depth])
        kinds = [f"{word}{element} {array}[restrict n]{inner}" for word, array in (("", "C"), ("const ", "A"),
                                                                                    ("const ", "D"))]  # fmt: skip
    return f"void {name}({sizes}, {', '.join(kinds)})\n"


def _plus(name: str, distance: int) -> str:
    if not distance:
        return name
    return f"{name} {'+' if distance > 0 else '-'} {abs(distance)}"
