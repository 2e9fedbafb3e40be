"""OpenCL kernels as text: one for each construct, and random ones over numbers and vectors.

Every random kernel has the same parameters (`pocl.PARAMETERS`), writes only its work item's own elements, divides by
what is not zero, gives fmin and fmax no negative zeros, and computes only what is exact or correctly rounded: it has
one meaning, bit by bit.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.lower.pocl import PARAMETERS


def _text(name: str) -> str:
    """Return a piece of OpenCL C that lies beside this file."""
    return (Path(__file__).parent / "text" / f"{name}.cl").read_text()


PRELUDE, *_SECTIONS = _text("opencl").split("//// ")
CONSTRUCTS = {section.partition("\n")[0]: section.partition("\n")[2] for section in _SECTIONS}
_WHERE = "int t = get_local_id(0), g = get_global_id(0);"


def kernel(name: str, body: str) -> str:
    """Return the text of a kernel; `g` is the work item, `t` its place in the group."""
    return f"kernel void {name}({PARAMETERS}) {{ {_WHERE}\n{body} }}"


def constructs() -> dict[str, str]:
    """Return the kernel of each construct, by its name: c0, c1, …"""
    return {f"c{n}": kernel(f"c{n}", body) for n, body in enumerate(CONSTRUCTS.values())}


SCALARS = {"a": "int", "b": "int", "u": "uint", "c": "char", "h": "ushort", "l": "long"}
REALS = {"f": "float", "r": "float", "d": "double"}
VECTORS = {"v": "int4", "w": "int4", "x": "float4", "y": "float4", "z": "uchar4", "p": "short2"}
_LIMITS = {"int": "0", "uint": "0u", "char": "(char)0", "ushort": "(ushort)0", "long": "0l"}


@dataclass
class Writer:
    """Writes one kernel; `depth` is how deep control is nested."""

    seed: int
    random: random.Random = field(init=False)
    lines: list[str] = field(default_factory=list)
    depth: int = 0
    loops: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def say(self, text: str) -> None:
        self.lines.append("  " * (self.depth + 1) + text)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    # --- expressions

    def whole(self, depth: int) -> str:
        """Return an integer of any type."""
        pick = self.pick
        if depth == 0:
            return pick(*SCALARS, "t", "g", "n", f"in[{pick('g', 't', '(a & 63)')}]", str(self.random.randint(-9, 99)))
        one, other = self.whole(depth - 1), self.whole(depth - 1)
        word = pick(*SCALARS.values())
        cast = f"({word})({one})", f"({word})({other})"
        return pick(
            f"({one} {pick('+', '-', '*', '&', '|', '^')} {other})",
            f"({one} / (({other} & 7) + 1))",
            f"({one} % (({other} & 15) + 3))",
            f"({one} {pick('<<', '>>')} ({other} & 7))",
            f"({pick('-', '~', '!')}({one}))",
            f"(({one}) {pick('<', '>=', '==', '!=')} ({other}) ? ({one}) : {other})",
            f"{pick('min', 'max', 'add_sat', 'sub_sat', 'mul_hi', 'rotate', 'hadd', 'rhadd', 'abs_diff')}"
            f"({cast[0]}, {cast[1]})",
            f"{pick('abs', 'clz', 'popcount')}({cast[0]})",
            f"clamp({cast[0]}, {_LIMITS[word]}, ({word})77)",
            f"convert_{word}_sat({one})",
            f"convert_{pick('int', 'char', 'uint', 'ushort')}_sat{pick('', '_rte', '_rtp', '_rtn')}({self.real(0)})",
            f"select({cast[0]}, {cast[1]}, ({word})({self.whole(0)} & 1))",
            f"({self.vector('int4', depth - 1)}).{pick('x', 'w', 's2')}",
            f"as_int({self.vector('uchar4', depth - 1)})",
            f"as_int({self.vector('short2', depth - 1)})",
            f"mad24((int)({self.whole(0)} & 0xfff), t, 5)",
            f"{pick('any', 'all')}({self.vector('int4', depth - 1)} > (int)({self.whole(0)}))",
        )

    def real(self, depth: int) -> str:
        """Return a number, `float` or `double`."""
        pick = self.pick
        if depth == 0:
            return pick(*REALS, "s", f"fin[{pick('g', 't', '(a & 63)')}]", "0.375f", "-2.5f")
        one, other = self.real(depth - 1), self.real(depth - 1)
        root = f"sqrt(fabs((float)({one})))"
        return pick(
            f"({one} {pick('+', '-', '*')} {other})",
            f"({one} / ({other} * {other} + 1.0f))",
            f"{pick('fmin', 'fmax', 'copysign')}((float)({one}) + 0.0f, (float)({other}) + 0.0f)",
            f"fma((double)({one}), (double)({other}), 0.5)",
            f"{pick('floor', 'ceil', 'trunc', 'rint', 'fabs')}((float)({one}))",
            root,
            f"(({one}) < ({other}) ? ({one}) : {other})",
            f"convert_float{pick('', '_rtz', '_rtp')}({self.whole(depth - 1)})",
            f"({self.vector('float4', depth - 1)}).{pick('y', 's3', 'lo.x')}",
            f"(float)({self.whole(depth - 1)})",
        )

    def vector(self, type: str, depth: int) -> str:
        """Return a vector of a type."""
        pick = self.pick
        names = [name for name, own in VECTORS.items() if own == type]
        if depth <= 0:
            return pick(*names)
        one, other = self.vector(type, depth - 1), self.vector(type, depth - 1)
        if type == "float4":
            return pick(
                f"({one} {pick('+', '-', '*')} {other})", f"({one}).{pick('wzyx', 'xxyy', 'zwxy')}",
                f"convert_float4({self.vector('int4', depth - 1)})",
                f"{pick('fmin', 'fmax')}({one} + 0.0f, {other} + 0.0f)",
                f"select({one}, {other}, {one} < {other})", f"(float4)(({other}).hi, ({one}).even)",
                f"(({one}) > ({other}) ? ({other}) : ({one}))", "vload4(t, fin)",
            )  # fmt: skip
        if type == "short2":
            return pick(f"({one} {pick('+', '-', '*')} {other})", f"({one}).yx", f"as_short2((int)({self.whole(0)}))",
                        f"convert_short2_sat(({self.vector('int4', depth - 1)}).zx)")  # fmt: skip
        if type == "uchar4":
            return pick(
                f"({one} {pick('+', '-', '*', '^')} {other})", f"({one}).{pick('wzyx', 's1032')}",
                f"convert_uchar4_sat({self.vector(pick('int4', 'float4'), depth - 1)})",
                f"as_uchar4((int)({self.whole(0)}))",
                f"{pick('add_sat', 'hadd', 'max', 'rotate')}({one}, {other})",
            )  # fmt: skip
        return pick(
            f"({one} {pick('+', '-', '*', '&', '|', '^', '<<', '>>')} {other})",
            f"({one}).{pick('wzyx', 'xxyy', 's2013')}",
            f"({one} / (({other} & 7) + 1))", f"({one} {pick('<', '>=', '==')} {other})",
            f"convert_int4{pick('', '_rte', '_sat')}({self.vector('float4', depth - 1)})",
            f"convert_int4({self.vector('uchar4', depth - 1)})",
            f"{pick('min', 'max', 'mul_hi', 'add_sat')}({one}, {other})",
            f"select({one}, {other}, {one})", f"(int4)(({one}).lo, ({other}).odd)", "vload4(g, in)",
            f"as_int4({self.vector('float4', depth - 1)})", f"({pick('-', '~', '!')}({one}))",
            f"(({one}) {pick('&&', '||')} ({other}))", f"shuffle({one}, as_uint4({other}))",
        )  # fmt: skip

    # --- statements

    def statement(self) -> None:
        kind = self.random.randrange(10 if self.depth < 3 else 6)
        if kind < 2:
            name = self.pick(*SCALARS)
            self.say(f"{name} {self.pick('=', '+=', '-=', '^=', '*=')} {self.whole(2)};")
        elif kind < 3:
            self.say(f"{self.pick(*REALS)} = {self.real(2)};")
        elif kind < 5:
            name = self.pick(*VECTORS)
            self.say(f"{name} = {self.vector(VECTORS[name], 2)};")
        elif kind < 6:
            part = self.pick("v.x", "v.yz", "w.lo", "v.s31", "w.w")
            self.say(f"{part} {self.pick('=', '+=', '-=')} {self.pick('w', 'v')}.{part.split('.')[1]};")
        elif kind < 8:
            self.say(f"if ({self.whole(1)} {self.pick('<', '>', '!=')} {self.whole(1)}) {{")
            self.block()
            if self.random.random() < 0.5:
                self.say("} else {")
                self.block()
            self.say("}")
        elif kind < 9:
            self.loop()
        else:
            self.say(f"switch ({self.whole(1)} & 3) {{")
            self.say("case 0: a += 3; break; case 1: b ^= a; case 2: u += 7; break; default: v.y++; }")

    def loop(self) -> None:
        name = f"i{self.loops}"
        self.loops += 1
        self.say(f"for (int {name} = 0; {name} < {self.pick('3', 'n & 3', '(t & 3) + 1')}; {name}++) {{")
        self.block()
        self.depth += 1
        self.say(f"if ({self.whole(1)} == {name}) {self.pick('break', 'continue')};")
        self.depth -= 1
        self.say("}")

    def block(self) -> None:
        self.depth += 1
        for _ in range(self.random.randint(1, 3)):
            self.statement()
        self.depth -= 1

    def kernel(self, name: str) -> str:
        """Return the text of the kernel."""
        for _ in range(2):
            for _ in range(3):
                self.statement()
            self.say("barrier(CLK_LOCAL_MEM_FENCE); tile[t] = a ^ v.z; rows[t] = x; barrier(CLK_LOCAL_MEM_FENCE);")
            self.say(f"b += tile[t ^ {self.random.randrange(8)}]; y.w = rows[7 - t].{self.pick('x', 's2')};")
        return kernel(name, "\n".join([_text("head"), *self.lines, _text("tail")]))


def randoms(seeds: Iterable[int]) -> dict[str, str]:
    """Return a random kernel for each seed."""
    return {f"k{seed}": Writer(seed).kernel(f"k{seed}") for seed in seeds}
