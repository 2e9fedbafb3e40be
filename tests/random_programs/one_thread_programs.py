"""Random functions in which a loop that is not parallel stands between kernels, and what calls them.

    double f0(int n, double *restrict a, double *restrict b, int *restrict c)
    {
        double s = 0.5, t = 1; int i = 0, j = 0;
        for (int step = 0; step < 3; step++) {
            for (i = 1; i < n; i++) { t = a[i - 1] * 0.5; a[i] = t + s; s = 0.5 * s + b[i]; }     one thread
            for (int k = 0; k < n; k++) b[k] = 0.5 * b[k] + a[k] + s;                             threads
            if (s > 3) s = 1;                                                                     host
        }
        return s;
    }

Counters are the loop's own or not, scalars that it sets are read afterwards or not, by kernels or the host; iterations
are left early, call a function, have loops, branches, and subscripts in arrays.
"""

from __future__ import annotations

import random

from msgspec import Struct

from warpsmith.loops.step import Step
from warpsmith.offload.steps.one_thread import OneThread

__all__ = ["OneThreadFunction", "program", "random_functions"]

_HELPERS = """\
#include <stdio.h>
static double half(double x) { return 0.5 * x + 0.25; }
static int odd(int x) { int i, found = 0; for (i = 0; i < 3; i++) found += (x >> i) & 1; return found; }
"""
_LINES = (
    "t = a[{i} - 1] * 0.5; a[{i}] = t + 0.125 * s;",
    "a[{i}] = half(a[{i} - 1]);",
    "s = 0.5 * s + a[{i}];",
    "if (a[{i}] > s) {{ s = a[{i}] * 0.5; a[{i} - 1] = s; }}",
    "a[c[{i}] % n] = 0.5 * a[{i} - 1] + {i};",
    "if (odd({i}) == 2) continue;",
    "if (a[{i}] > 40) break;",
    "for ({j} = 0; {j_name} < 3 && {j_name} < {i}; {j_name}++) a[{i}] = 0.25 * a[{i} - {j_name}] + t;",
    "for ({j} = 1; {j_name} <= {i} % 4; {j_name}++) {{ a[{j_name}] = 0.5 * a[{j_name} - 1]; if (s > 9) break; }}",
    "a[{i} - 1] += j % 3; for ({j} = 0; {j_name} < 2; {j_name}++) a[{i}] = 0.5 * a[{i}] + a[{i} - 1];",
    "if (j == 2) a[{i}] += 1; for ({j} = 0; {j_name} < 3; {j_name}++) a[{i} - 1] += 0.5 * {j_name};",
    "c[{i}] = (c[{i} - 1] * 5 + {i}) % 37;",
    "m += c[{i} - 1] > 3; a[{i} - 1] += m % 3;",
    "switch (c[{i}] % 3) {{ case 0: s = 1; break; case 1: a[{i} - 1] = s; default: t = 0.5; }}",
    "int u = 2; while (u < {i}) u *= 3; a[{i}] = a[{i} - 1] * 0.5 + u % 5;",
)
_KERNELS = (
    "for (int k = 0; k < n; k++) b[k] = 0.5 * b[k] + 0.25 * a[k] + s;",
    "for (int k = 0; k < n; k++) a[k] = 0.5 * a[k] + b[k] + c[k] % 3;",
    "for (int k = 0; k < n; k++) {{ t = b[k]; a[k] = 0.5 * a[k] + t; }}",
    "for (i = 0; i < n; i++) b[i] = 0.25 * a[i] + m % 4;",
    "for (m = 0; m < n; m++) b[m] = 0.25 * a[m];",
    "for (int k = 0; k < n && k <= m % 7; k++) b[k] = a[k];",
    "for (int k = 0; k < m % 7; k++) b[k % n] = k;",
)
_HOST = ("if (s > 3) s = 1;", "m = m % 5 + 1;", "t = s * 0.5;", "j = i % 3;", "b[0] = 0.5 * b[0] + s;", "s += j;")


class OneThreadFunction(Struct, frozen=True):
    """One function, and the address of the loop that one thread shall run."""

    name: str
    text: str
    loop: str

    @property
    def step(self) -> Step:
        return OneThread(self.loop)


def random_functions(seed: int, count: int) -> list[OneThreadFunction]:
    """Return `count` functions."""
    return [_function(random.Random(f"one thread {seed} {number}"), f"f{number}") for number in range(count)]


def program(functions: list[OneThreadFunction], sizes: tuple[int, ...] = (1, 2, 9, 40)) -> str:
    """Return a program that calls every function at every size and prints what it leaves."""
    calls = "".join(
        f"        fill();\n        total = {one.name}(sizes[s], a, b, c);\n"
        "        for (int i = 0; i < 48; i++)\n            total += a[i] * (i % 5) + b[i] * (i % 3) + c[i];\n"
        f'        printf("{one.name} %d %.9g\\n", sizes[s], total);\n'
        for one in functions
    )
    return (
        f"{_HELPERS}{''.join(one.text for one in functions)}"
        "static double a[48], b[48];\nstatic int c[48];\n"
        "static void fill(void)\n{\n    for (int i = 0; i < 48; i++) {\n        a[i] = (i * 37 % 23) / 8.0;\n"
        "        b[i] = (i * 29 % 31 - 9) / 4.0;\n        c[i] = i * 13 % 41;\n    }\n}\n"
        f"int main(void)\n{{\n    static const int sizes[] = {{{', '.join(map(str, sizes))}}};\n    double total;\n"
        f"    for (int s = 0; s < {len(sizes)}; s++) {{\n{calls}    }}\n    return 0;\n}}\n"
    )


def _function(rng: random.Random, name: str) -> OneThreadFunction:
    own = rng.random() < 0.5
    i, j = "i", "int j" if rng.random() < 0.5 else "j"
    lines = [line.format(i=i, j=j, j_name="j") for line in rng.sample(_LINES, rng.choice([1, 2, 3]))]
    head = rng.choice(["{c}i = 1; i < n; i++", "{c}i = 1; i <= n - 1; i += 2", "{c}i = n - 1; i > 0; i--"])
    body = "".join(f"            {line}\n" for line in lines)
    loop = f"        for ({head.format(c='int ' if own else '')}) {{\n{body}        }}\n"
    around = [*(f"        {line.format()}\n" for line in rng.sample(_KERNELS, rng.choice([1, 2])))]
    around += [f"        {line}\n" for line in rng.sample(_HOST, rng.choice([0, 0, 1, 2]))]
    rng.shuffle(around)
    at = rng.randrange(len(around) + 1)
    before = sum("for (i " in line for line in around[:at])
    again = rng.random() < 0.6
    address = f"{name}/step/i" if again else f"{name}/i"
    address += f"#{before + 1}" if before else ""
    opens = "for (int step = 0; step < 3; step++) {" if again else "{"
    end = rng.choice(["s", "s + t", "s + m", "s + i", "s + j", "0.5", "t"])
    text = (
        f"double {name}(int n, double *restrict a, double *restrict b, int *restrict c)\n{{\n"
        "    double s = 0.5, t = 1;\n    int i = 0, j = 2, m = 2;\n"
        f"    {opens}\n{''.join(around[:at])}{loop}{''.join(around[at:])}    }}\n"
        f"    return {end};\n}}\n"
    )
    return OneThreadFunction(name, text, address)
