"""A loop with running values as three kernels, which run after each other under one launcher.

    iterations   |  block 0  |  block 1  |  block 2  |        consecutive parts, one a block
    totals       |   3 1 2   |   4 0 1   |   2 2 5   |  →  6  5  9        each block combines its elements
    offsets                                             →  0  6 11  20     one block: what is before each part, and all
    kernel       | 0 3 4     | 6 10 10   | 11 13 15  |        each thread runs the body with what is before its own,
                                                              unless that only makes the next value

Invariant: which values are combined in which order depends on the number of iterations alone, so the result is the same
in every run. All threads of a block reach every barrier: the loops above it turn equally often for all of them.
After G. Blelloch, Prefix Sums and Their Applications (1990); D. Merrill, A. Grimshaw, Parallel Scan for Stream
Architectures (2009): reduce, then scan.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from warpsmith.emit.device.prototypes import declared_type
from warpsmith.emit.device.running import RunningText, running_texts
from warpsmith.emit.words import Support, fresh
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Cast,
    Conditional,
    DeclStmt,
    ExprStmt,
    If,
    Index,
    Literal,
    MacroUse,
    Member,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
)
from warpsmith.tree.printing.printer import Printer, join_lines
from warpsmith.tree.program import Kernel, KernelParameter
from warpsmith.tree.text.wrapping import wrap
from warpsmith.tree.walk import names, peel, walk

__all__ = ["MOST_PARTS", "ScanShape", "scan_kernels", "scan_launcher"]

MOST_PARTS = 1024
_UNIT = "    "
# what changes nothing but by assignments
_COMPUTING = (
    Assign, Binary, Block, Cast, Conditional, DeclStmt, ExprStmt, If, Index, Literal, MacroUse, Member, Name, Unary,
    VarDecl,
)  # fmt: skip


class ScanShape(Struct, frozen=True):
    """What the texts of one scan share: names, and the lines about its counter that kernel.py makes.

    `index` is the number of the iteration, `counter` the declaration of the user's counter from it, `count` the host
    expression of how many iterations there are; `passed` has the launcher's argument for each parameter's name.
    """

    name: str
    index: str
    counter: str
    count: str
    passed: dict[str, str]
    used: set[str]


class _Writer(Struct, frozen=True):
    kernel: Kernel
    values: tuple[RunningText, ...]
    shape: ScanShape
    printer: Printer
    support: Support
    words: dict[str, str]

    @classmethod
    def of(cls, kernel: Kernel, shape: ScanShape, printer: Printer, support: Support) -> _Writer:
        assert kernel.scans, "only a kernel with a running value is written so"
        used = set(shape.used)
        wanted = ("part", "count", "first", "begin", "end", "blocks", "tiles", "b")
        words = {word: fresh(word, used) for word in wanted}
        values = running_texts(kernel, printer, support, used)
        return cls(kernel, values, shape, printer, support, words)

    def parameters(self, roots: Sequence[Node]) -> list[KernelParameter]:
        """Return the parameters that these parts of the kernel name."""
        named = {n.symbol for root in roots for n in names(root)}
        return [p for p in self.kernel.parameters if p.symbol in named]

    def head(self, suffix: str, parameters: list[KernelParameter], more: list[str]) -> str:
        parts = [self.printer.type(declared_type(self.kernel, p), p.symbol.name) for p in parameters]
        return wrap(f"__global__ void {self.shape.name}{suffix}({', '.join([*parts, *more])})")

    def launch(self, suffix: str, parameters: list[KernelParameter], more: list[str]) -> str:
        arguments = ", ".join([*(self.shape.passed[p.symbol.name] for p in parameters), *more])
        blocks = "1" if suffix == "_offsets" else self.words["blocks"]
        return wrap(f"{_UNIT}{self.shape.name}{suffix}<<<{blocks}, {self.kernel.block[0]}>>>({arguments});")

    def totals(self, const: str = "") -> list[str]:
        """Return the parameters for the values of the parts."""
        return [f"{const}{value.type} *{value.total}" for value in self.values]


# --- the kernels


def scan_kernels(kernel: Kernel, shape: ScanShape, printer: Printer, support: Support) -> str:
    """Return the device text of the three kernels; of two where only the last values are wanted."""
    writer = _Writer.of(kernel, shape, printer, support)
    return "\n\n".join([_totals(writer), _offsets(writer), *([_main(writer)] if _uses_values(kernel) else [])])


def _uses_values(kernel: Kernel) -> bool:
    """Whether the body does anything with the running values but make the next ones."""
    parts = list(walk(kernel.body))
    if kernel.reductions or not all(isinstance(part, _COMPUTING) for part in parts):
        return True
    own = {part.symbol for part in parts if isinstance(part, VarDecl)}
    own.update(kernel.locals, (scan.variable for scan in kernel.scans))
    changed = [peel(part.target) for part in parts if isinstance(part, Assign)]
    changed += [
        peel(part.operand) for part in parts if isinstance(part, Unary) and ("++" in part.op or "--" in part.op)
    ]
    return not all(isinstance(target, Name) and target.symbol in own for target in changed)


def _totals_roots(writer: _Writer) -> list[Node]:
    scans = [value.first for value in writer.values if not value.is_ordered]
    starts = [scan.initial for scan in scans if scan.neutral is None]
    return [*_element_roots(writer), *_counter_roots(writer), *starts]


def _element_roots(writer: _Writer) -> list[Node]:
    return [part for value in writer.values for part in value.parts()]


def _counter_roots(writer: _Writer) -> list[Node]:
    return [lower for lower, _ in writer.kernel.launch]


def _main_roots(writer: _Writer) -> list[Node]:
    return [*_element_roots(writer), writer.kernel.body, *_counter_roots(writer)]


def _offsets_roots(writer: _Writer) -> list[Node]:
    scans = writer.kernel.scans
    return [*(scan.initial for scan in scans), *(scan.target for scan in scans if scan.target is not None)]


def _part_parameters(writer: _Writer) -> list[str]:
    return [f"long long {writer.words['count']}", f"long long {writer.words['part']}"]


def _range(writer: _Writer) -> list[str]:
    w = writer.words
    behind = f"{w['begin']} + {w['part']}"
    return [
        f"const long long {w['begin']} = blockIdx.x * {w['part']};",
        f"const long long {w['end']} = {behind} < {w['count']} ? {behind} : {w['count']};",
    ]


def _totals(writer: _Writer) -> str:
    """Each block combines the elements of its part: tile by tile, or in an order that does not matter."""
    w, t = writer.words, writer.shape.index
    starts = [value.start(value.initial) for value in writer.values]
    results = [*_part_parameters(writer), *writer.totals()]
    lines = [writer.head("_totals", writer.parameters(_totals_roots(writer)), results), "{"]
    lines += [_UNIT + line for line in _range(writer)]
    befores = [f"{_UNIT}{v.type} {v.before} = {start};" for v, start in zip(writer.values, starts, strict=True)]
    if any(value.is_ordered for value in writer.values):
        lines += [*befores, *_tile(writer), *(f"{_UNIT * 2}{v.helper()};" for v in writer.values), f"{_UNIT}}}"]
    else:
        lines += [f"{_UNIT}{v.type} {v.own} = {start};" for v, start in zip(writer.values, starts, strict=True)]
        lines += [
            f"{_UNIT}for (long long {t} = {w['begin']} + threadIdx.x; {t} < {w['end']}; {t} += blockDim.x) {{",
            f"{_UNIT * 2}{writer.shape.counter}",
            *(wrap(f"{_UNIT * 2}{v.own} = {v.combine(v.own)};") for v in writer.values),
            f"{_UNIT}}}",
        ]
        for value, line in zip(writer.values, befores, strict=True):
            lines += [line, f"{_UNIT}{value.helper()};"]
    stores = [f"{v.total}[blockIdx.x] = {v.before};" for v in writer.values]
    return "\n".join([*lines, *_put_under("if (threadIdx.x == 0)", stores, 1), "}"])


def _offsets(writer: _Writer) -> str:
    """One block turns the totals of the parts into what is before each part."""
    w = writer.words
    parameters = writer.parameters(_offsets_roots(writer))
    lines = [writer.head("_offsets", parameters, [*writer.totals(), f"int {w['blocks']}"]), "{"]
    b, first = w["b"], w["first"]
    lines += [f"{_UNIT}{v.type} {v.before} = {v.initial};" for v in writer.values]
    lines += [
        f"{_UNIT}for (int {first} = 0; {first} < {w['blocks']}; {first} += blockDim.x) {{",
        f"{_UNIT * 2}const int {b} = {first} + threadIdx.x;",
    ]
    for v in writer.values:
        own = f"{b} < {w['blocks']} ? {v.total}[{b}] : {v.start(v.before)}"
        lines += [
            f"{_UNIT * 2}const {v.type} {v.own} = {own};",
            f"{_UNIT * 2}const {v.type} {v.earlier} = {v.helper()};",
        ]
    lines += _put_under(f"if ({b} < {w['blocks']})", [f"{v.total}[{b}] = {v.earlier};" for v in writer.values], 2)
    lines += [f"{_UNIT}}}"]
    results = (result for v in writer.values for result in v.results())
    ends = [f"{writer.printer.expr(target)} = {value};" for target, value in results]
    lines += _put_under("if (threadIdx.x == 0)", ends, 1) if ends else []
    return "\n".join([*lines, "}"])


def _main(writer: _Writer) -> str:
    """Each thread runs the user's body with the values that are there before its iteration."""
    w, t, printer = writer.words, writer.shape.index, writer.printer
    given = [*_part_parameters(writer), *writer.totals("const ")]
    lines = [writer.head("", writer.parameters(_main_roots(writer)), given), "{"]
    lines += [f"{_UNIT}{printer.type(symbol.type, symbol.name)};" for symbol in writer.kernel.locals]
    lines += [_UNIT + line for line in _range(writer)]
    lines += [f"{_UNIT}{v.type} {v.before} = {v.total}[blockIdx.x];" for v in writer.values]
    lines += _tile(writer)
    lines += [_UNIT * 2 + line for v in writer.values for line in v.declarations()]
    lines += _guard_statements(f"if ({t} < {w['end']})", writer.kernel.body, printer)
    return "\n".join([*lines, f"{_UNIT}}}", "}"])


def _tile(writer: _Writer) -> list[str]:
    """Return the head of the walk over the tiles of a part, with what each thread combines."""
    w, t = writer.words, writer.shape.index
    first = w["first"]
    lines = [
        f"{_UNIT}for (long long {first} = {w['begin']}; {first} < {w['end']}; {first} += blockDim.x) {{",
        f"{_UNIT * 2}const long long {t} = {first} + threadIdx.x;",
        f"{_UNIT * 2}{writer.shape.counter}",
        *(f"{_UNIT * 2}{v.type} {v.own} = {v.start(v.before)};" for v in writer.values),
    ]
    return lines + _put_under(f"if ({t} < {w['end']})", [f"{v.own} = {v.element};" for v in writer.values], 2)


def _put_under(head: str, statements: list[str], depth: int) -> list[str]:
    """Return statements under a head, in braces where there are several."""
    inside = [wrap(_UNIT * (depth + 1) + statement) for statement in statements]
    if len(inside) == 1:
        return [_UNIT * depth + head, *inside]
    return [f"{_UNIT * depth}{head} {{", *inside, f"{_UNIT * depth}}}"]


def _guard_statements(head: str, body: Stmt, printer: Printer) -> list[str]:
    """Return the user's statements under a condition, in braces where they are more than a line."""
    text: list[str] = []
    for stmt in body.statements if isinstance(body, Block) else (body,):
        shifted: list[tuple[int, str]] = [(3, join_lines(printer.stmt(stmt), _UNIT))]
        text += join_lines(shifted, _UNIT).split("\n")
    if len(text) == 1:
        return [_UNIT * 2 + head, *text]
    return [f"{_UNIT * 2}{head} {{", *text, f"{_UNIT * 2}}}"]


# --- the launcher


def scan_launcher(kernel: Kernel, shape: ScanShape, printer: Printer, support: Support) -> list[str]:
    """Return the lines of the launcher's body."""
    writer = _Writer.of(kernel, shape, printer, support)
    w, size = writer.words, kernel.block[0]
    parts, totals = [w["count"], w["part"]], [value.total for value in writer.values]
    return [
        wrap(f"{_UNIT}const long long {w['count']} = {shape.count};"),
        f"{_UNIT}if ({w['count']} <= 0)",
        f"{_UNIT * 2}return;",
        f"{_UNIT}const long long {w['tiles']} = ({w['count']} + {size - 1}) / {size};",
        f"{_UNIT}const int {w['blocks']} = {w['tiles']} < {MOST_PARTS} ? (int){w['tiles']} : {MOST_PARTS};",
        f"{_UNIT}const long long {w['part']} = ({w['tiles']} + {w['blocks']} - 1) / {w['blocks']} * {size};",
        *(wrap(f"{_UNIT}{v.type} *{v.total} = {_acquisition(v, w['blocks'])};") for v in writer.values),
        writer.launch("_totals", writer.parameters(_totals_roots(writer)), [*parts, *totals]),
        writer.launch("_offsets", writer.parameters(_offsets_roots(writer)), [*totals, w["blocks"]]),
        *(
            [writer.launch("", writer.parameters(_main_roots(writer)), [*parts, *totals])]
            if _uses_values(kernel)
            else []
        ),
        f"{_UNIT}{support.check}(cudaGetLastError());",
        *(f"{_UNIT}{support.release}({total});" for total in totals),
    ]


def _acquisition(value: RunningText, blocks: str) -> str:
    """Return the call that gets memory for one value of each part."""
    size = f"{blocks} * sizeof({value.type})"
    return f'({value.type} *){value.support.acquire}({size}, "{value.total}", __FILE__, __LINE__)'
