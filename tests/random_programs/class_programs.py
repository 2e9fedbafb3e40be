"""Random programs with small classes of numbers, and what they print when every statement is what the tree says of it.

    struct V0 { … V0 &turn(const V0 &o) { x = o.y; … } };   random members, constructors, methods, operators
    static void f0(V0 *a, V0 *b, N0 *n, V0 c, V0 &r, …)      random statements; arguments name the same objects in turn
    text → tree → text with nothing of the user's own        `a += b;` is the assignments to members that it stands for

A program prints every object after each call. The program whose functions are written from the tree prints the same.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Block, Function, InitList, MacroUse
from warpsmith.tree.printing.printer import Printer, nothing
from warpsmith.tree.walk import walk

__all__ = ["Expanded", "class_program", "differences", "expand"]

_HEAD = """#include <cstdio>
static int count;
template <class T> static void show(const char *name, const T *p, int n) {
    for (int i = 0; i < n; i++) std::printf("%s %.17g %.17g\\n", name, (double)p[i].x, (double)p[i].y);
}
"""
_CALLS = 6
_INTEGERS = ("int", "long", "unsigned char")
_TYPES = ("double", "double", "float", *_INTEGERS)


class Expanded(Struct, frozen=True):
    """A program written from its tree; `changes` statements in it are lists of assignments, `made` objects lists of
    their members."""

    text: str
    changes: int
    made: int


class _Writer:
    """Writes one class, a function that uses it, and the calls of that."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.seed = seed
        self.type = self.pick.choice(_TYPES)
        self.fields = ["x", "y"]
        self.v, self.n = f"V{seed}", f"N{seed}"
        self.locals = 0
        self.objects: list[str] = []
        self.numbers: list[str] = []

    # --- the class

    def member_body(self, own: str, other: str, level: int = 0) -> str:
        """Return statements of a method that changes its object, or of a function that changes its parameter; `level`:
        whether it may call others that do."""
        whole, given = (own[:-1] if own == "l." else "*this"), other[:-1]
        places = [own + field for field in self.fields]
        read = [*places, *(other + field for field in self.fields), "2"]
        lines: list[str] = []
        for number in range(self.pick.randint(1, 3)):
            if self.pick.random() < 0.2 * level:
                lines.append(self.whole_change(own, whole, given, level))
                continue
            if self.pick.random() < 0.2:
                lines.append(f"{own}x = {other}y; {own}y += {other}x;")  # another thing where both are one object
                continue
            value = f"{self.pick.choice(read)} {self.pick.choice('+-*')} {self.pick.choice(read)}"
            if self.pick.random() < 0.25:
                lines.append(f"{self.type} t{number} = {value};")
                read.append(f"t{number}")
                continue
            value = self.pick.choice((value, self.pick.choice(read)))
            lines.append(f"{self.pick.choice(places)} {self.pick.choice(('=', '=', '+=', '-=', '*='))} {value};")
        return " ".join(lines)

    def whole_change(self, own: str, whole: str, given: str, level: int) -> str:
        """Return a statement of a body that changes its object by another function."""
        value = self.pick.choice((given, f"{self.v}({given}.y, {own}x)", whole, whole, f"{whole} + {given}"))
        forms = [f"{whole} += {value};", f"{whole} = {value};", f"{own}x++;", f"--{own}y;", f"{own}{{}} = {own}x + 1;"]
        forms = [*forms, f"{own}turn({value});", f"{own}turn({value});"] if level > 1 else forms
        return self.pick.choice(forms).format(self.pick.choice("xy"))

    def plain_body(self) -> str:
        return " ".join(f"{field} += o.{field};" for field in self.fields)

    def class_text(self) -> str:
        v, t, pick = self.v, self.type, self.pick
        body = "return r;"
        inner = pick.choice(("r.x += o.y;", "r += o;", "r.turn(o);", "r.x = r.y; r.y = o.x;", "r = o;"))
        start = pick.choice((f"{v} r = *this;", f"{v} r(*this);", f"{v} r(y, o.x);", f"{v} r{{o.x, x}};"))
        friend = self.member_body("l.", "r.", 2)
        first = pick.choice((": x(p), y(q) {}", ": x(p), y(q) { y += x; }", ": x(q), y(p) {}", "{ x = p; y = q; }"))
        return f"""struct {v} {{
    {t} x, y;
    {v}() : x(1), y(2) {{}}
    {v}({t} p, {t} q) {first}
    {v} operator+(const {v} &o) const {{ return {v}(x + o.x, y + o.y); }}
    {v} operator-(const {v} &o) const {{ {start} {inner} {body} }}
    {v} operator*({t} s) const {{ return {{({t})(x * s), ({t})(y * s)}}; }}
    {v} &operator+=(const {v} &o) {{ {pick.choice((self.plain_body(), self.member_body("", "o.")))} return *this; }}
    {v} &operator*=(const {t} &s) {{ x *= s; y *= s; return *this; }}
    {v} &operator/=({t} s) {{ x += s; y -= s; return *this; }}
    {v} &turn(const {v} &o) {{ {self.member_body("this->", "o.", 1)} return *this; }}
    void swing({v} o) {{ {self.member_body("", "o.", 2)} o.x = x; y += o.x; }}
    void give({v} &o) {{ o.x += x; x = 2; o.y = x; }}
    {v} counted() const {{ count++; return {v}(y, x); }}
    {t} dot(const {v} &o) const {{ return x * o.x + y * o.y; }}
    {t} bump() {{ return x += 1; }}
    {t} X() const {{ return x; }}
    {t} &ref() {{ return y; }}
    friend {v} operator%({v} l, const {v} &r) {{ {friend} return l; }}
}};
struct {self.n} {{ {v} p; {t} m; }};
static {v} &operator^=({v} &l, const {v} &r) {{ {self.member_body("l.", "r.", 2)} return l; }}
static {t} late(const {t} &s, {v} *a) {{ a[0].x = 5; a[1].y = s; return s; }}
static {t} early({v} p) {{ return p.x += 1; }}
"""

    # --- the function

    def place(self) -> str:
        """Return an lvalue of the class."""
        fixed = ["a[i]", "a[j]", "b[i]", "b[j]", "c", "r", "n[i & 1].p", "n[j & 1].p", "a[0]", "*p"]
        if self.type in _INTEGERS:
            fixed.append("a[a[0].x & 1]")
        return self.pick.choice(fixed + self.objects)

    def reached(self) -> str:
        """Return an lvalue that a member can be named of."""
        place = self.place()
        return f"({place})" if place == "*p" else place

    def value(self, depth: int = 0) -> str:
        """Return an object."""
        kind = self.pick.random()
        if kind < 0.35 or depth > 2:
            return self.pick.choice((self.place(), self.place(), "q"))
        below = depth + 1
        if kind < 0.5:
            return f"{self.v}({self.number(below)}, {self.number(below)})"
        if kind < 0.6:
            return f"({self.value(below)} * {self.number(below)})"
        if kind < 0.7:
            return f"({self.number(below)} > 2 ? {self.v}({self.value(below)}) : {self.v}({self.value(below)}))"
        if kind < 0.72:
            return f"{self.v}({self.value(below)}).counted()"
        return f"({self.value(below)} {self.pick.choice('+-+-%')} {self.value(below)})"

    def number(self, depth: int = 0) -> str:
        """Return a number of the members' type."""
        kind, reached = self.pick.random(), self.reached()
        if kind < 0.45 or depth > 2:
            made = self.pick.choice((f"{reached}.x", f"{reached}.y", f"{reached}.X()", "*s", "n[j & 1].m", "3"))
        elif kind < 0.6:
            made = f"{reached}.dot({self.value(depth + 1)})"
        elif kind < 0.7:
            made = f"{self.v}({self.value(depth + 1)}).dot({self.value(depth + 1)})"
        elif kind < 0.8 and self.numbers:
            made = self.pick.choice(self.numbers)
        else:
            made = f"{self.number(depth + 1)} {self.pick.choice('+-*')} {self.number(depth + 1)}"
        return f"({self.type})({made})"

    def statement(self, depth: int = 0) -> str:
        forms = [*[self.operator] * 5, *[self.alias] * 3, *[self.method] * 3, *[self.sum] * 3]
        if depth == 0:
            forms += [*[self.declaration] * 5, self.branch, self.loop]
        return self.pick.choice(forms)()

    def operator(self) -> str:
        place, value, number = self.place(), self.value(), self.number()
        return self.pick.choice((
            f"{place} += {value};", f"{place} = {value};", f"{place} = {value};", f"{place} ^= {value};",
            f"{place} *= {number};", f"{place} *= {self.reached()}.x;", f"{place} /= *s;", f"{place} /= {number};",
            f"{place} = {place};", f"{place} = {place} + {place};", f"{place} = {place} - {value};",
            f"({place} += {value}) += {self.value()};",
        ))  # fmt: skip

    def alias(self) -> str:
        """Return a statement that may read the object through another name while it changes."""
        place, other = self.place(), self.place()
        if self.type in _INTEGERS and self.pick.random() < 0.5:
            place = "a[a[0].x & 1]"
        reached = f"({place})" if place == "*p" else place
        return self.pick.choice((f"{reached}.turn({other});", f"{place} ^= {other};", f"{place} += {other};"))

    def method(self) -> str:
        reached, value, number = self.reached(), self.value(), self.number()
        return self.pick.choice((
            f"{reached}.turn({value});", f"{reached}.swing({value});", f"{reached}.give({self.place()});",
            f"{reached}.x = {number};", f"{reached}.y += {number};", f"{reached}.ref() = {number};",
        ))  # fmt: skip

    def sum(self) -> str:
        """Return a statement that adds a number to what the function returns, and may change an object."""
        reached, value = self.reached(), self.value()
        return self.pick.choice((
            f"t += {reached}.bump();", f"t += {self.v}({reached}).bump();", f"t += late({reached}.X(), a);",
            f"t += late({reached}.x, a);", f"t += early({value});", f"t += {self.number()};",
        ))  # fmt: skip

    def branch(self) -> str:
        return f"if ({self.number()} > {self.number()}) {self.statement(1)} else {{ {self.statement(1)} }}"

    def loop(self) -> str:
        inner = " ".join(self.statement(1) for _ in range(2))
        return f"for (int k = 0; k < 3; k++) {{ a[k] += {self.value()}; {inner} }}"

    def declaration(self) -> str:
        name, made = f"d{self.locals}", self.value()
        self.locals += 1
        form = self.pick.random()
        if form < 0.2:
            text = f"{self.type} {name} = {self.number()};"
            self.numbers.append(name)
            return text
        text = self.pick.choice((
            f"{self.v} {name} = {made};", f"{self.v} {name}({made});", f"{self.v} &{name} = {self.place()};",
            f"{self.v} {name}({self.number()}, 2);", f"{self.v} {name};", f"const {self.v} {name} = {made};",
        ))  # fmt: skip
        if not text.startswith("const"):
            self.objects.append(name)
        return text

    def function_text(self) -> str:
        v, t = self.v, self.type
        lines = "\n    ".join(self.statement() for _ in range(self.pick.randint(5, 9)))
        taken = f"{v} *a, {v} *b, {self.n} *n, {v} c, {v} &r, const {v} &q, {t} *s, int i, int j"
        return f"""static {t} f{self.seed}({taken}) {{
    {v} *p = &b[j];
    {t} t = 0;
    {lines}
    r += c;
    return t;
}}
"""

    def calls_text(self) -> str:
        v, n, pick = self.v, self.n, self.pick
        lines: list[str] = []
        for _ in range(_CALLS):
            i, j = pick.randrange(2), pick.randrange(2)
            b = pick.choice(("m", "m", "m + 1", "k"))
            places = [f"m[{pick.randrange(2)}]", f"k[{pick.randrange(4)}]", f"e[{pick.randrange(2)}].p"]
            r, q = pick.choice(places), pick.choice(places)
            s = pick.choice((f"&m[{i}].x", f"&m[{j}].y", f"&e[{i & 1}].p.x", f"&e[{j & 1}].m"))
            given = f"m, {b}, e, {pick.choice(places)}, {r}, {q}, {s}, {i}, {j}"
            name = f"f{self.seed}"
            lines += [
                f'    std::printf("{name} %.17g\\n", (double){name}({given}));',
                f'    show("{name}", m, 5); show("{name}", k, 5);',
                f'    show("{name}", &e[0].p, 1); show("{name}", &e[1].p, 1);',
            ]
        made = ", ".join(f"{v}({pick.randrange(5)}, {pick.randrange(5)})" for _ in range(5))
        return f"""static void g{self.seed}() {{
    {v} m[5] = {{{made}}}, k[5] = {{{made}}};
    {n} e[2] = {{{{{v}(1, 3), 2}}, {{{v}(2, 1), 3}}}};
{chr(10).join(lines)}
}}
"""


def class_program(seeds: Sequence[int]) -> str:
    """Return a program with a class and a function for each seed."""
    writers = [_Writer(seed) for seed in seeds]
    parts = [w.class_text() + w.function_text() + w.calls_text() for w in writers]
    calls = "".join(f"    g{w.seed}();\n" for w in writers)
    return "\n".join([_HEAD, *parts, f'int main() {{\n{calls}    std::printf("count %d\\n", count);\n}}\n'])


def expand(path: Path) -> Expanded:
    """Return the program of a file with its functions `f…` written from the tree alone."""
    program = load_program([str(path)], FrontOptions()).program
    functions = [f for _, f in program.functions() if re.fullmatch(r"f\d+", f.symbol.name)]
    text, changes, made = path.read_text(), 0, 0
    for function in sorted(functions, key=lambda f: -f.span.start):
        written = Printer(nothing).top(function)
        text = text[: function.span.start] + written + text[function.span.end :]
        changes += sum(1 for _ in _changes(function))
        lists = (n.expansion for n in walk(function) if isinstance(n, MacroUse) and not n.name)
        made += sum(isinstance(one, InitList) for one in lists)
    return Expanded(text, changes, made)


def _changes(function: Function) -> list[Block]:
    return [n for n in walk(function) if isinstance(n, Block) and n.intact and not n.span.text.startswith("{")]


def _printed(path: Path) -> list[str]:
    """Return the lines that a program prints."""
    program = path.with_suffix("")
    flags = ["-O0", "-w", "-fwrapv", "-ffp-contract=off", "-fno-strict-aliasing"]
    subprocess.run(["g++", *flags, "-o", str(program), str(path)], check=True, capture_output=True, text=True)
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.splitlines()


def differences(seeds: Sequence[int], folder: Path) -> tuple[list[str], Expanded]:
    """Return the functions that print another thing where they are written from the tree, and that program."""
    original, other = folder / "original.cpp", folder / "expanded.cpp"
    original.write_text(class_program(seeds))
    made = expand(original)
    other.write_text(made.text)
    before, after = _printed(original), _printed(other)
    assert len(before) == len(after) > len(seeds) * _CALLS
    wrong = {line.split()[0] for line, changed in zip(before, after, strict=True) if line != changed}
    return sorted(wrong), made
