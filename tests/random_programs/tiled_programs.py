"""Random nests with reads that threads of a block share, as functions of one signature.

    void f0(int n, int m, double C[restrict n][n], const double A[restrict n][m], const double B[restrict m][n],
            const double P[restrict n][n], const double x[restrict m])

Ranges are rectangles and triangles, loops of the thread run over m, over n, or to the thread's own counters; what is
summed up is kept in the element or beside it; the loop stands under conditions and in other loops, alone or with a
second one; counters are int, unsigned or 64 bits wide, elements float, double or int.
"""

from __future__ import annotations

import random

from msgspec import Struct

__all__ = [
    "SIZES",
    "TiledFunction",
    "chosen_function",
    "falling_function",
    "program",
    "random_functions",
    "scaled_function",
]

SIZES = ((0, 5), (1, 0), (3, 1), (15, 16), (16, 17), (18, 33), (33, 8), (40, 40))
_ELEMENTS = ("double", "double", "float", "int")
_COUNTERS = ("int", "int", "unsigned", "long", "size_t")
_RANGES = (
    ("i = 0; i < n", "j = 0; j < n"),
    ("i = 0; i < n", "j = 0; j <= i"),
    ("i = 0; i < n", "j = i; j < n"),
    ("i = 1; i < n", "j = 0; j < n"),
    ("i = 2; i <= n - 1", "j = 1; j < i"),
    ("i = 0; i < n", "j = i + 1; j < n"),
    ("i = 0; i < n; i += 2", "j = 0; j < n"),
    ("i = 0; i < n; i += 2", "j = 0; j <= i"),
    ("i = n - 1; i >= 0; i--", "j = 0; j < n"),
    ("i = n - 1; i >= 0; i--", "j = 0; j <= i"),
)
_WIDE = ("k = 0; k < m", "k = 0; k <= m - 1", "k = 1; k < m")
_SQUARE = ("k = 0; k < n", "k = 0; k < i", "k = i; k < n", "k = 0; k <= j", "k = j + 1; k < n", "k = i; k <= i + 3")
_OF_WIDE = ("A[i][k]", "A[j][k]", "B[k][j]", "B[k][i]", "x[k]", "A[i][k]", "B[k][j]")
_OF_SQUARE = ("P[i][k]", "P[j][k]", "P[k][j]", "P[k][i]", "P[i][k]", "P[k][j]")


_FACTORS = {"double": "1.5 * ", "float": "1.5f * "}
"""Values of the elements' type, whose products with elements a tile may have."""


class TiledFunction(Struct, frozen=True):
    """One function, with the types of its elements and its sizes."""

    name: str
    text: str
    element: str
    counter: str


def random_functions(seed: int, count: int) -> list[TiledFunction]:
    """Return `count` functions."""
    return [_function(random.Random(f"{seed} {number}"), f"f{number}") for number in range(count)]


def falling_function(name: str) -> TiledFunction:
    """Return a triangle whose rows are counted downwards: the first thread of a block has the last row of it."""
    nest = (
        "    for (int i = n - 1; i >= 0; i--)\n        for (int j = 0; j <= i; j++)\n"
        "            for (int k = 0; k < m; k++)\n                C[i][j] += B[k][j];\n"
    )
    return TiledFunction(name, f"{_head(name, 'double', 'int')}{{\n{nest}}}\n", "double", "int")


def scaled_function(name: str) -> TiledFunction:
    """Return a function whose tiles have products of elements and a value."""
    nest = (
        "    for (int i = 0; i < n; i++)\n        for (int j = 0; j < n; j++)\n"
        "            for (int k = 0; k < m; k++)\n"
        "                C[i][j] += 1.5 * A[i][k] * B[k][j];\n"
    )
    # elements that are const are of another type than the product
    head = _head(name, "double", "int").replace("const ", "")
    return TiledFunction(name, f"{head}{{\n{nest}}}\n", "double", "int")


def chosen_function(name: str) -> TiledFunction:
    """Return a function that sums up in some iterations, and stores in all."""
    nest = (
        "    for (int i = 0; i < n; i++)\n        for (int j = 0; j < n; j++) {\n            double s = 0.5;\n"
        "            if (j > 3)\n                for (int k = 0; k < m; k++)\n"
        "                    s += A[i][k] - B[k][j];\n            C[i][j] = s;\n        }\n"
    )
    return TiledFunction(name, f"{_head(name, 'double', 'int')}{{\n{nest}}}\n", "double", "int")


def program(functions: list[TiledFunction]) -> str:
    """Return a program that calls every function at every size and prints what it leaves."""
    most = max(size for pair in SIZES for size in pair) + 4
    kinds = sorted({one.element for one in functions})
    data = "".join(f"static {kind} c_{kind}[{most * most}], a_{kind}[{most * most}];\n" for kind in kinds)
    fill = "".join(
        f"        c_{kind}[i] = ({kind})((seed + i * 37) % 23) / 8;\n"
        f"        a_{kind}[i] = ({kind})((seed + i * 29) % 31 - 9) / 4;\n"
        for kind in kinds
    )
    sizes = ", ".join(f"{{{n}, {m}}}" for n, m in SIZES)
    calls = "".join(
        f"        fill(s);\n        {f.name}(sizes[s][0], sizes[s][1], (void *)c_{f.element}, (void *)a_{f.element},\n"
        f"            (void *)(a_{f.element} + 1), (void *)(a_{f.element} + 2), (void *)(a_{f.element} + 3));\n"
        f'        printf("{f.name} %d %.17g\\n", s, digest_{f.element}());\n'
        for f in functions
    )
    digests = "".join(
        f"static double digest_{kind}(void)\n{{\n    double d = 0;\n    for (int i = 0; i < {most * most}; i++)\n"
        f"        d = d * 0.99 + (double)c_{kind}[i];\n    return d;\n}}\n"
        for kind in kinds
    )
    texts = "\n".join(f.text for f in functions)
    return (
        f"#include <stddef.h>\n#include <stdio.h>\n{data}static const int sizes[][2] = {{{sizes}}};\n\n{texts}\n"
        f"static void fill(int seed)\n{{\n    for (int i = 0; i < {most * most}; i++) {{\n{fill}    }}\n}}\n{digests}"
        f"int main(void)\n{{\n    for (int s = 0; s < {len(SIZES)}; s++) {{\n{calls}    }}\n    return 0;\n}}\n"
    )


def _function(chosen: random.Random, name: str) -> TiledFunction:
    element, counter = chosen.choice(_ELEMENTS), chosen.choice(_COUNTERS)
    rows, columns = chosen.choice(_RANGES)
    if counter in ("unsigned", "size_t"):
        # n - 1 is not below 0 there
        rows = rows.replace("i <= n - 1", "i < n").replace("i = n - 1; i >= 0; i--", "i = 0; i < n")
    rows = rows if rows.count(";") == 2 else f"{rows}; i++"
    body = _body(chosen, element, counter)
    text = (
        f"{_head(name, element, counter)}{{\n"
        f"    for ({counter} {rows})\n        for ({counter} {columns}; j++) {{\n{body}        }}\n}}\n"
    )
    return TiledFunction(name, text, element, counter)


def _head(name: str, element: str, counter: str) -> str:
    return (
        f"void {name}({counter} n, {counter} m, {element} C[restrict n][n], const {element} A[restrict n][m],\n"
        f"    const {element} B[restrict m][n], const {element} P[restrict n][n], const {element} x[restrict m])\n"
    )


def _body(chosen: random.Random, element: str, counter: str) -> str:
    target = chosen.choice(("C[i][j]", "C[i][j]", "s"))
    lines = [f"{element} s = {chosen.choice(('0', '1'))};"] if target == "s" else []
    if chosen.random() < 0.4:
        lines.append(f"{target} *= {chosen.choice(('3', '2'))};")
    for _ in range(chosen.choice((1, 1, 1, 2))):
        lines += _around(chosen, _loop(chosen, target, (element, counter)), counter)
    if chosen.random() < 0.3:
        lines.append(f"{target} += {chosen.choice(('1', 'P[i][j]'))};")
    if target == "s":
        lines.append(f"C[i][j] {chosen.choice(('=', '+='))} s;")
    return "".join(f"            {line}\n" for line in lines)


def _loop(chosen: random.Random, target: str, types: tuple[str, str]) -> list[str]:
    element, counter = types
    wide = chosen.random() < 0.6
    header = chosen.choice(_WIDE if wide else _SQUARE)
    if counter in ("unsigned", "size_t"):
        header = header.replace("k <= m - 1", "k < m")
    if header.endswith("i + 3"):
        header = header.replace("k <= i + 3", "k < n && 1").replace("k < n && 1", "k < n")
    reads = [chosen.choice(_OF_WIDE if wide else _OF_SQUARE) for _ in range(chosen.choice((1, 2, 2, 3)))]
    factor = chosen.choice(("", "", _FACTORS.get(element, "3 * "), "(k + 1) * "))
    lines = [f"for ({counter} {header}; k++)", f"    {target} += {factor}{' * '.join(reads)};"]
    if chosen.random() < 0.2:
        more = chosen.choice(_OF_WIDE if wide else _OF_SQUARE)
        lines[0] += " {"
        lines += [f"    {target} -= {more};", "}"]
    return lines


def _around(chosen: random.Random, lines: list[str], counter: str) -> list[str]:
    drawn = chosen.random()
    if drawn < 0.15:
        return [f"if ({chosen.choice(('P[i][j] > 1', 'n > 4', 'i % 2 == 0'))}) {{", *lines, "}"]
    if drawn < 0.3:
        return [f"for ({counter} t = 0; t < {chosen.choice(('2', '3'))}; t++)", *(f"    {line}" for line in lines)]
    return lines
