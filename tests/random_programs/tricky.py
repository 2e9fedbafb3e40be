"""Random functions of C that compilers get wrong: each is well defined, prints what it has computed, and ends.

    wrap-around counters, aliasing into one array, early exits, bit-fields, unions, VLAs, `goto`, shadowed and reserved
    names, types and enumerators of a function or of a loop's body, dense text, initializers that C++ refuses, switches
    that fall through, accumulators that inner loops count with

All arithmetic is unsigned or on small whole numbers, so that no order of evaluation changes a bit of the result, and
every subscript is masked or in range. A program is several functions and a `main` that calls them.
"""

from __future__ import annotations

import random
from collections.abc import Callable

__all__ = ["tricky_program"]

SIZE = 96
"""Elements of every array; counters stay below 64."""

_NAMES = (
    "a", "b", "i2", "class", "new", "template", "this", "threadIdx", "blockDim", "gridDim", "warpSize", "__x", "__lo",
    "_y", "min", "max", "grid", "block", "thread", "cudaError", "cudaMalloc_", "cu_n", "float4", "dim3", "t_i", "k_gpu",
    "s_partial", "ws_x", "delete", "operator", "and", "or", "not", "bool_", "private", "namespace", "index", "value",
    "partial", "n_arg", "typename", "nullptr", "alignas", "half", "assert_", "friend", "x_gpu", "blocks", "other",
)  # fmt: skip
_INTEGERS = ("int", "unsigned", "short", "unsigned char", "long long", "unsigned long", "signed char", "unsigned short")
_TYPES = (*_INTEGERS, "float", "double")


class _Function:
    """One function being written: its names are its own, its text grows line by line."""

    def __init__(self, rng: random.Random, number: int) -> None:
        self.rng = rng
        self.number = number
        self.names = rng.sample(_NAMES, len(_NAMES))
        self.globals: list[str] = []
        self.lines: list[str] = []
        self.printed: list[str] = []

    def name(self) -> str:
        return self.names.pop()

    def add(self, *lines: str) -> None:
        self.lines += lines

    def array(self, type: str = "") -> str:
        """Declare an array of any kind, filled with small numbers, and return its name."""
        type, name = type or self.rng.choice(_TYPES), self.name()
        kind = self.rng.randrange(5)
        if kind == 0:
            name = f"{name}_{self.number}"
            self.globals.append(f"static {type} {name}[{SIZE}];")
        elif kind == 1:
            self.add(f"{type} *{name} = malloc({SIZE} * sizeof({type}));")
        elif kind == 2:
            length = self.name()
            self.add(f"int {length} = {SIZE} + zero;", f"{type} {name}[{length}];")
        elif kind == 3:
            length = f"E{self.number}_{len(self.lines)}"
            self.add(f"enum {{ {length} = {SIZE} }};", f"{type} {name}[{length}];")
        else:
            self.add(f"{type} {name}[{SIZE}];")
        self.add(f"for (int i = 0; i < {SIZE}; i++) {name}[i] = ({type})(i * {self.rng.randrange(1, 9)} & 15);")
        self.printed.append(name)
        return name

    def small(self, *terms: str) -> str:
        """Return an expression of small value: four bits, whatever the terms are."""
        rng = self.rng
        text = "".join(f"(unsigned)(long long){t}{rng.choice(('+', '*', '^', '-', '|', '&'))}" for t in terms)
        return f"(({text}{rng.randrange(1, 12)}u)&15)"

    def text(self) -> str:
        head = f"static void t{self.number}(int zero)\n{{\n"
        sums = "".join(
            f"    for (int i = 0; i < {SIZE}; i++) sum = sum * 31 + (unsigned long long)(long long){name}[i];\n"
            for name in self.printed
        )
        tail = f'    unsigned long long sum = 0;\n{sums}    printf("{self.number} %llx\\n", sum);\n'
        body = "".join(f"    {line}\n" for line in self.lines)
        return "\n".join([*self.globals, f"{head}{body}{tail}}}\n"])


def _wraps(f: _Function) -> None:
    """Counters that wrap around, count down to zero, or step over the end."""
    a, b, i = f.array(), f.array(), f.name()
    n = f.rng.randrange(1, 64)
    header = f.rng.choice((
        f"unsigned {i} = {n}u - 1; {i} < {n}u; {i}--", f"unsigned char {i} = 250; {i} != {n % 50}; {i}++",
        f"unsigned short {i} = 65500; {i} > 5; {i} += 3", f"unsigned char {i} = {n}; {i} < 200; {i} -= 7",
        f"int {i} = 63; {i} >= {n % 9}; {i} -= 2", f"signed char {i} = -20; {i} != {n % 40}; {i}++",
        f"unsigned {i} = 4294967290u; {i} + 10u < {n % 30 + 4}u; {i}++", f"unsigned long {i} = {n}; {i}-- > 0;",
        f"unsigned {i} = zero; {i} <= zero - 1u + {n}u; {i}++",
    ))  # fmt: skip
    f.add(f"for ({header}) {a}[{i} & 63] = {f.small(f'{b}[({i} + {n}) & 63]', i)};")


def _aliases(f: _Function) -> None:
    """Two pointers into one array, apart by less than the loop is long, or by more."""
    a, b, p, q, i = f.array(), f.array(), f.name(), f.name(), f.name()
    near, far, step = f.rng.randrange(16), f.rng.randrange(33), f.rng.choice((1, 1, 2))
    count = f.rng.randrange(8, 33) // step
    f.add(f"__typeof__({a}[0]) *{p} = {a} + {near}, *{q} = &{a}[{far}];")
    f.add(f"for (int {i} = 0; {i} < {count}; {i}++)", f"    {p}[{step}*{i}]={f.small(f'{q}[{i}]', f'{b}[{i}]')};")
    if f.rng.random() < 0.5:
        f.add(f"for (int {i} = 0; {i} < {count}; {i}++) *{q}++ = {f.small(f'{p}[{i}]')};")


def _exits(f: _Function) -> None:
    """Loops that are left early, in every way that C has."""
    a, b, i, found = f.array(), f.array(), f.name(), f.name()
    limit = f.rng.randrange(16)
    leave = f.rng.choice(("break;", "continue;", f"goto out{f.number}_{len(f.lines)};", f"{{ {found} = i; break; }}"))
    f.add(f"int {found} = -1;", "for (int i = 0; i < 64; i++) {", f"    if ({a}[i] > {limit}) {leave}")
    f.add(f"    {b}[i] = {f.small(f'{a}[i]', 'i')};", f"    for (int {i} = 0; {i} < i; {i}++)")
    f.add(f"        if ({b}[{i}] == {limit}) break; else {a}[{i} + 1] = {f.small(f'{b}[{i}]')};", "}")
    if leave.startswith("goto"):
        f.add(f"{leave[5:-1]}: ;")
    f.add(f"{b}[{SIZE - 1}] = {found} & 15;")


def _again(f: _Function) -> None:
    """A loop made of `goto`, around one that is not."""
    a, count, label = f.array(), f.name(), f"again{f.number}_{len(f.lines)}"
    f.add(f"int {count} = 0;", f"{label}:", "for (int i = 1; i < 64; i++)")
    apart = f.rng.choice(("- 1", "+ 1", "+ 0"))
    f.add(f"    {a}[i] = {f.small(f'{a}[i {apart}]', count)};")
    f.add(f"if (++{count} < {f.rng.randrange(1, 4)}) goto {label};")


def _fields(f: _Function) -> None:
    """Bit-fields, unions and padding in the elements of an array."""
    a, s, tag, i = f.array(), f.name(), f"s{f.number}_{len(f.lines)}", f.name()
    wide = f.rng.choice(("unsigned long long z : 40;", "short z;", "unsigned char z[3];", "double z;"))
    f.add(f"struct {tag} {{ unsigned x : {f.rng.randrange(1, 9)}; int y : {f.rng.randrange(6, 12)}; {wide}")
    f.add("    union { unsigned u; unsigned char c[4]; unsigned short h[2]; } v; };")
    f.add(f"struct {tag} {s}[64];", f"memset({s}, 0, sizeof {s});")
    f.add(f"for (int {i} = 0; {i} < 64; {i}++) {{", f"    {s}[{i}].x = {f.small(f'{a}[{i}]', i)};")
    f.add(f"    {s}[{i}].y = {f.small(f'{a}[{i} + 1]')} - 4;", f"    {s}[{i}].v.u = {i} * 2654435761u;", "}")
    other = f.rng.choice((f"{s}[{i}].v.c[1]", f"{s}[{i}].v.h[1]", f"{s}[63 - {i}].y", f"{s}[{i}].x"))
    f.add(f"for (int {i} = 0; {i} < 64; {i}++) {a}[{i}] = {f.small(other, f'{s}[{i}].y')};")


def _shadows(f: _Function) -> None:
    """One name for several things, and text without a blank that C does not ask for."""
    a, b, s, n = f.array("double"), f.array("double"), f.name(), f.name()
    f.globals.append(f"static double {s}_{f.number};")
    f.add(f"{s}_{f.number}=1;int {n}=60+zero;")
    f.add(f"for(int i=0;i<{n};i++){s}_{f.number}+={a}[i];", f"for(int i=0;i<{n};i++){b}[i]={a}[i]*8/{s}_{f.number}>1;")
    f.add(f"for(int i=0;i<{n};i++){{double deep={a}[i];{{int {a}=i&7;deep-=-{a};}}{{int i=3;deep+=i;}}{b}[i]=deep;}}")
    f.add(f"for(int {s}=0;{s}<{n};{s}++){a}[{s}]={b}[{s}]-{s}_{f.number}+ +{s};")


def _refused(f: _Function) -> None:
    """What C converts without a word and C++ does not."""
    a, i, p = f.array("int"), f.name(), f.name()
    made = f.rng.choice((
        f"int *{p}[2] = {{(void *)0}}; {a}[{i}] = {p}[0] == 0;", f"int {p}[2] = {{{i} * 1.5, {i}}}; {a}[{i}] = {p}[0];",
        f"void *{p} = {a}; int *q = {p}; {a}[{i}] = q[{i}] & 7;", f"char {p} = 300; {a}[{i}] = {p} + {i};",
        f"enum {{ LO, HI = 4 }} {p} = {i} & 1; {a}[{i}] = {p} + HI;",
        f"unsigned char {p}[] = {{{i}, -1}}; {a}[{i}] = {p}[1];",
        f"struct {{ short s; int t; }} {p} = {{{i} * 3, 1.0 * {i}}}; {a}[{i}] = {p}.s + {p}.t;",
        f"const char *{p} = \"abcdefg\"; {a}[{i}] = {p}[{i} & 7];", f"{a}[{i}] = sizeof('a') + sizeof(char);",
        f"int {p} = ({i}, 4); {a}[{i}] = {p}++ + {i};",
        f"static const int {p}[] = {{1, 2, 3, 5}}; {a}[{i}] = {p}[{i} & 3];",
    ))  # fmt: skip
    f.add(f"for (int {i} = 0; {i} < 64; {i}++) {{ {made} }}")


def _sums(f: _Function) -> None:
    """Reductions, running values and histograms, some of which are none."""
    a, b, s, i = f.array(), f.array(), f.name(), f.name()
    f.add(f"long long {s} = 0;")
    body = f.rng.choice((
        f"{s} += {a}[{i}];", f"{s} += {a}[{i}]; {b}[{i}] = {s} & 15;", f"if ({a}[{i}] > {s}) {s} = {a}[{i}];",
        f"{b}[(unsigned){a}[{i}] & 15]++;", f"{b}[{i}] = {s}; {s} = {a}[{i}];",
        f"{s} = {s} * 3 + (int){a}[{i}] & 255;", f"if ((int){a}[{i}] & 1) {s}++; else {b}[{i}] = 1;",
        f"{s} ^= (int){a}[{i}]; {a}[{i}] = {i} & 3;",
    ))  # fmt: skip
    f.add(f"for (int {i} = 0; {i} < 64; {i}++) {{ {body} }}", f"{b}[{SIZE - 2}] = {s} & 15;")


def _switches(f: _Function) -> None:
    """A switch that falls through, nested loops of which the inner one moves with the outer one."""
    a, b, i, j = f.array(), f.array(), f.name(), f.name()
    f.add(f"for (int {i} = 0; {i} < 8; {i}++)", f"    for (int {j} = {i}; {j} < 8; {j}++)")
    f.add(f"        switch ({j} & 3) {{", f"        case 0: {a}[{i} * 8 + {j}] = {f.small(f'{b}[{j} * 8 + {i}]')};")
    f.add(f"        case 1: {a}[{i} * 8 + {j}] = {i}; break;", f"        default: {b}[{i} * 8 + {j}] = {j}; }}")


def _counters(f: _Function) -> None:
    """Variables that inner loops count with, and that something else updates or reads."""
    a, b, s, i = f.array(), f.array(), f.name(), f.name()
    if f.rng.random() < 0.5:
        s = f"{s}_{f.number}"
        f.globals.append(f"static unsigned {s};")
        f.add(f"{s} = 2;")
    else:
        f.add(f"unsigned {s} = 2;")
    update = f.rng.choice((f"{s}--;", f"{s} += {i};", f"if ({s} < 5) {s} = 5;", f"{a}[{i}] = {s} & 7;", f"{s} ^= 1;",
                           f"if ({a}[{i}] > {s}) {s} = (int){a}[{i}];", ""))  # fmt: skip
    inner = f"for ({s} = {f.rng.choice(('0', f'{i} & 1', '1'))}; {s} < {f.rng.choice(('3', f'{i}', '2'))}; {s}++)"
    inner += f" {b}[{f.rng.choice((f'{i}', f'{i} + {s} & 63', f'{s} & 63'))}] = {f.rng.choice(('1', f'{s} & 7'))};"
    parts = [update, inner, f.rng.choice(("", f"{a}[{i}] = {s} & 15;", update))]
    if f.rng.random() < 0.3:
        parts.reverse()
    f.add(f"for (int {i} = 0; {i} < 64; {i}++) {{ {' '.join(parts)} }}", f"{b}[{SIZE - 2}] = {s} & 15;")


def _types(f: _Function) -> None:
    """Types that a loop's body declares, alone or with a variable, of names that mean something else around it."""
    rng, number = f.rng, f.number
    a, b, i, v = f.array(), f.array(), f.name(), f.name()
    tag, real, count = (f"{name}{number}_{len(f.lines)}" for name in ("tag", "real", "K"))
    around = (f"struct {tag} {{ char y; int x; }};", f"typedef short {real};", f"enum {{ {count} = 3 }};")
    outer = list(rng.sample(around, rng.randrange(4)))
    if around[2] not in outer and rng.random() < 0.5:
        f.add(f"int {count} = zero + 2;")
        outer.append(count)
    place = f.globals if rng.random() < 0.5 else f.lines
    place.extend(text for text in outer if text != count)
    scalar = rng.choice(_TYPES)
    first = rng.choice(
        (
            f"struct {tag} {{ {scalar} x; unsigned char y; }};",
            f"struct {tag} {{ long long x, pad[2]; {scalar} y; }};",
            f"struct {tag} {{ unsigned x : 7; {scalar} y; struct {{ short z; }} in; }};",
            f"typedef struct {tag} {{ short x; {scalar} y; }} {tag};",
        )
    )
    second = rng.choice((f"typedef {scalar} {real};", f"typedef unsigned char {real};", f"typedef double {real};"))
    third = rng.choice((f"enum {{ {count} = 5 }};", f"enum e{tag} {{ LO{tag}, {count} = 9 }};"))
    made = rng.choice(
        (
            f"struct {tag} {v} = {{{i} & 7, {count}}}; {a}[{i}] = {f.small(f'{v}.x', f'{v}.y')};",
            f"{real} {v} = {b}[{i}] * {count}; {a}[{i}] = {f.small(v, f'sizeof(struct {tag})')};",
            f"{a}[{i}] = {f.small(f'({real})({b}[{i}] * 100)', f'sizeof({real})')};",
            f"struct {{ {real} p; struct {tag} q; }} {v} = {{{i} & 3, {{{count}, 1}}}}; "
            f"{a}[{i}] = {f.small(f'{v}.p', f'{v}.q.x')};",
            f"enum {{ A{tag}, B{tag} = {count} }} {v} = {i} & 1; {a}[{i}] = {v} + B{tag};",
            f"struct {tag} {v}[{count}]; for (int j = 0; j < {count}; j++) {v}[j].y = j; "
            f"{a}[{i}] = {v}[{i} % {count}].y;",
            f"union {{ {real} p; unsigned char c[8]; }} {v}; {v}.p = {i} & 7; {a}[{i}] = {f.small(f'{v}.c[0]')};",
            f"{{ struct {tag} {{ {real} w; }} {v} = {{{count}}}; {a}[{i}] = {v}.w; }} "
            f"struct {tag} z = {{1, 2}}; {b}[{i}] = z.y;",
        )
    )
    declared = [first, second, third]
    rng.shuffle(declared)
    if f"typedef {scalar}" in second and rng.random() < 0.3:
        declared.append(f"struct u{tag} {{ {real} m[{count}]; }};")
    body = " ".join([*declared, made])
    if rng.random() < 0.3:
        f.add(f"for (int t = 0; t < 3; t++) {{ {' '.join(declared)} if ({a}[t] == 99) break;",
              f"    for (int {i} = 0; {i} < 64; {i}++) {{ {made} }} }}")  # fmt: skip
    else:
        f.add(f"for (int {i} = 0; {i} < 64; {i}++) {{ {body} }}")
    if outer and rng.random() < 0.7:
        used = {around[0]: f"struct {tag} s{tag} = {{1, {i}}}; {b}[{i}] = s{tag}.x & 7;",
                around[1]: f"{b}[{i}] = ({real})({i} * 5) & 15;"}  # fmt: skip
        f.add(f"for (int {i} = 0; {i} < 64; {i}++) {{ {used.get(outer[0], f'{b}[{i}] = {i} % {count};')} }}")


_KINDS: tuple[Callable[[_Function], None], ...] = (
    _wraps, _aliases, _exits, _again, _fields, _shadows, _refused, _sums, _switches, _counters,
    _types,
)  # fmt: skip


def tricky_program(seed: int, functions: int) -> str:
    """Return a program of C: every function has one or two constructs, all kinds take turns."""
    rng = random.Random(seed)
    texts = []
    for number in range(functions):
        made = _Function(rng, number)
        _KINDS[(seed + number) % len(_KINDS)](made)
        if rng.random() < 0.4:
            rng.choice(_KINDS)(made)
        texts.append(made.text())
    calls = "".join(f"    t{number}(argc - 1);\n" for number in range(functions))
    head = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
    return f"{head}{''.join(texts)}\nint main(int argc, char **argv)\n{{\n    (void)argv;\n{calls}    return 0;\n}}\n"
