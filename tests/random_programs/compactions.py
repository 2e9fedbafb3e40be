"""Random loops that keep some elements, one behind the other, and near misses of such loops, as one C program.

condition × way to get there (if, continue, else, helper, temporary) × what is stored × counter × what is wrong
"""

from __future__ import annotations

import random

from msgspec import Struct

__all__ = ["CompactionLoop", "random_compactions", "render_compactions"]

SIZES = (0, 1, 63, 257, 900)
_MOST = 1000
_COUNTERS = ("int", "int", "long", "unsigned", "size_t")
_CONDITIONS = ("x[i] > 20", "x[i] % 3 == 1", "x[i] != x[i + 1]", "odd(x[i])", "key[i] < x[i] && i % 5", "!(x[i] & 4)")
# what an iteration does with a kept element; {k}++ stands where it counts
_STORES = (
    "out[{k}++] = x[i];", "out[{k}] = i; {k}++;", "out[{k}] = x[i]; at[{k}] = i; {k} += 1;",
    "out[2 * {k}] = i; out[2 * {k} + 1] = x[i]; {k} = {k} + 1;", "out[++{k}] = x[i] - i;",
    "out[{k}++] = i; out[{k}++] = -x[i];", "long place = {k}++; out[place] = x[i]; at[place] += 2;",
    "out[{k}] = 0; for (int j = 0; j < 3; j++) out[{k}] += x[i + j]; {k}++;", "*o++ = x[i]; {k}++;", "*o = i; o += 2;",
)  # fmt: skip
# iterations that may meet, or that need what earlier ones kept: none of these may become threads
_MISSES = (
    "out[{k}] = x[i]; out[{k} + 1] = -1; {k}++;", "if ({k} > 0) out[{k} - 1] += 1; out[{k}++] = i;",
    "x[{k}++] = x[i];", "if ({k} < 9) out[{k}++] = x[i];", "out[{k}] = x[i]; {k} += x[i] % 2;",
    "out[{k}++] = x[i]; if (x[i] == 33) {k} = 0;", "*o++ = x[i]; if (o > out + 50) o = out;",
    "out[{k}] = x[i]; {k}++; out[{k}] = 5;",
)  # fmt: skip


class CompactionLoop(Struct, frozen=True):
    """One function `long name(int n)`; `misses`: its iterations are no threads."""

    name: str
    text: str
    misses: bool


def random_compactions(seed: int, count: int) -> list[CompactionLoop]:
    """Return `count` functions."""
    source = random.Random(seed)
    return [_loop(source, f"f{number}") for number in range(count)]


def _loop(source: random.Random, name: str) -> CompactionLoop:
    misses = source.random() < 0.3
    store = source.choice(_MISSES if misses else _STORES).replace("{k}", "k")
    condition = source.choice(_CONDITIONS)
    downwards = source.random() < 0.25
    header = "for (int i = n - 1; i >= 0; i--)" if downwards else "for (int i = 0; i < n; i++)"
    body = _body(source, condition, store)
    counter, first = source.choice(_COUNTERS), source.choice((0, 0, 3))
    before = "    int l = 1000;\n" if "--l" in body else ""
    text = (
        f"static long {name}(int n)\n{{\n    {counter} k = {first};\n    int *o = out + k, s = 0;\n{before}"
        f"    {header} {{\n{body}    }}\n    return (long)k * 7 + (o - out) + s{' + l' if before else ''};\n}}\n"
    )
    return CompactionLoop(name, text, misses)


def _body(source: random.Random, condition: str, store: str) -> str:
    inside = " " * 12
    match source.choice(("if", "if", "continue", "else", "nested", "temporary", "sum", "two", "also")):
        case "continue":
            return f"        if (!({condition}))\n{inside}continue;\n        {store}\n"
        case "else":
            return f"        if ({condition}) {{\n{inside}s += 1;\n        }} else {{\n{inside}{store}\n        }}\n"
        case "nested":
            return f"        if (key[i] > 5) {{\n{inside}if ({condition}) {{ {store} }}\n        }}\n"
        case "temporary":
            return f"        int t = {condition};\n        if (t) {{\n{inside}{store}\n        }}\n"
        case "sum":
            return f"        if ({condition}) {{\n{inside}{store}\n{inside}s += x[i];\n        }}\n"
        case "also" if "k" in store and "{" not in store and "*o" not in store:
            return f"        {store}\n        if ({condition}) {{\n{inside}{store}\n        }}\n"
        case "two":
            return f"        if ({condition}) {{\n{inside}{store}\n        }} else\n{inside}other[--l] = i;\n"
        case _:
            return f"        if ({condition}) {{\n{inside}{store}\n        }}\n"


def render_compactions(loops: list[CompactionLoop]) -> str:
    """Return the program that calls every function with every size, and prints what it returns and leaves."""
    calls = "".join(f"    show({loop.name}, {size});\n" for loop in loops for size in SIZES)
    functions = "\n".join(loop.text for loop in loops)
    arrays = "".join(f"static int {name}[{8 * _MOST + 8}];\n" for name in ("x", "key", "out", "at", "other"))
    return f"""#include <stddef.h>
#include <stdio.h>
{arrays}
static int odd(int v)
{{
    return v % 2 != 0;
}}

{functions}
static void show(long (*f)(int), int n)
{{
    long sum = 0;
    for (int i = 0; i < {_MOST}; i++) {{
        x[i] = i * 37 % 101;
        key[i] = i * 13 % 47;
        out[2 * i] = out[2 * i + 1] = at[i] = other[i] = -9;
    }}
    printf("%ld", f(n));
    for (int i = 0; i < {8 * _MOST}; i++)
        sum = (sum * 31 + out[i] + 3 * at[i] + 5 * other[i] + x[i]) % 1000003;
    printf(" %ld\\n", sum);
}}

int main(void)
{{
{calls}    return 0;
}}
"""
