"""Random programs that see one array in several shapes: flat over a product of sizes, as rows, with a leading
dimension, behind a halo, as a cube or as pixels; by macro or written out, in one function and across functions.

Each allocates its arrays for sizes that it is given at run time, runs a few loop nests over them, and prints sums.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from msgspec import Struct

__all__ = ["NATURAL", "render_views"]

NATURAL = "17 19 5"
"""The arguments of a run at natural sizes: rows, columns, planes."""

_INT = "int", "size_t", "long"


class Shape(Struct, frozen=True):
    """How an array is allocated, and the ways to see it: (loops as (counter, bound), subscript)."""

    extent: str
    views: tuple[tuple[tuple[tuple[str, str], ...], str], ...]


def _shapes(product: Callable[..., str]) -> dict[str, Shape]:
    """Return the shapes of arrays; `product` writes a product of sizes in the program's way."""
    rows, columns = ("i", "n"), ("j", "m")
    area, padded, halo = product("n", "m"), product("n", "lda"), product("(n + 2)", "(m + 2)")
    volume, pixels = product("n", "m", "d"), product("n", "m", "3")
    return {
        "rows": Shape(
            area,
            (
                ((("i", area),), "i"),
                ((rows, columns), "i*m + j"),
                ((columns, rows), "i*m + j"),
                ((columns,), "j"),
            ),
        ),
        "macro": Shape(area, (((("i", area),), "i"), ((rows, columns), "IDX(i, j)"), ((rows,), "IDX(i, 0)"))),
        "leading": Shape(padded, (((("i", padded),), "i"), ((rows, columns), "i*lda + j"), ((rows,), "i*lda"))),
        "halo": Shape(halo, (((("i", halo),), "i"), ((rows, columns), "(i + 1)*(m + 2) + j + 1"))),
        "cube": Shape(
            volume,
            (
                ((("i", volume),), "i"),
                ((rows, columns, ("k", "d")), "(i*m + j)*d + k"),
                ((rows, columns, ("k", "d")), "CUBE(i, j, k)"),
                ((rows, ("j", product("m", "d"))), "i*(m*d) + j"),
            ),
        ),
        "pixels": Shape(
            pixels,
            (
                ((("i", pixels),), "i"),
                ((rows, columns, ("k", "3")), "(i*m + j)*3 + k"),
                ((rows, columns), "(i*m + j)*3 + 1"),
            ),
        ),
    }


def render_views(seed: int) -> str:
    """Return a program; the same one for the same seed."""
    rng = random.Random(seed)
    wide = rng.random() < 0.4
    shape = rng.choice(list(_shapes(lambda *sizes: "").items()))[0]
    shapes = _shapes(lambda *sizes: ("(size_t)" if wide else "") + "*".join(sizes))
    kinds = [shape, *(rng.choice(list(shapes)) for _ in range(rng.randint(0, 1)))]
    arrays = [(name, shapes[kind]) for kind, name in zip([*kinds, kinds[0]], "abc", strict=False)]
    functions: list[str] = []
    body = [line for _ in range(rng.randint(3, 5)) for line in _stage(rng, arrays, functions)]
    made = [
        f"    double *{name} = malloc({'' if wide else '(size_t)'}{s.extent} * sizeof *{name});" for name, s in arrays
    ]
    cleared = [f"    for (size_t i = 0; i < {s.extent}; i++) {name}[i] = i % 7;" for name, s in arrays]
    sums = [line for name, s in arrays for line in _sum(name, s.extent)]
    return "\n".join(
        [
            "#include <stdio.h>",
            "#include <stdlib.h>",
            "#define IDX(i, j) ((i)*m + (j))",
            "#define CUBE(i, j, k) (((i)*m + (j))*d + (k))",
            *functions,
            "int main(int argc, char **argv)",
            "{",
            "    int n = argc > 1 ? atoi(argv[1]) : 6, m = argc > 2 ? atoi(argv[2]) : 7;",
            "    int d = argc > 3 ? atoi(argv[3]) : 3, lda = m + 3;",
            *made,
            *cleared,
            *body,
            "    double total = 0;",
            *sums,
            *(f"    free({name});" for name, _ in arrays),
            "    return 0;",
            "}",
            "",
        ]
    )


def _stage(rng: random.Random, arrays: list[tuple[str, Shape]], functions: list[str]) -> Iterator[str]:
    """Yield one loop nest over one array, here or in a function of its own; another array of its shape may be read."""
    target, shape = rng.choice(arrays)
    loops, subscript = rng.choice(shape.views)
    others = [name for name, other in arrays if name != target and other is shape]
    source = rng.choice([*others, target])
    counter = rng.choice(_INT)
    weights = " + ".join(f"{k + 2}*{name}" for k, (name, _) in enumerate(loops))
    written = f"{target}[{subscript}] = {source}[{subscript}]*0.5 + ({weights}) % 11;"
    nest: list[str] = []
    for depth, (name, bound) in enumerate(loops):
        kind = counter if depth == 0 and len(loops) == 1 else "int"
        nest.append(f"{'    ' * (depth + 1)}for ({kind} {name} = 0; {name} < {bound}; {name}++)")
    nest.append(f"{'    ' * (len(loops) + 1)}{written}")
    if rng.random() < 0.6:
        yield from nest
        return
    used = [f"double *{target}", *([f"const double *{source}"] if source != target else [])]
    sizes = "int n, int m, int d, int lda"
    number = len(functions)
    functions.append("\n".join([f"static void stage{number}({', '.join(used)}, {sizes})", "{", *nest, "}"]))
    handed = ", ".join(dict.fromkeys((target, source)))
    yield f"    stage{number}({handed}, n, m, d, lda);"


def _sum(name: str, extent: str) -> Iterator[str]:
    yield "    total = 0;"
    yield f"    for (size_t i = 0; i < {extent}; i++) total = total*0.5 + {name}[i];"
    yield f'    printf("{name} %.17g\\n", total);'
