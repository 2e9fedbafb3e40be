"""PTX kernels of any size, written for measurements: text as compilers write it, with the shapes that kernels have.

straight   one long block: loads, arithmetic on what they bring, stores              (unrolled numerical code)
loops      nests of three loops, one after another; the inner one runs along an array
branches   ifs and if-elses, half of them on the thread's index, half on an argument; they meet again
memory     tiles in shared memory: load, barrier, read the neighbors, barrier, store
switch     a loop around a switch of many cases, each of which makes the next state   (an interpreter, a parser)
scattered  indices out of memory, early exits, atomics                                (graphs, hash tables)

python benchmarks/ptx_kernels.py KIND INSTRUCTIONS      prints one
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable

from msgspec import Struct, field

HEAD = """\
.version 7.0
.target sm_70
.address_size 64

.visible .entry {name}(
    .param .u64 from, .param .u64 to, .param .u64 index, .param .u32 n, .param .u32 rows, .param .f32 scale
)
{{
    .reg .pred %p<{size}>;
    .reg .b32 %r<{size}>;
    .reg .f32 %f<{size}>;
    .reg .b64 %rd<{size}>;
    .shared .align 4 .b8 tile[4096];

    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.param.u64 %rd3, [index];
    ld.param.u32 %r1, [n];
    ld.param.u32 %r2, [rows];
    ld.param.f32 %f1, [scale];
    cvta.to.global.u64 %rd4, %rd1;
    cvta.to.global.u64 %rd5, %rd2;
    cvta.to.global.u64 %rd6, %rd3;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mad.lo.s32 %r6, %r4, %r5, %r3;
    mov.u32 %r7, tile;
    shl.b32 %r8, %r3, 2;
    add.s32 %r9, %r7, %r8;
    setp.ge.s32 %p1, %r6, %r1;
    @%p1 bra done;
    mul.wide.s32 %rd7, %r6, 4;
    add.s64 %rd8, %rd4, %rd7;
    ld.global.f32 %f2, [%rd8];
"""
TAIL = """\
    add.s64 %rd9, %rd5, %rd7;
    st.global.f32 [%rd9], {last};
done:
    ret;
}}
"""


class Writer(Struct):
    """A kernel on its way. `float`: the register that was written last; registers are never written twice, but in
    loops."""

    chance: random.Random
    lines: list[str] = field(default_factory=list)
    registers: int = 10
    labels: int = 0
    float: str = "%f2"

    def register(self, kind: str) -> str:
        """Return a register that is not in use: `r`, `rd`, `f` or `p`."""
        self.registers += 1
        return f"%{kind}{self.registers}"

    def label(self) -> str:
        """Return a label that is not in use."""
        self.labels += 1
        return f"$L_{self.labels}"

    def add(self, text: str) -> dict[str, str]:
        """Write lines and return its registers: `{r:sum}` is one that is new here, the same wherever it comes again."""
        names: dict[str, str] = {}

        def named(found: re.Match[str]) -> str:
            key = found[0]
            if key not in names:
                names[key] = self.register(found[1])
            return names[key]

        self.lines += re.sub(r"\{(r|rd|f|p):\w+\}", named, text).strip("\n").split("\n")
        return {key[1:-1]: register for key, register in names.items()}

    def arithmetic(self) -> None:
        """Write one or two operations on numbers."""
        new, old = self.register("f"), self.float
        op = self.chance.choice(("add.f32", "mul.f32", "sub.f32", "max.f32"))
        if self.chance.random() < 0.5:
            self.lines.append(f"    fma.rn.f32 {new}, {old}, %f1, %f2;")
        else:
            self.lines.append(f"    {op} {new}, {old}, %f1;")
        self.float = new

    def load(self, offset: int) -> None:
        """Write a load of a neighbor, and what it is used for."""
        names = self.add(f"""
    ld.global.f32 {{f:a}}, [%rd8+{offset}];
    fma.rn.f32 {{f:b}}, {{f:a}}, %f1, {self.float};
""")
        self.float = names["f:b"]


def straight(w: Writer) -> None:
    """Write a piece of a long block."""
    for _ in range(3):
        w.load(4 * w.chance.randrange(-8, 64))
    for _ in range(6):
        w.arithmetic()
    row = w.chance.randrange(1, 40)
    w.add(f"""
    mad.lo.s32 {{r:i}}, %r2, {row}, %r6;
    mul.wide.s32 {{rd:o}}, {{r:i}}, 4;
    add.s64 {{rd:a}}, %rd5, {{rd:o}};
    st.global.f32 [{{rd:a}}], {w.float};
""")


def loops(w: Writer) -> None:
    """Write a nest of three loops."""
    outer, middle, inner = w.label(), w.label(), w.label()
    rows, columns = w.chance.randrange(2, 9), w.chance.choice((4, 8, 16))
    names = w.add(f"""
    mov.u32 {{r:i}}, 0;
    mov.f32 {{f:s}}, {w.float};
{outer}:
    mul.lo.s32 {{r:row}}, {{r:i}}, %r1;
    mov.u32 {{r:j}}, %r3;
{middle}:
    add.s32 {{r:at}}, {{r:row}}, {{r:j}};
    mul.wide.s32 {{rd:o}}, {{r:at}}, 4;
    add.s64 {{rd:a}}, %rd4, {{rd:o}};
    mov.u32 {{r:k}}, 0;
{inner}:
    ld.global.f32 {{f:x}}, [{{rd:a}}];
    ld.global.f32 {{f:y}}, [{{rd:a}}+4];
    fma.rn.f32 {{f:s}}, {{f:x}}, {{f:y}}, {{f:s}};
    add.s64 {{rd:a}}, {{rd:a}}, 128;
    add.s32 {{r:k}}, {{r:k}}, 1;
    setp.lt.s32 {{p:k}}, {{r:k}}, {columns};
    @{{p:k}} bra {inner};
    add.s32 {{r:j}}, {{r:j}}, %r5;
    setp.lt.s32 {{p:j}}, {{r:j}}, %r1;
    @{{p:j}} bra {middle};
    add.s32 {{r:i}}, {{r:i}}, 1;
    setp.lt.s32 {{p:i}}, {{r:i}}, {rows};
    @{{p:i}} bra {outer};
""")
    w.float = names["f:s"]


def branches(w: Writer) -> None:
    """Write an if-else, or an if."""
    other, end = w.label(), w.label()
    test = w.chance.choice((
        f"setp.lt.s32 {{p:c}}, %r3, {w.chance.randrange(1, 200)};",
        f"setp.gt.s32 {{p:c}}, %r1, {w.chance.randrange(1, 200)};",
        f"setp.gt.f32 {{p:c}}, {w.float}, %f1;",
    ))  # fmt: skip
    old = w.float
    if w.chance.random() < 0.6:
        names = w.add(f"""
    {test}
    @{{p:c}} bra {other};
    add.f32 {{f:x}}, {old}, %f1;
    mul.f32 {{f:v}}, {{f:x}}, %f1;
    bra.uni {end};
{other}:
    sub.f32 {{f:y}}, {old}, %f2;
    st.global.f32 [%rd8+4096], {{f:y}};
    mov.f32 {{f:v}}, {{f:y}};
{end}:
    fma.rn.f32 {{f:w}}, {{f:v}}, %f1, %f2;
""")
        w.float = names["f:w"]
    else:
        names = w.add(f"""
    mov.f32 {{f:v}}, {old};
    {test}
    @{{p:c}} bra {end};
    ld.global.f32 {{f:x}}, [%rd8+{4 * w.chance.randrange(64)}];
    add.f32 {{f:v}}, {{f:x}}, {old};
{end}:
""")
        w.float = names["f:v"]


def memory(w: Writer) -> None:
    """Write one tile: everyone loads, waits, reads neighbors, waits."""
    row = w.chance.randrange(1, 60)
    names = w.add(f"""
    mad.lo.s32 {{r:i}}, %r1, {row}, %r6;
    mul.wide.s32 {{rd:o}}, {{r:i}}, 4;
    add.s64 {{rd:a}}, %rd4, {{rd:o}};
    ld.global.f32 {{f:x}}, [{{rd:a}}];
    st.shared.f32 [%r9+64], {{f:x}};
    bar.sync 0;
    ld.shared.f32 {{f:l}}, [%r9+{64 - 4 * w.chance.randrange(8)}];
    ld.shared.f32 {{f:r}}, [%r9+{64 + 4 * w.chance.randrange(8)}];
    xor.b32 {{r:t}}, %r3, {w.chance.choice((1, 2, 4, 8, 31))};
    shl.b32 {{r:b}}, {{r:t}}, 2;
    add.s32 {{r:c}}, %r7, {{r:b}};
    ld.shared.f32 {{f:z}}, [{{r:c}}];
    add.f32 {{f:s}}, {{f:l}}, {{f:r}};
    add.f32 {{f:u}}, {{f:s}}, {{f:z}};
    fma.rn.f32 {{f:v}}, {{f:u}}, %f1, {w.float};
    bar.sync 0;
    add.s64 {{rd:q}}, %rd5, {{rd:o}};
    st.global.f32 [{{rd:q}}], {{f:v}};
""")
    w.float = names["f:v"]


def switch(w: Writer) -> None:
    """Write a loop around a switch of 24 cases."""
    top, out, end = w.label(), w.label(), w.label()
    cases = [w.label() for _ in range(24)]
    names = w.add(f"""
    and.b32 {{r:state}}, %r6, 15;
    mov.u32 {{r:turn}}, 0;
    mov.f32 {{f:v}}, {w.float};
{top}:
""")
    state, turn, value = names["r:state"], names["r:turn"], names["f:v"]
    for number, case in enumerate(cases):
        w.add(f"    setp.eq.s32 {{p:c}}, {state}, {number};\n    @{{p:c}} bra {case};")
    w.lines.append(f"    bra.uni {out};")
    for number, case in enumerate(cases):
        w.add(f"""
{case}:
    fma.rn.f32 {value}, {value}, %f1, %f2;
    add.s32 {{r:n}}, {turn}, {number};
    and.b32 {state}, {{r:n}}, 31;
    bra.uni {end};
""")
    w.add(f"""
{end}:
    add.s32 {turn}, {turn}, 1;
    setp.lt.s32 {{p:t}}, {turn}, %r1;
    @{{p:t}} bra {top};
{out}:
""")
    w.float = value


def scattered(w: Writer) -> None:
    """Write a step through an index, with a way out."""
    over = w.label()
    names = w.add(f"""
    ld.global.u32 {{r:i}}, [%rd6+{4 * w.chance.randrange(64)}];
    add.s32 {{r:j}}, {{r:i}}, %r6;
    setp.lt.s32 {{p:e}}, {{r:j}}, 0;
    @{{p:e}} bra done;
    mul.wide.s32 {{rd:o}}, {{r:j}}, 4;
    add.s64 {{rd:a}}, %rd6, {{rd:o}};
    ld.global.u32 {{r:k}}, [{{rd:a}}];
    rem.u32 {{r:m}}, {{r:k}}, %r1;
    mul.wide.u32 {{rd:p}}, {{r:m}}, 4;
    add.s64 {{rd:b}}, %rd5, {{rd:p}};
    setp.ne.s32 {{p:k}}, {{r:k}}, {w.chance.randrange(9)};
    @{{p:k}} bra {over};
    atom.global.add.u32 {{r:x}}, [{{rd:b}}], 1;
    cvt.rn.f32.u32 {{f:x}}, {{r:x}};
    st.global.f32 [{{rd:b}}+4], {{f:x}};
{over}:
    cvt.rn.f32.u32 {{f:y}}, {{r:m}};
    add.f32 {{f:v}}, {{f:y}}, {w.float};
""")
    w.float = names["f:v"]


KINDS: dict[str, Callable[[Writer], None]] = {
    "straight": straight,
    "loops": loops,
    "branches": branches,
    "memory": memory,
    "switch": switch,
    "scattered": scattered,
}


def written(kind: str, instructions: int, seed: int = 5) -> str:
    """Return a kernel of a kind with about so many instructions."""
    writer = Writer(random.Random(seed))
    left = instructions - counted(HEAD + TAIL)
    done = 0
    while done < left:
        start = len(writer.lines)
        KINDS[kind](writer)
        done += counted("\n".join(writer.lines[start:]))
    head = HEAD.format(name=kind, size=writer.registers + 1)
    return head + "\n".join(writer.lines) + "\n" + TAIL.format(last=writer.float)


def counted(text: str) -> int:
    """Return how many instructions a text has: lines that are indented, end in a semicolon and declare nothing."""
    return len(re.findall(r"^ +[^.\s].*;$", text, re.MULTILINE))


if __name__ == "__main__":
    print(written(sys.argv[1], int(sys.argv[2])), end="")
