"""How the threads of a kernel combine what each of them has summed up.

    every thread    double s = -0.0;  for (…) s += a_gpu[i];         its own iterations, in its own variable
    every warp      s = s + __shfl_down_sync(…)                      five steps, lane 0 has the warp's sum
    every block     shared memory, one value a warp, then a warp     thread 0 has the block's sum
    the grid        s_partial[block] = s;                            a second kernel of one block adds these to *s_gpu

Invariant: the order in which values are combined depends on the launch's shape alone, so the result is the same in
every run. All threads of a block reach the combination: the loops above it walk, no thread returns early. Blocks are a
power of two of threads, at least a warp, so that every shuffle has its 32 lanes.
After M. Harris, Optimizing Parallel Reduction in CUDA (2007), with shuffles.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from warpsmith.emit.device.prototypes import declared_type
from warpsmith.emit.parts import Value, fill
from warpsmith.emit.words import Support, fresh
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.program import Combine, Kernel, KernelParameter
from warpsmith.tree.text.wrapping import wrap
from warpsmith.tree.types import Scalar, Symbol, is_float
from warpsmith.tree.walk import names

__all__ = ["MOST_BLOCKS", "Accumulators", "block_texts", "combination", "plain_type", "type_text"]

MOST_BLOCKS = 1024
_UNIT = "    "
_WORDS = {"+": "sum", "*": "product", "min": "min", "max": "max", "&": "and", "|": "or", "^": "xor",
          "&&": "all", "||": "any"}  # fmt: skip


class _Part(Struct, frozen=True):
    """One variable of a thread that the threads combine: its name, its type, what it starts as, the buffer with one
    value a block, and the place where the result goes ("" for none)."""

    name: str
    type: str
    start: str
    partial: str
    target: str


class Accumulators:
    """The text that the accumulators of one kernel need in it, behind it and in its launcher; empty where it has none.

    `partials` name the buffers with one value a block.
    """

    def __init__(self, kernel: Kernel, printer: Printer, support: Support, used: set[str]) -> None:
        self._kernel, self._printer, self._support = kernel, printer, support
        self._finish = fresh(f"{kernel.name}_finish", used) if kernel.reductions else ""
        self._parts = {one: self._parts_of(one, used) for one in kernel.reductions}
        self._best = {one: fresh(f"{one.variable.name}_best", used) for one in kernel.reductions}
        self._block = fresh("b", used)
        self._blocks = fresh("blocks", used)

    @property
    def partials(self) -> tuple[str, ...]:
        """The buffers' names."""
        return tuple(part.partial for part in self._all())

    def kernel_parameters(self) -> tuple[KernelParameter, ...]:
        """Return the parameters that the kernel itself needs: a place that is only combined with at the end is none."""
        kernel = self._kernel
        starts = [e for c in kernel.reductions for e in (c.start, *(place for _, place in c.companions))]
        bounds = [e for pair in kernel.launch for e in pair]
        bounds += [e for m in kernel.mapped for e in (m.loop.lower, m.loop.bound)]
        named = {n.symbol for root in (kernel.body, *kernel.guards, *starts, *bounds) for n in names(root)}
        ends = {n.symbol for c in kernel.reductions for n in names(c.target)}
        ends |= {symbol for symbol, _ in kernel.constants}
        return tuple(p for p in kernel.parameters if p.symbol in named or p.symbol not in ends)

    def declared_partials(self) -> list[str]:
        """Return the kernel's parameters for its results."""
        return [f"{part.type} *{part.partial}" for part in self._all()]

    def starts(self) -> list[str]:
        """Return the declarations of a thread's own accumulators."""
        return [f"{part.type} {part.name} = {part.start};" for part in self._all()]

    def block_results(self) -> list[str]:
        """Return the lines that combine the accumulators of a block and store one value for each."""
        lines = [self._over_block(one) for one in self._kernel.reductions]
        index = _block_index(self._kernel)
        for condition, parts in self._by_winner(_first_thread(self._kernel)):
            lines += _under(f"if ({condition})", [f"{p.partial}[{index}] = {p.name};" for p in parts])
        return lines

    def finish_text(self) -> str:
        """Return the kernel of one block that combines the blocks' values with what the places hold."""
        parts = [self._printer.type(declared_type(self._kernel, p), p.symbol.name) for p in self._finish_parameters()]
        parts += [f"const {part}" for part in self.declared_partials()]
        lines = [wrap(f"__global__ void {self._finish}({', '.join([*parts, f'int {self._blocks}'])})"), "{"]
        lines += [_UNIT + line for line in self.starts()]
        b = self._block
        combining = [line for one in self._kernel.reductions for line in self._with_block(one)]
        loop = f"for (int {b} = threadIdx.x; {b} < {self._blocks}; {b} += blockDim.x)"
        lines += [_UNIT + line for line in _under(loop, combining)]
        lines += [_UNIT + self._over_block(one) for one in self._kernel.reductions]
        adding = {self._parts[one][0]: "" if one.keeps else one.op for one in self._kernel.reductions}
        for condition, mine in self._by_winner("threadIdx.x == 0"):
            stores = [f"{p.target} {adding.get(p, '')}= {p.name};" for p in mine if p.target]
            lines += [_UNIT + line for line in _under(f"if ({condition})", stores)]
        return "\n".join([*lines, "}"])

    def allocations(self) -> list[str]:
        """Return the launcher's lines that get memory for the blocks' values."""
        return [
            f"{p.type} *{p.partial} = ({p.type} *){self._support.acquire}({MOST_BLOCKS} * sizeof({p.type}), "
            f'"{p.partial}", __FILE__, __LINE__);'
            for p in self._all()
        ]

    def finishing(self, passed: dict[str, str], grid: str) -> list[str]:
        """Return the launcher's lines behind the launch; `passed` has the argument for each parameter's name."""
        if not self.partials:
            return []
        arguments = [passed[p.symbol.name] for p in self._finish_parameters()]
        blocks = " * ".join(f"{grid}.{axis}" for axis in _axes(self._kernel))
        threads = _volume(self._kernel)
        launch = f"{self._finish}<<<1, {threads}>>>({', '.join([*arguments, *self.partials, blocks])});"
        check = f"{self._support.check}(cudaGetLastError());"
        return [launch, check, *(f"{self._support.release}({p});" for p in self.partials)]

    def _finish_parameters(self) -> list[KernelParameter]:
        ends = [e for c in self._kernel.reductions for e in (c.target, c.start, *(place for _, place in c.companions))]
        named = {n.symbol for e in ends for n in names(e)}
        return [p for p in self._kernel.parameters if p.symbol in named]

    def _all(self) -> list[_Part]:
        return [part for parts in self._parts.values() for part in parts]

    def _parts_of(self, one: Combine, used: set[str]) -> tuple[_Part, ...]:
        """Return the variables of an accumulator: its own, the iteration that set it, its companions."""

        def part(symbol: Symbol, start: str, target: str) -> _Part:
            partial = fresh(f"{symbol.name}_partial", used)
            return _Part(symbol.name, type_text(plain_type(symbol)), start, partial, target)

        expr = self._printer.expr
        main = part(one.variable, expr(one.start), expr(one.target))
        when = () if one.when is None else (part(one.when, "-1", ""),)
        return (main, *when, *(part(symbol, expr(place), expr(place)) for symbol, place in one.companions))

    def _by_winner(self, first: str) -> list[tuple[str, list[_Part]]]:
        """Return which thread has the block's result, as a condition, with the variables that it stores."""
        found: dict[str, list[_Part]] = {}
        for one, parts in self._parts.items():
            condition = first if one.when is None else f"{self._best[one]} == (int)threadIdx.x"
            found.setdefault(condition, []).extend(parts)
        return list(found.items())

    def _with_block(self, one: Combine) -> list[str]:
        """Return the lines that combine a thread's accumulator with the value of block b."""
        parts, b = self._parts[one], self._block
        main = parts[0]
        if one.when is None:
            return [
                f"{main.name} = {combination(one.op, plain_type(one.variable), main.name, f'{main.partial}[{b}]')};"
            ]
        better = _better(one, (f"{main.partial}[{b}]", f"{parts[1].partial}[{b}]"), (main.name, parts[1].name))
        return _under(f"if ({better})", [f"{p.name} = {p.partial}[{b}];" for p in parts])

    def _over_block(self, one: Combine) -> str:
        name = one.variable.name
        if one.when is None:
            return f"{name} = {_block_name(one, self._support)}({name});"
        return f"const int {self._best[one]} = {_block_name(one, self._support)}({name}, {one.when.name});"


def block_texts(kernels: Iterable[Kernel], support: Support) -> list[str]:
    """Return the functions that combine a value of every thread of a block, one for each operation and type in use."""
    wanted = {(_block_name(c, support), plain_type(c.variable)): c for k in kernels for c in k.reductions}
    order = sorted(wanted, key=lambda key: (key[0], key[1].name))
    return [
        _block_text(wanted[key], support) if wanted[key].when is None else _place_text(wanted[key], support)
        for key in order
    ]


def _better(one: Combine, new: tuple[str, str], old: tuple[str, str]) -> str:
    """Return the condition that (value, iteration) `new` takes the place of `old`."""
    compare = ">" if one.op == "max" else "<"
    earlier = "<" if one.strict else ">"
    return f"{new[0]} {compare} {old[0]} || ({new[0]} == {old[0]} && {new[1]} {earlier} {old[1]})"


def _place_text(one: Combine, support: Support) -> str:
    def better(*names: str) -> str:
        return _better(one, (names[0], names[1]), (names[2], names[3]))

    values: dict[str, Value] = {
        "WS_WORD": {"min": "minimum", "max": "maximum"}[one.op],
        "WS_WHICH": "first" if one.strict else "last",
        "WS_TYPE": type_text(plain_type(one.variable)),
        "WS_NAME": _block_name(one, support),
        "WS_BETTER": better,
    }
    return fill("block_extreme.cu", values)


def _block_text(one: Combine, support: Support) -> str:
    op, type = one.op, plain_type(one.variable)
    words = {"all": "conjunction", "any": "disjunction", "min": "minimum", "max": "maximum"}
    values: dict[str, Value] = {
        "WS_WORD": words.get(_WORDS[op], _WORDS[op]),
        "WS_TYPE": type_text(type),
        "WS_NAME": _block_name(one, support),
        "WS_COMBINED": lambda left, right: combination(op, type, left, right),
    }
    return fill("block_reduction.cu", values)


def combination(op: str, type: Scalar, left: str, right: str) -> str:
    """Return the C expression that combines two values, as the user's updates do, in any order."""
    match op:
        case "min" | "max" if is_float(type):
            return f"f{op}{'f' if type.bits == 32 else ''}({left}, {right})"
        case "min":
            return f"{right} < {left} ? {right} : {left}"
        case "max":
            return f"{right} > {left} ? {right} : {left}"
        case _:
            return f"{left} {op} {right}"


def plain_type(symbol: Symbol) -> Scalar:
    """Return the type of an accumulator without the user's name for it."""
    type = symbol.type
    assert isinstance(type, Scalar), "an accumulator is a number"
    return Scalar(type.name, type.bits, type.kind)


def type_text(type: Scalar) -> str:
    """Return the name of an accumulator's type in C++."""
    return "bool" if type.kind == "bool" else type.name


def _block_name(one: Combine, support: Support) -> str:
    if one.when is None:
        return f"{support.prefix}_block_{_WORDS[one.op]}"
    return f"{support.prefix}_block_{'first' if one.strict else 'last'}_{one.op}"


def _axes(kernel: Kernel) -> str:
    return "xyz"[: max(("xyz".index(m.axis) for m in kernel.mapped), default=0) + 1]


def _volume(kernel: Kernel) -> int:
    x, y, z = kernel.block
    return x * y * z


def _first_thread(kernel: Kernel) -> str:
    return " && ".join(f"threadIdx.{a} == 0" for a in _axes(kernel))


def _block_index(kernel: Kernel) -> str:
    index = "blockIdx.x"
    match len(_axes(kernel)):
        case 2:
            index = "blockIdx.y * gridDim.x + blockIdx.x"
        case 3:
            index = "(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x"
    return index


def _under(head: str, statements: list[str]) -> list[str]:
    """Return statements under a head, in braces where there are several."""
    if len(statements) == 1:
        return [head, _UNIT + statements[0]]
    return [f"{head} {{", *(_UNIT + s for s in statements), "}"]
