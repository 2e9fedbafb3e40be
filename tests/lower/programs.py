"""Random CUDA kernels over all of C's constructs, as text; and the same numbers for whoever runs them.

Every kernel has the same parameters, writes only its thread's own elements (atomics that commute aside), indexes with
masks and divides by what is not zero; so it has one meaning, and everybody who runs it must agree bit by bit. Barriers,
votes and shuffles stand where all threads come.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from pathlib import Path

PARAMETERS = (
    "const int *in, const float *fin, int *oi, float *of, unsigned *ou, long long *ol, double *od, int n, float s, "
    "unsigned char small, Pair pair"
)
COUNT = 64
"""Elements of each buffer."""


def text(name: str) -> str:
    """Return a piece of CUDA that lies beside this file."""
    return (Path(__file__).parent / "text" / f"{name}.cu").read_text()


PRELUDE, HOST = text("prelude"), text("host")

INTS = ("a", "b", "c", "u", "v", "l", "q", "k", "sh")
TYPES = {"a": "int", "b": "int", "c": "int", "u": "unsigned", "v": "unsigned", "l": "long long", "q": "signed char",
         "k": "unsigned short", "sh": "short"}  # fmt: skip
FLOATS = ("f", "g", "d")


@dataclass
class Writer:
    """Writes one kernel; `depth` is how deep control is nested, `free`: no thread may leave, all come here."""

    seed: int
    random: random.Random = field(init=False)
    lines: list[str] = field(default_factory=list)
    depth: int = 0
    loops: int = 0
    count: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def say(self, text: str) -> None:
        self.lines.append("  " * (self.depth + 1) + text)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    # --- expressions

    def integer(self, depth: int = 0) -> str:
        if depth > 2 or self.random.random() < 0.25:
            return self.leaf()
        kinds = (self.operated, self.operated, self.operated, self.converted, self.converted, self.called)
        return self.random.choice(kinds)(depth + 1)

    def operated(self, depth: int) -> str:
        one, other = self.integer(depth), self.integer(depth)
        return self.pick(
            f"({one} {self.pick('+', '-', '*', '&', '|', '^')} {other})",
            f"({one} {self.pick('+', '-', '*', '&', '|', '^')} {other})",
            f"({one} {self.pick('/', '%')} (({other} & 7) + 1))",
            f"({one} {self.pick('<<', '>>')} ({other} & 15))",
            f"({self.condition(depth)} ? {one} : {other})",
            f"{self.pick('-', '~', '+')}({one})",
        )

    def converted(self, depth: int) -> str:
        one = self.integer(depth)
        kind = self.pick("int", "unsigned", "short", "signed char", "unsigned char", "long long")
        return self.pick(
            f"(({kind}){one})",
            f"(int)bounded({self.real(depth)})",
            f"in[({one}) & {COUNT - 1}]",
            f"table[({one}) & 7]",
            f"local[({one}) & 3]",
            f"({self.condition(depth)})",
        )

    def called(self, depth: int) -> str:
        one = self.integer(depth)
        return self.pick(
            f"{self.pick('min', 'max')}((int)({one}), (int)({self.leaf()}))",
            f"{self.pick('__popc', '__clz', '__ffs', '__brev', 'abs')}((int){self.leaf()})",
            f"mixed((int)({one}), {self.leaf()}, (short)({self.leaf()}))",
            f"{self.pick('scaled<2>', 'scaled<5>', 'twice<int>', '(int)odd')}((int)({one}))",
        )

    def leaf(self) -> str:
        r = self.random.random()
        if r < 0.5:
            return self.random.choice(INTS)
        if r < 0.62:
            return self.pick("t", "n", "small", "pair.x", "pair.z[1]", "pair.c", "GREEN", "BLUE")
        if r < 0.8:
            return self.pick("p.x", "p.z[0]", "p.z[2]", "p.w", "o.in[1].b", "o.in[0].a", "o.tag", "local[1]", "m.u")
        return self.pick("0", "1", "7", "-3", "31u", "100000", "65535", "3LL", "0x80000000u", "'a'", "sizeof(Pair)")

    def real(self, depth: int = 0) -> str:
        r = self.random
        if depth > 2 or r.random() < 0.25:
            return self.pick("f", "g", "d", "s", "1.5f", "-0.25", "p.y", "o.v.x", "o.v.y", "(float)(a & 255)", "w.z")
        match r.randrange(10):
            case 0 | 1 | 2:
                return f"({self.real(depth + 1)} {self.pick('+', '-', '*')} {self.real(depth + 1)})"
            case 3:
                return f"({self.real(depth + 1)} / (fabsf((float){self.real(depth + 1)}) + 0.5f))"
            case 4:
                return f"({self.condition(depth + 1)} ? {self.real(depth + 1)} : {self.real(depth + 1)})"
            case 5:
                return f"fin[({self.integer(depth + 1)}) & {COUNT - 1}]"
            case 6:
                return f"weighted(bounded({self.real(depth + 1)}), {self.leaf()})"
            case 7:
                name = self.pick("sqrtf", "floorf", "ceilf", "truncf", "rintf")
                return f"{name}(fabsf((float)({self.real(depth + 1)})))"
            case 8:
                return f"({self.integer(depth + 1)} & 1023)"
            case _:
                return f"{self.pick('fminf', 'fmaxf')}((float){self.real(depth + 1)}, {self.pick('f', 's', '2.0f')})"

    def condition(self, depth: int = 0) -> str:
        r = self.random
        match r.randrange(8):
            case 0 | 1 | 2:
                test = self.pick("<", "<=", ">", ">=", "==", "!=")
                return f"({self.integer(depth + 1)} {test} {self.integer(depth + 1)})"
            case 3:
                return f"({self.real(depth + 1)} {self.pick('<', '>', '<=', '>=', '!=')} {self.real(depth + 1)})"
            case 4 if depth < 3:
                return f"({self.condition(depth + 1)} {self.pick('&&', '||')} {self.condition(depth + 1)})"
            case 5 if depth < 2:
                side = self.pick(
                    "(a += 3) > 9", "++b < 5", "(f = bounded(f + 1.0f)) > 0.0f", "in[a & 63] > b", "c-- & 1"
                )
                return f"({self.condition(depth + 1)} {self.pick('&&', '||')} ({side}))"
            case 6:
                return f"!({self.leaf()})"
            case _:
                return f"odd((int)({self.leaf()}))"

    # --- statements

    def block(self, count: int) -> None:
        self.depth += 1
        for _ in range(self.random.randint(1, count)):
            self.statement()
        self.depth -= 1

    def statement(self) -> None:
        kinds = [self.assign, self.assign, self.assign, self.object, self.call]
        if self.depth < 4:
            kinds += [self.choice, self.choice, self.loop, self.cases]
        self.random.choice(kinds)()

    def assign(self) -> None:
        r = self.random
        match r.randrange(6):
            case 0 | 1:
                self.say(
                    f"{r.choice(INTS)} {self.pick('=', '=', '+=', '-=', '*=', '&=', '|=', '^=')} {self.integer()};"
                )
            case 2:
                self.say(f"{self.pick('f', 'g', 'p.y', 'o.v.x', 'w.z')} = bounded({self.real()});")
            case 3:
                self.say(f"d = held({self.real()});")
            case 4:
                name = r.choice(INTS)
                self.say(self.pick(f"{name}++;", f"--{name};", f"{name} >>= 1;", f"{name} <<= 2;", f"{name} = a++ + 1;",
                                   f"{name} = (b = {self.leaf()}, b + 1);", f"a = b = {self.integer()};"))  # fmt: skip
            case _:
                self.say(f"f = bounded(f {self.pick('+', '-', '*')} {self.pick('g', '0.5f', 'a', 'u')});")

    def object(self) -> None:
        i = self.integer(1)
        self.say(self.pick(
            f"local[({self.leaf()}) & 3] = {i};", f"local[2] += {i};", f"p.z[{self.random.randrange(3)}] = {i};",
            f"p.x = {i};",
            f"p.w = {i};", f"o.in[1].b = {i};", "o.in[0] = o.in[1];", f"o.tag = {i};", "p = paired(p, a & 15);",
            f"m.i = {i} & 0x3fffffff; g = bounded(m.f);", "m.f = f; u = m.u;", "{ Pair r = p; r.x++; p = r; }",
            f"w = make_float4(f, s, bounded({self.real(1)}), 1.0f); g = w.y;",
            "{ Outer other = o; other.v.y = f; o = other; }",
            f"{{ int e[3] = {{ (int)({i}), 2 }}; b += e[0] - e[2] + e[{self.random.randrange(3)}]; }}",
        ))  # fmt: skip

    def call(self) -> None:
        name = self.fresh("r")
        self.say(self.pick(
            "swapped(a, b);", "bump(&c, a & 31);", "bump(&local[1], 3);", "bump(&p.x, b & 7);",
            f"atomicAdd(&ou[{self.leaf()} & 15], (unsigned)({self.integer(1)}));",
            f"atomicXor(&ou[16 + (a & 7)], {self.leaf()});",
            f"atomicMax(&ou[24 + (b & 3)], (unsigned){self.leaf()});", "atomicAdd(&total, 1u);",
            f"{{ const int *{name} = in + (a & 31); b += *{name}++; c ^= {name}[2]; l = {name} - in; }}",
            f"{{ int *{name} = local; for (int i = 4; i--; {name}++) if (*{name} > 3) {{ b += *{name}; break; }} }}",
            "c = summed(local, 1 + (a & 3));", "b += summed(in + (a & 15), 2 + (u & 3));",
            f"{{ int &{name} = {self.pick('a', 'local[3]', 'p.x')}; {name} += 2; }}",
        ))  # fmt: skip

    def choice(self) -> None:
        self.say(f"if ({self.condition()}) {{")
        self.block(3)
        if self.random.random() < 0.5:
            self.say("} else {" if self.random.random() < 0.6 else f"}} else if ({self.condition()}) {{")
            self.block(3)
        self.say("}")

    def loop(self) -> None:
        i, most = self.fresh("i"), self.random.randint(1, 4)
        bound = self.pick(str(most), "(a & 3)", "(int)(u % 4u)", "(t & 3)")
        self.loops += 1
        match self.random.randrange(4):
            case 0 | 1:
                self.say(
                    self.pick(
                        f"for (int {i} = 0; {i} < {bound}; {i}++) {{", f"for (int {i} = {bound}; {i} > 0; --{i}) {{"
                    )
                )
                self.body(i)
                self.say("}")
            case 2:
                self.say(f"int {i} = {bound};")
                self.say(f"while ({i}-- > 0) {{")
                self.body(i)
                self.say("}")
            case _:
                self.say(f"int {i} = 0;")
                self.say("do {")
                self.body(i)
                self.say(f"}} while (++{i} < {bound});")
        self.loops -= 1

    def body(self, i: str) -> None:
        self.say(f"  c += {i};")
        self.block(2)
        if self.random.random() < 0.4:
            self.say(f"  if ({self.condition(1)}) {self.pick('break', 'continue')};")
            self.block(1)

    def cases(self) -> None:
        self.say(f"switch ((int)({self.integer(1)}) {self.pick('& 3', '& 7', '% 5')}) {{")
        labels = self.random.sample(["case 0:", "case 1: case 3:", "case -2:", "case 4:", "default:", "case RED:"], 4)
        for label in labels:
            self.say(f"{label} {{")
            self.block(2)
            self.say("}")
            if self.random.random() < 0.6:
                self.say("  break;" if not self.loops or self.random.random() < 0.8 else "  continue;")
        self.say("}")

    def together(self) -> None:
        """Something that all threads of the block do at once."""
        by, sync = self.random.randrange(1, 9), "__syncthreads();"
        self.say(self.pick(
            f"tile[t] = {self.integer(1)}; __syncthreads(); a += tile[(t + {by}) & last]; __syncthreads();",
            f"grid[threadIdx.y][threadIdx.x] = bounded({self.real(1)}); {sync} g = grid[0][threadIdx.x]; {sync}",
            f"dyn[t] = {self.integer(1)}; __syncthreads(); b ^= dyn[last - t]; __syncthreads();",
            f"u += __ballot_sync(0xffffffffu, {self.condition(1)});",
            f"b += __any_sync(0xffffffffu, {self.condition(1)});",
            f"if (__all_sync(0xffffffffu, {self.condition(1)})) c++;",
            f"a ^= __shfl_xor_sync(0xffffffffu, {self.pick('a', 'b', 'c')}, {self.pick('1', '16')});",
            "f = __shfl_down_sync(0xffffffffu, f, 3);", "l = __shfl_sync(0xffffffffu, l, (t + 5) & 31);",
            "d = __shfl_up_sync(0xffffffffu, d, 2, 16);", f"c += __syncthreads_count({self.condition(1)});",
            f"if (__syncthreads_or({self.condition(1)})) b -= 2;", f"if (__syncthreads_and({self.leaf()})) a += 2;",
            "__syncwarp();", "__threadfence();",
        ))  # fmt: skip

    def kernel(self, name: str) -> str:
        """Return the text of a kernel."""
        head = [f"__global__ void {name}({PARAMETERS}) {{", text("head")]
        for _ in range(self.random.randint(3, 6)):
            self.statement()
            if self.random.random() < 0.5:
                self.together()
        if self.random.random() < 0.3:
            self.say(f"if ({self.condition()}) {{ oi[t] = a; return; }}")
        for _ in range(2):
            self.statement()
        return "\n".join([*head, *self.lines, text("tail")])


BLOCKS = ((32, 1), (8, 4), (16, 4), (64, 1), (16, 2))


def inputs() -> tuple[bytes, bytes]:
    """Return what `in` and `fin` hold: the same numbers as HOST makes."""
    x, whole, real = 12345, b"", b""
    for _ in range(COUNT):
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
        whole += struct.pack("<i", (x >> 20) - 2000)
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
        real += struct.pack("<f", ((x >> 22) - 500) / 8.0)
    return whole, real
