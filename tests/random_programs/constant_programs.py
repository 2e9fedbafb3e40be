"""Random functions with tables that kernels only read, and a program that changes the tables between calls.

static double c0[4], d0[2][3];
void f0(int n, double *restrict a, double *restrict b)
{
    for (int i = 0; i < n; i++) b[i] = a[i] * c0[i % 4] + d0[1][2];      c0 and d0 in constant memory
    for (int k = 0; k < 4; k++) c0[k] = c0[k] * 0.5 + 1;                  written by another kernel, or the host
    for (int i = 0; i < n; i++) a[i] += c0[n % 4] * b[i];
}
"""

from __future__ import annotations

import random

from msgspec import Struct

from warpsmith.loops.step import Step
from warpsmith.offload.steps.constant_memory import ConstantMemory

__all__ = ["TableFunction", "program", "random_functions"]


class TableFunction(Struct, frozen=True):
    """A function with its tables, and the steps about its kernels."""

    name: str
    text: str
    steps: tuple[Step, ...]


def random_functions(seed: int, count: int) -> list[TableFunction]:
    """Return `count` functions."""
    return [_function(random.Random(f"tables {seed} {number}"), number) for number in range(count)]


def program(functions: list[TableFunction]) -> str:
    """Return a program that calls every function with several sizes, tables changed between the calls."""
    calls = "".join(
        f"        set{f.name[1:]}(t);\n        {f.name}(sizes[t], a, b);\n        {f.name}(sizes[t], a, b);\n"
        "        for (int i = 0; i < 50; i++)\n            total += a[i] * (i % 5) + b[i] * (i % 3);\n"
        f'        printf("{f.name} %d %.9g\\n", t, total);\n'
        for f in functions
    )
    return (
        "#include <stdio.h>\n"
        f"{''.join(f.text for f in functions)}"
        "static double a[50], b[50];\n"
        "int main(void)\n{\n    static const int sizes[] = {0, 1, 7, 40};\n    for (int t = 0; t < 4; t++) {\n"
        "        double total = 0;\n        for (int i = 0; i < 50; i++) {\n            a[i] = i % 7;\n"
        f"            b[i] = (i * 3) % 5;\n        }}\n{calls}    }}\n    return 0;\n}}\n"
    )


def _function(rng: random.Random, number: int) -> TableFunction:
    name, c, d = f"f{number}", f"c{number}", f"d{number}"
    kind, other = rng.choice(["double", "float", "int"]), rng.choice(["double", "float", "short"])
    size, rows = rng.choice([2, 4, 5, 16]), rng.choice([2, 3])
    index = ["i", "n", "k", "i + k", "1", "n + k"]

    def table() -> str:
        one, two = rng.choice(index), rng.choice(index)
        return f"{c}[({one}) % {size}]" if rng.random() < 0.6 else f"{d}[({two}) % {rows}][({one}) % 3]"

    def kernel(target: str, source: str) -> str:
        loop = rng.choice(["i = 0; i < n; i++", "i = 1; i < n; i++", "i = n - 1; i >= 0; i--"])
        inner = (
            f"double s = 0; for (int k = 0; k < {rng.choice(['2', '3', 'n % 4'])}; k++) s += {table()} * {source}[i];"
        )
        return (
            f"    for (int {loop}) {{ {inner} {target}[i] = 0.25 * {target}[i] + s + {table().replace('k', '2')}; }}\n"
        )

    between = rng.choice(
        [
            "",
            f"    for (int k = 0; k < {size}; k++) {c}[k] = {c}[k] % 5 + 1;\n" if kind == "int" else "",
            f"    {c}[0] = {c}[1] + 1;\n",
            f"    {d}[n % {rows}][1] += 2;\n",
            f"    for (int k = 0; k < {size}; k++) {c}[k] = k;\n",
        ]
    )
    first, second = kernel("b", "a"), kernel("a", "b")
    text = (
        f"static {kind} {c}[{size}];\nstatic {other} {d}[{rows}][3];\n"
        f"static void set{number}(int t)\n{{\n    for (int k = 0; k < {size}; k++)\n        {c}[k] = k + t;\n"
        f"    for (int k = 0; k < {rows} * 3; k++)\n        {d}[k / 3][k % 3] = k - t;\n}}\n"
        f"void {name}(int n, double *restrict a, double *restrict b)\n{{\n{first}{between}{second}}}\n"
    )
    steps = []
    for body, address in ((first, f"{name}/i"), (second, f"{name}/i#2")):
        arrays = tuple(array for array in (c, d) if f"{array}[" in body and rng.random() < 0.8)
        if arrays:
            steps.append(ConstantMemory(address, arrays))
    return TableFunction(name, text, tuple(steps))
