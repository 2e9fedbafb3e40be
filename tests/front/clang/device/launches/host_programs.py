"""Random host code that launches: what it launches with is printed by a program of the host's compiler.

Every launch is `LAUNCH(number, grid, block)`: a launch for the parser, a line of output for the compiler.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["KERNEL", "host_program", "observed_launches"]

KERNEL: Final = """#define LAUNCH(n, g, b) kernel<n><<<g, b>>>(a, g0 > 40, c + 1)
template <int N> __global__ void kernel(int, bool, unsigned char) {}
"""
_NATIVE: Final = """#include <cstdio>
#include <cstdlib>
#include <algorithm>
using std::min; using std::max;
struct dim3 { unsigned x, y, z; dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {} };
static void launched(int n, dim3, dim3 b, int i, bool o, unsigned char m) {
  std::printf("%d %u %u %u %d %d %d\\n", n, b.x, b.y, b.z, i, o, m);
}
#define LAUNCH(n, g, b) launched(n, g, b, a, g0 > 40, c + 1)
"""
_HEAD: Final = """
struct Sizes { int block = 64; int other; };
static int input(int n) { return n * 7 % 5; }
static void change(int &x) { x = 77; }
static void through(int *p) { *p = 88; }
"""
_NUMBERS: Final = ("1", "2", "3", "32", "64", "96", "128", "(int)sizeof(int)")
_SCALARS: Final = ("a", "b", "c")
_GLOBALS: Final = ("g0", "g1", "g2")


class _Program:
    """One random program; a function is called with each of a few inputs."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.launches = 0
        self.depth = 0
        self.loops = 0

    def text(self) -> str:
        used = [f"static int {name} = {self.rng.choice(_NUMBERS)};" for name in _GLOBALS]
        used.append("static dim3 gd(8, 4); static Sizes gs; static int ga[2] = {16, 32};")
        helpers = [self.function(f"h{n}", n) for n in range(2)]
        main = self.function("top", 2)
        calls = "for (int n = 0; n < 6; n++) top(n, n + 1, dim3(n + 2));"
        return "\n".join([_HEAD, *used, *helpers, main, f"int main() {{ {calls} }}\n"])

    def function(self, name: str, callable_: int) -> str:
        self.called = callable_
        body = " ".join(self.statements(self.rng.randint(4, 9)))
        head = "int a = 4, b, c = 6; b = n; dim3 t, s(2, 3); Sizes z; int v[2] = {8, 16};"
        return f"static void {name}(int n, int p, dim3 d) {{ {head} {body} }}"

    def statements(self, many: int) -> Iterator[str]:
        for _ in range(many):
            yield self.statement()

    def statement(self) -> str:
        simple = (self.scalar, self.scalar, self.shape, self.launch, self.launch, self.member, self.escape, self.call)
        nested = (self.branch, self.branch, self.loop, self.switch, self.leave)
        return self.rng.choice(simple if self.depth > 2 or self.rng.random() < 0.6 else nested)()

    def block(self) -> str:
        self.depth += 1
        made = " ".join(self.statements(self.rng.randint(1, 4)))
        self.depth -= 1
        return f"{{ {made} }}"

    # --- expressions

    def value(self, depth: int = 0) -> str:
        leaves = (*_SCALARS, *_GLOBALS, "p", "n", "t.x", "d.x", "gd.y", "z.block", "gs.block", "v[1]", "ga[0]")
        if depth > 1 or self.rng.random() < 0.5:
            return self.rng.choice((*leaves, *_NUMBERS, *_NUMBERS))
        left, right = self.value(depth + 1), self.value(depth + 1)
        forms = (
            f"((int){left} + (int){right})", f"((int){left} * 2)", f"({self.condition()} ? (int){left} : (int){right})",
            f"min((int){left}, (int){right})", f"((int){left} / 3)", f"((int){left} & 127)", f"((int){left} - 1)",
            f"((int){left} << 1)", f"max((int){left}, 1)",
        )  # fmt: skip
        return self.rng.choice(forms)

    def condition(self) -> str:
        again = ("n > 2", "!(n > 2)", "b > 40", "40 < b", "b > 40 && n > 2", "b < 41 || c > 5", "p > b", "c <= 5", "c")
        if self.rng.random() < 0.5:
            return self.rng.choice(again)
        return self.rng.choice(
            ("n > 2", "n & 1", f"(int){self.value(2)} > 40", "input(n) < 3", "g0 == g1", "1 < 2", "0")
        )

    # --- statements

    def scalar(self) -> str:
        target = self.rng.choice((*_SCALARS, *_SCALARS, *_GLOBALS[:2], "p"))
        operator = self.rng.choice(("=", "=", "=", "+=", "*=")) if target != "g1" else "="
        if self.rng.random() < 0.1:
            return f"{target}++;"
        value = self.rng.choice(_NUMBERS) if self.rng.random() < 0.6 else self.value()
        return f"{target} {operator} {value}; {target} &= 1023;"

    def shape(self) -> str:
        forms = (
            f"t.x = {self.value()};", f"t.y = {self.rng.choice(_NUMBERS)};", f"t = dim3({self.value()}, 2);", "s = t;",
            f"gd.x = {self.rng.choice(_NUMBERS)};", "gd = dim3(5, 6);", "t = s;", "d.x = 9;", "{ dim3 u = t; s = u; }",
        )  # fmt: skip
        return self.rng.choice(forms)

    def member(self) -> str:
        number = self.rng.choice(_NUMBERS)
        forms = (
            f"z.block = {number};", f"gs.block = {number};", "z = gs;", f"v[{self.rng.choice('01n')} & 1] = {number};",
            f"ga[0] = {number};", "{ Sizes y = z; y.block += 1; z = y; }", f"z.other = {number};",
        )  # fmt: skip
        return self.rng.choice(forms)

    def escape(self) -> str:
        name = self.rng.choice(_SCALARS)
        forms = (
            f"change({name});", f"through(&{name});", f"{{ int &r = {name}; r = {self.rng.choice(_NUMBERS)}; }}",
            "through(v);", f"[&] {{ {name} = 3; }}();", "{ dim3 *q = &t; q->x = 11; }", f"if ((a = {name}) > 5) b = a;",
        )  # fmt: skip
        return self.rng.choice(forms) if self.rng.random() < 0.4 else self.scalar()

    def call(self) -> str:
        if not self.called or self.depth > 1:
            return self.scalar()
        name = f"h{self.rng.randrange(self.called)}"
        return f"{name}({self.rng.choice(('n', '1', '3'))}, {self.value()}, {self.rng.choice(('t', 's', 'dim3(7)'))});"

    def launch(self) -> str:
        number = self.launches
        self.launches += 1
        names = (*_SCALARS, *_GLOBALS, "p", "t", "t", "s", "gd", "d", "z.block", "gs.block", "ga[0]", "v[0]")
        block = self.rng.choice((*names, "dim3(v[0], v[1])", "dim3(t.x, 2)", "dim3(a, b)", f"(int){self.value()}"))
        return f"LAUNCH({number}, dim3(1), {block});"

    def branch(self) -> str:
        other = f" else {self.block()}" if self.rng.random() < 0.5 else ""
        return f"if ({self.condition()}) {self.block()}{other}"

    def loop(self) -> str:
        self.loops += 1
        name = f"i{self.loops}"
        body = self.block()
        again = self.rng.choice(("", "if (n & 1) continue; ", "if (n == 3) break; "))
        forms = (
            f"for (int {name} = 0; {name} < n % 4; {name}++) {{ {again}{body} {self.launch()} }}",
            f"{{ int {name} = 3; while ({name}-- > 0) {{ {body} {again} }} }}",
            f"{{ int {name} = 2; do {{ {again}{body} }} while (--{name} > 0); }}",
            f"for (int {name} = 1; {name} < 64; {name} *= 2) {{ LAUNCH({self.fresh()}, 1, {name}); {body} }}",
            f"do {body} while (0);",
        )  # fmt: skip
        return self.rng.choice(forms)

    def fresh(self) -> int:
        self.launches += 1
        return self.launches - 1

    def switch(self) -> str:
        parts = [f"case {n}: {self.block()} {self.rng.choice(('break;', '', 'break;'))}" for n in range(3)]
        default = f"default: {self.block()}" if self.rng.random() < 0.5 else ""
        return f"switch (n) {{ {' '.join(parts)} {default} }}"

    def leave(self) -> str:
        return f"if ({self.condition()}) {{ {self.scalar()} return; }}" if self.depth else self.branch()


def host_program(seed: int) -> str:
    """Return the text of a random program, without what LAUNCH is."""
    return _Program(seed).text()


def observed_launches(text: str, folder: Path) -> dict[int, set[tuple[int, ...]]]:
    """Return block and arguments, six numbers, that each launch of a program had when it ran."""
    source, program = folder / "native.cpp", folder / "native"
    source.write_text(_NATIVE + text)
    subprocess.run(["g++", "-w", "-O0", "-fwrapv", "-o", str(program), str(source)], check=True, timeout=120)
    said = subprocess.run([str(program)], capture_output=True, text=True, timeout=60, check=True).stdout
    found: dict[int, set[tuple[int, ...]]] = {}
    for line in said.splitlines():
        number, *given = map(int, line.split())
        found.setdefault(number, set()).add(tuple(given))
    return found
