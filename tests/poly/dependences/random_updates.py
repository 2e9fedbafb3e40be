"""Random loops over integers with updates in all forms, as C that can run its iterations in any order."""

from __future__ import annotations

from random import Random

__all__ = ["SCALARS", "body", "function"]

SCALARS = ("s", "m", "c", "k", "q", "t", "u")
_CONDITIONS = ("x[i] > 3", "i % 3 == 1", "y[i] < x[i]", "s > 2", "m < y[i]", "k == 1")


def body(random: Random) -> str:
    """Return the statements of one loop body: mostly one or two updates, now and then something beside them."""
    return " ".join(_statement(random) for _ in range(random.choice((1, 1, 1, 2, 2, 3))))


def _statement(random: Random) -> str:
    v = random.choice(("s", "m", "c"))
    x = random.choice(("x[i]", "y[i]", "x[i] * 2 - i", "i", "(x[i] ^ y[i])", "t", "s"))
    y = random.choice(("y[i]", "3", "x[i] + 1"))
    c = random.choice(_CONDITIONS)
    op = random.choice(("+", "+", "*", "^", "|", "&", "-"))
    forms = (
        f"{v} {op}= {x};",
        f"{v} = {v} {op} {x};",
        f"{v} = {x} {op} {v};",
        f"{v} = {v} {op} {x} {op} {y};",
        f"if ({c}) {v} {op}= {x};",
        f"if ({c}) {v} {op}= {x}; else {v} {op}= {y};",
        f"{v} = {c} ? {v} {op} {x} : {v};",
        f"if ({x} > {v}) {v} = {x};",
        f"if ({x} < {v}) {v} = {x};",
        f"{v} = {x} > {v} ? {x} : {v};",
        f"{v} = MAX({v}, {x});",
        f"if ({x} > {v} && {c}) {v} = {x};",
        f"if ({x} < {v}) {{ {v} = {x}; k = {random.choice(('i', '2 * i', 'q', 'y[i]'))}; }}",
        f"t = {v}; t = t {op} {x}; {v} = t;",
        f"t = {v} {op} {y}; {v} = t;",
        f"t = {x}; {v} {op}= t;",
        f"if ({c}) q = {random.choice('01')};",
        f"q = q {random.choice(('||', '&&'))} {c};",
        f"{v}{random.choice(('++', '--'))};",
        f"h[x[i] & 7] {op}= {y};",
        f"a[{random.choice(('i', '0', '3'))}] {op}= {x};",
        f"u = {x}; h[1] = h[1] {op} u;",
        f"a[i] = {v};",
    )
    return random.choice(forms)


def function(number: int, text: str) -> str:
    """Return `text` as a loop that analysis sees (f0) and as one that runs its iterations as `order` says (run0)."""
    names = ", ".join(f"{s} = {k % 2}" for k, s in enumerate(SCALARS))
    results = "".join(f"out[{k}] = {s}; " for k, s in enumerate(SCALARS))
    fixed = "int *restrict a, int *restrict h, const int *restrict x, const int *restrict y, int *restrict out, int n"
    return (
        f"void f{number}({fixed})\n{{ int {names};\nfor (int i = 0; i < n; i++) {{ {text} }}\n{results} }}\n"
        f"void run{number}({fixed}, const int *order)\n{{ int {names};\n"
        f"for (int z = 0; z < n; z++) {{ int i = order[z]; {text} }}\n{results} }}\n"
    )
