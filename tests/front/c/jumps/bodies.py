"""Random bodies of loops with gotos, as C: those that a translator makes of branches, and wild ones.

    branches    every if and switch of a random structured body as gotos and labels, as Fortran programs were written
    hiding      the same, with a variable of a branch that has the name of another
    wild        gotos to any label that comes later, across each other, out of blocks and past declarations

A body works on t, u and the bits of i, so that a loop over all values of these bits takes all ways.
"""

from __future__ import annotations

import random

from msgspec import Struct

__all__ = ["BITS", "JumpBody", "random_jumps", "render_functions"]

BITS = 7


class JumpBody(Struct, frozen=True):
    """`unsigned long name(int n)`; `structured`: its gotos are those of branches."""

    name: str
    text: str
    structured: bool


def random_jumps(seed: int, count: int) -> list[JumpBody]:
    """Return `count` functions."""
    source = random.Random(seed)
    kinds = ("branches", "wild", "hiding", "wild")
    return [_function(source, f"f{number}", kinds[number % 4]) for number in range(count)]


def _function(source: random.Random, name: str, kind: str) -> JumpBody:
    maker = _Maker(source, hides=kind == "hiding")
    body = maker.wild() if kind == "wild" else maker.branches(2)
    lines = "\n".join(body)
    text = f"""unsigned long {name}(int n)
{{
    unsigned long t = 1, u = 2;
    for (int i = 0; i < n; i++) {{
{lines}
        ;
    }}
    return t * 3 + u;
}}
"""
    return JumpBody(name, text, kind == "branches")


def render_functions(texts: list[str], names: list[str]) -> str:
    """Return a program that prints what each function computes."""
    calls = "\n".join(f'    printf("{name} %lu\\n", {name}({2**BITS}));' for name in names)
    return "#include <stdio.h>\n" + "\n".join(texts) + f"int main(void)\n{{\n{calls}\n    return 0;\n}}\n"


class _Maker:
    def __init__(self, source: random.Random, *, hides: bool) -> None:
        self.source = source
        self.hides = hides
        self.labels = 0

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def step(self) -> str:
        variable, other = self.source.choice((("t", "u"), ("u", "t")))
        return self.source.choice((
            f"{variable} = {variable} * 31 + {self.source.randrange(99)};",
            f"{variable} += {other} ^ {self.source.randrange(9)};",
            f"{{ unsigned long v = {other} + i; {variable} += v; }}",
            f"for (int j = 0; j < 2; j++) {variable} += j + {other};",
        ))  # fmt: skip

    def test(self) -> str:
        return f"i >> {self.source.randrange(BITS)} & 1"

    # --- what a translator makes of branches

    def branches(self, depth: int) -> list[str]:
        made: list[str] = []
        for _ in range(self.source.randrange(1, 4)):
            kind = self.source.choice(("step", "if", "else", "switch", "skip")) if depth else "step"
            made += getattr(self, f"_{kind}")(depth - 1)
        return made

    def _step(self, depth: int) -> list[str]:
        return [self.step()]

    def _if(self, depth: int) -> list[str]:
        end = self.label()
        return [f"if ({self.test()}) goto {end};", *self.branches(max(depth, 0)), f"{end}: {self.step()}"]

    def _else(self, depth: int) -> list[str]:
        other, end = self.label(), self.label()
        first, second = self.branches(max(depth, 0)), self.branches(max(depth, 0))
        head = self.source.choice((f"if ({self.test()}) goto {other};", f"if ({self.test()}) {{ t++; goto {other}; }}"))
        if self.hides:
            head = f"if ({self.test()}) {{ unsigned long u = i; t += u; goto {other}; }}"
        return [head, *first, f"goto {end};", f"{other}:", *second, f"{end}:", self.step()]

    def _switch(self, depth: int) -> list[str]:
        places, end = [self.label() for _ in range(2)], self.label()
        cases = " ".join(f"case {n}: {self.source.choice(('', 'u++; '))}goto {to};" for n, to in enumerate(places))
        made = [f"switch (i & 7) {{ {cases} default: goto {end}; }}"]
        for place in places:
            made += [f"{place}:", *self.branches(max(depth, 0)), f"goto {end};"]
        return [*made, f"{end}: ;"]

    def _skip(self, depth: int) -> list[str]:
        end = self.label()
        inner = self.branches(max(depth, 0))
        return [f"if ({self.test()}) {{", *inner, f"if ({self.test()}) goto {end};", self.step(), "}", f"{end}: ;"]

    # --- anything that leads on

    def wild(self) -> list[str]:
        count = self.source.randrange(3, 9)
        places = {self.source.randrange(1, count + 1): self.label() for _ in range(self.source.randrange(1, 5))}
        made: list[str] = []
        for position in range(count):
            if position in places:
                made.append(f"{places[position]}:")
            later = [label for place, label in places.items() if place > position]
            made += self._anything(later)
        return [*made, f"{places[count]}: ;" if count in places else "t ^= u;"]

    def _anything(self, later: list[str]) -> list[str]:
        if not later or self.source.random() < 0.4:
            return [self.source.choice((self.step(), self.step(), "if (t == 3) continue;", self._declaration()))]
        goto = f"goto {self.source.choice(later)};"
        other = f"goto {self.source.choice(later)};"
        return [self.source.choice((
            f"if ({self.test()}) {goto}", f"if ({self.test()}) {goto} else {other}",
            f"if ({self.test()}) {{ {self.step()} {goto} }}",
            f"if ({self.test()}) {{ {self.step()} }} else {{ {self.step()} {goto} }}",
            f"if ({self.test()}) {{ if ({self.test()}) {goto} {self.step()} if ({self.test()}) {other} }}", goto,
            f"switch (i & 3) {{ case 1: {goto} case 2: {self.step()} {other} }}",
            f"for (int j = 0; j < 3; j++) {{ if (({self.test()}) && j) {goto} {self.step()} }}",
            f"{{ unsigned long u = t + 1; t += u; if ({self.test()}) {goto} t += u; }}",
            f"if ({self.test()}) {{ unsigned long u = i; t += u; {goto} }}",
        ))]  # fmt: skip

    def _declaration(self) -> str:
        name = f"w{self.source.randrange(10**6)}"
        return f"unsigned long {name} = t; u += {name};"
