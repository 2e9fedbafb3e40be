"""Random loops with a linear recurrence, a last value or a search, and near misses of them, as one C program.

type × form of the next value × what is kept of it × direction
"""

from __future__ import annotations

import random

from msgspec import Struct

__all__ = ["RecurrenceLoop", "random_recurrences", "render_recurrences"]

SIZES = (0, 1, 64, 257, 900)
_MOST = 1000
_TYPES = ("int", "unsigned", "long", "unsigned char", "unsigned short", "double", "float")
_WHOLE = ("key[i] - y * (x[i] % 2)", "x[i] > 20 ? y + 1 : 0", "-(y - key[i])", "key[i] % 3 ? y + x[i] : x[i] * 2")
_WRAPS = (*_WHOLE, "y * 31 + key[i]", "(y + x[i]) * 3 - 7")
_REAL = ("0.5 * y + x[i]", "x[i] - y * 0.25", "(y + key[i]) / 4", "x[i] > 20 ? y * 0.5 : y * 0.25 + 1")
# the value before decides more than a factor and a summand can say
_BENT = ("(int)(y * y) % 7 + x[i]", "y > 50 ? y / 2 : y + 3", "x[i] / (y + 1000)", "y + x[(int)y & 7] * y")
_LAST = (
    ("if (x[i] % 7 == 3) y = x[i];", False), ("if (key[i] > 40) { y = i; z = x[i]; }", False),
    ("int t = x[i] - 5; if (t > 60) { if (key[i] & 1) y = t; }", False),
    ("if (x[i] > 90) continue; y = key[i];", False),
    ("if (x[i] % 7 == 3) y = x[i] - y;", True), ("if (x[i] > y) y = x[i] - 3;", True),
)  # fmt: skip
_SEARCH = (
    ("if (x[i] == wanted) { y = i; break; }", False), ("if (x[i] + key[i] > wanted) return i;", False),
    ("int t = key[i]; if (t != wanted % 40) continue; z = t; break;", False),
    ("if (x[i] == wanted) break; out[i] = 1;", True), ("if (x[key[i]] == wanted) { y = i; break; }", True),
    ("y += x[i]; if (y > 40 * wanted) break;", True),
)  # fmt: skip


class RecurrenceLoop(Struct, frozen=True):
    """One function `double name(int n)`; `misses`: its loop stays on the host."""

    name: str
    text: str
    misses: bool


def random_recurrences(seed: int, count: int) -> list[RecurrenceLoop]:
    """Return `count` functions."""
    source = random.Random(seed)
    return [_loop(source, f"f{number}") for number in range(count)]


def _loop(source: random.Random, name: str) -> RecurrenceLoop:
    type, misses = source.choice(_TYPES), source.random() < 0.25
    kind = source.choice(("recurrence", "recurrence", "in place", "last", "search"))
    header = "for (i = n - 1; i >= 0; i--)" if source.random() < 0.25 else "for (i = 0; i < n; i++)"
    if kind in ("last", "search"):
        type = "int"
        body, misses = source.choice(_LAST if kind == "last" else _SEARCH)
    else:
        whole = _WRAPS if "unsigned" in type and kind != "in place" else _WHOLE
        values = _BENT if misses else _REAL if type in ("double", "float") else whole
        body = f"y = {source.choice(values)};"
        body = source.choice((body, f"{body} out[i] = y;", f"out[i] = y; {body}"))
    if kind == "in place" and not misses:
        place = f"{'f' if type == 'float' else 'd'}[i]" if type in ("double", "float") else "w[i]"
        type = {"float": "float", "double": "double"}.get(type, "long")
        before = place.replace("[i]", "[i + 1]" if "i--" in header else "[i - 1]")
        header = header.replace("i = 0", "i = 1")
        body = body.split(";")[0].replace("y = ", f"{place} = ").replace("y", "@").replace("ke@", "key")
        body = body.replace("@", before) + ";"
    text = (
        f"static double {name}(int n)\n{{\n    {type} y = 3;\n    int z = 0, i, wanted = {source.randrange(120)};\n"
        f"    {header} {{\n        {body}\n    }}\n    return y + z * 3 + i + wanted;\n}}\n"
    )
    return RecurrenceLoop(name, text, misses)


def render_recurrences(loops: list[RecurrenceLoop]) -> str:
    """Return the program that calls every function with every size, and prints what it returns and leaves."""
    calls = "".join(f"    show({loop.name}, {size});\n" for loop in loops for size in SIZES)
    functions = "\n".join(loop.text for loop in loops)
    return f"""#include <stdio.h>
static int x[{_MOST}], key[{_MOST}];
static double out[{_MOST}], d[{_MOST}];
static float f[{_MOST}];
static long w[{_MOST}];
{functions}
static void show(double (*function)(int), int n)
{{
    double sum = 0;
    for (int i = 0; i < {_MOST}; i++) {{
        x[i] = i * 37 % 101;
        key[i] = i * 13 % 47;
        out[i] = d[i] = f[i] = w[i] = -9;
    }}
    double result = function(n);
    for (int i = 0; i < {_MOST}; i++)
        sum += out[i] + d[i] * 3 + f[i] * 5 + w[i] % 1000;
    printf("%.5g %.5g\\n", result, sum);
}}

int main(void)
{{
{calls}    return 0;
}}
"""
