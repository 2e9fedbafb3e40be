"""A loop with a running value as three kernels, which run after each other under one launcher.

    iterations   |  block 0  |  block 1  |  block 2  |        consecutive parts, one a block
    totals       |   3 1 2   |   4 0 1   |   2 2 5   |  →  6  5  9        each block combines its elements
    offsets                                             →  0  6 11  20     one block: what is before each part, and all
    kernel       | 0 3 4     | 6 10 10   | 11 13 15  |        each thread runs the body with what is before its own

Invariant: which values are combined in which order depends on the number of iterations alone, so the result is the same
in every run. All threads of a block reach every barrier: the loops above it turn equally often for all of them.
After G. Blelloch, Prefix Sums and Their Applications (1990); D. Merrill, A. Grimshaw, Parallel Scan for Stream
Architectures (2009): reduce, then scan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from warpsmith.emit.device.prototypes import kernel_type
from warpsmith.emit.parts import Value, fill
from warpsmith.emit.words import Support, fresh
from warpsmith.tree.nodes import Block, Expr, Node, Stmt
from warpsmith.tree.printing.precedence import level
from warpsmith.tree.printing.printer import Printer, join_lines
from warpsmith.tree.program import Kernel, KernelParameter, Scan
from warpsmith.tree.text.layout import wrap
from warpsmith.tree.types import Scalar, is_float
from warpsmith.tree.walk import names

__all__ = ["MOST_PARTS", "ScanShape", "scan_helpers", "scan_kernels", "scan_launcher"]

MOST_PARTS = 1024
_UNIT = "    "
_WORDS = {"+": "sum", "*": "product", "min": "min", "max": "max", "&": "and", "|": "or", "^": "xor"}


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
    scan: Scan
    shape: ScanShape
    printer: Printer
    support: Support
    words: dict[str, str]

    @classmethod
    def of(cls, kernel: Kernel, shape: ScanShape, printer: Printer, support: Support) -> _Writer:
        assert kernel.scan is not None, "only a kernel with a running value is written so"
        wanted = ("before", "own", "part", "count", "first", "begin", "end", "blocks", "tiles", "b", "total",
                  "earlier")  # fmt: skip
        words = {word: fresh(word, shape.used) for word in wanted}
        return cls(kernel, kernel.scan, shape, printer, support, words)

    @property
    def type(self) -> str:
        return _type_text(_scalar(self.scan))

    def helper(self, value: str, before: str) -> str:
        return f"{_helper_name(self.scan, self.support)}({value}, &{before})"

    def parameters(self, roots: Sequence[Node]) -> list[KernelParameter]:
        """Return the parameters that these parts of the kernel name."""
        named = {n.symbol for root in roots for n in names(root)}
        return [p for p in self.kernel.parameters if p.symbol in named]

    def head(self, suffix: str, parameters: list[KernelParameter], more: list[str]) -> str:
        parts = [self.printer.type(kernel_type(self.kernel, p), p.symbol.name) for p in parameters]
        return wrap(f"__global__ void {self.shape.name}{suffix}({', '.join([*parts, *more])})")

    def launch(self, suffix: str, parameters: list[KernelParameter], more: list[str]) -> str:
        arguments = ", ".join([*(self.shape.passed[p.symbol.name] for p in parameters), *more])
        blocks = "1" if suffix == "_offsets" else self.words["blocks"]
        return wrap(f"{_UNIT}{self.shape.name}{suffix}<<<{blocks}, {self.kernel.block[0]}>>>({arguments});")

    def start(self, otherwise: str) -> str:
        """Return a value that changes nothing; `otherwise` where combining twice is harmless."""
        return otherwise if self.scan.neutral is None else self.printer.expr(self.scan.neutral)

    def combine(self, left: str, right: Expr) -> str:
        return _combination(self.scan, left, self.operand(right))

    def operand(self, expr: Expr) -> str:
        text = self.printer.expr(expr)
        return text if level(expr) >= 14 or _calls(self.scan) else f"({text})"


# --- the kernels


def scan_kernels(kernel: Kernel, shape: ScanShape, printer: Printer, support: Support) -> str:
    """Return the device text of the three kernels."""
    writer = _Writer.of(kernel, shape, printer, support)
    return "\n\n".join([_totals(writer), _offsets(writer), _main(writer)])


def _totals_roots(writer: _Writer) -> list[Node]:
    starts = [writer.scan.initial] if writer.scan.neutral is None else []
    return [writer.scan.element, *_counter_roots(writer), *starts]


def _counter_roots(writer: _Writer) -> list[Node]:
    return [lower for lower, _ in writer.kernel.launch]


def _main_roots(writer: _Writer) -> list[Node]:
    return [writer.scan.element, writer.kernel.body, *_counter_roots(writer)]


def _offsets_roots(writer: _Writer) -> list[Node]:
    return [writer.scan.initial, *([writer.scan.target] if writer.scan.target is not None else [])]


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
    """Each block combines the elements of its part, in an order that does not matter."""
    w, t, type = writer.words, writer.shape.index, writer.type
    start = writer.start(writer.printer.expr(writer.scan.initial))
    results = [*_part_parameters(writer), f"{type} *{w['total']}"]
    lines = [writer.head("_totals", writer.parameters(_totals_roots(writer)), results), "{"]
    lines += [_UNIT + line for line in _range(writer)]
    lines += [
        f"{_UNIT}{type} {w['own']} = {start};",
        f"{_UNIT}for (long long {t} = {w['begin']} + threadIdx.x; {t} < {w['end']}; {t} += blockDim.x) {{",
        f"{_UNIT * 2}{writer.shape.counter}",
        wrap(f"{_UNIT * 2}{w['own']} = {writer.combine(w['own'], writer.scan.element)};"),
        f"{_UNIT}}}",
        f"{_UNIT}{type} {w['before']} = {start};",
        f"{_UNIT}{writer.helper(w['own'], w['before'])};",
        f"{_UNIT}if (threadIdx.x == 0)",
        f"{_UNIT * 2}{w['total']}[blockIdx.x] = {w['before']};",
    ]
    return "\n".join([*lines, "}"])


def _offsets(writer: _Writer) -> str:
    """One block turns the totals of the parts into what is before each part."""
    w, type, scan = writer.words, writer.type, writer.scan
    parameters = writer.parameters(_offsets_roots(writer))
    lines = [writer.head("_offsets", parameters, [f"{type} *{w['total']}", f"int {w['blocks']}"]), "{"]
    b, first, total, before = w["b"], w["first"], w["total"], w["before"]
    lines += [
        f"{_UNIT}{type} {before} = {writer.printer.expr(scan.initial)};",
        f"{_UNIT}for (int {first} = 0; {first} < {w['blocks']}; {first} += blockDim.x) {{",
        f"{_UNIT * 2}const int {b} = {first} + threadIdx.x;",
        f"{_UNIT * 2}const {type} {w['own']} = {b} < {w['blocks']} ? {total}[{b}] : {writer.start(before)};",
        f"{_UNIT * 2}const {type} {w['earlier']} = {writer.helper(w['own'], before)};",
        f"{_UNIT * 2}if ({b} < {w['blocks']})",
        f"{_UNIT * 3}{total}[{b}] = {w['earlier']};",
        f"{_UNIT}}}",
    ]
    if scan.target is not None:
        lines += [f"{_UNIT}if (threadIdx.x == 0)", f"{_UNIT * 2}{writer.printer.expr(scan.target)} = {before};"]
    return "\n".join([*lines, "}"])


def _main(writer: _Writer) -> str:
    """Each thread runs the user's body with the value that is there before its iteration."""
    w, t, type, scan = writer.words, writer.shape.index, writer.type, writer.scan
    printer = writer.printer
    given = [*_part_parameters(writer), f"const {type} *{w['total']}"]
    lines = [writer.head("", writer.parameters(_main_roots(writer)), given), "{"]
    lines += [f"{_UNIT}{printer.type(symbol.type, symbol.name)};" for symbol in writer.kernel.locals]
    lines += [_UNIT + line for line in _range(writer)]
    compared = scan.op in ("min", "max") and is_float(_scalar(scan)) and scan.compares
    own = writer.combine(w["before"], scan.element) if compared else printer.expr(scan.element)
    first = w["first"]
    lines += [
        f"{_UNIT}{type} {w['before']} = {w['total']}[blockIdx.x];",
        f"{_UNIT}for (long long {first} = {w['begin']}; {first} < {w['end']}; {first} += blockDim.x) {{",
        f"{_UNIT * 2}const long long {t} = {first} + threadIdx.x;",
        f"{_UNIT * 2}{writer.shape.counter}",
        f"{_UNIT * 2}{type} {w['own']} = {writer.start(w['before'])};",
        f"{_UNIT * 2}if ({t} < {w['end']})",
        wrap(f"{_UNIT * 3}{w['own']} = {own};"),
        f"{_UNIT * 2}{type} {scan.variable.name} = {writer.helper(w['own'], w['before'])};",
    ]
    lines += _guard_statements(f"if ({t} < {w['end']})", writer.kernel.body, printer)
    return "\n".join([*lines, f"{_UNIT}}}", "}"])


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
    w, size, type = writer.words, kernel.block[0], writer.type
    parts, total = [w["count"], w["part"]], w["total"]
    acquire = f'({type} *){support.acquire}({w["blocks"]} * sizeof({type}), "{total}", __FILE__, __LINE__)'
    return [
        wrap(f"{_UNIT}const long long {w['count']} = {shape.count};"),
        f"{_UNIT}if ({w['count']} <= 0)",
        f"{_UNIT * 2}return;",
        f"{_UNIT}const long long {w['tiles']} = ({w['count']} + {size - 1}) / {size};",
        f"{_UNIT}const int {w['blocks']} = {w['tiles']} < {MOST_PARTS} ? (int){w['tiles']} : {MOST_PARTS};",
        f"{_UNIT}const long long {w['part']} = ({w['tiles']} + {w['blocks']} - 1) / {w['blocks']} * {size};",
        wrap(f"{_UNIT}{type} *{total} = {acquire};"),
        writer.launch("_totals", writer.parameters(_totals_roots(writer)), [*parts, total]),
        writer.launch("_offsets", writer.parameters(_offsets_roots(writer)), [total, w["blocks"]]),
        writer.launch("", writer.parameters(_main_roots(writer)), [*parts, total]),
        f"{_UNIT}{support.check}(cudaGetLastError());",
        f"{_UNIT}{support.release}({total});",
    ]


# --- the helper


def scan_helpers(kernels: Iterable[Kernel], support: Support) -> list[str]:
    """Return the functions that scan the values of a block's threads, one for each operation and type in use."""
    found: dict[str, Scan] = {}
    for kernel in kernels:
        if kernel.scan is not None:
            found.setdefault(_helper_name(kernel.scan, support), kernel.scan)
    return [_helper_text(found[key], support) for key in sorted(found)]


def _helper_text(scan: Scan, support: Support) -> str:
    values: dict[str, Value] = {
        "WS_TYPE": _type_text(_scalar(scan)),
        "WS_NAME": _helper_name(scan, support),
        "WS_COMBINED": lambda earlier, later: _combination(scan, earlier, later),
    }
    return fill("block_scan.cu", values)


def _calls(scan: Scan) -> bool:
    return is_float(_scalar(scan)) and not scan.compares


def _combination(scan: Scan, earlier: str, later: str) -> str:
    """Return the C expression that combines two values as the user's updates do."""
    type = _scalar(scan)
    if scan.op not in ("min", "max"):
        return f"{earlier} {scan.op} {later}"
    if _calls(scan):
        return f"f{scan.op}{'f' if type.bits == 32 else ''}({earlier}, {later})"
    return f"{later} {'>' if scan.op == 'max' else '<'} {earlier} ? {later} : {earlier}"


def _helper_name(scan: Scan, support: Support) -> str:
    word = f"f{scan.op}" if scan.op in ("min", "max") and _calls(scan) else _WORDS[scan.op]
    suffix = _type_text(_scalar(scan)).replace(" ", "_")
    return f"{support.prefix}_block_scan_{word}_{suffix}"


def _scalar(scan: Scan) -> Scalar:
    type = scan.variable.type
    assert isinstance(type, Scalar), "a running value is a number"
    return type


def _type_text(type: Scalar) -> str:
    return type.name
