"""How the threads of a kernel combine what each of them has summed up.

    every thread    double s = -0.0;  for (…) s += a_gpu[i];         its own iterations, in its own variable
    every warp      s = s + __shfl_down_sync(…)                      five steps, lane 0 has the warp's sum
    every block     shared memory, one value a warp, then a warp     thread 0 has the block's sum
    the grid        s_partial[block] = s;                            a second kernel of one block adds these to *s_gpu

Invariant: the order in which values are combined depends on the launch's shape alone, so the result is the same in every
run. All threads of a block reach the combination: the loops above it walk, no thread returns early. Blocks are a power
of two of threads, at least a warp, so that every shuffle has its 32 lanes.
After M. Harris, Optimizing Parallel Reduction in CUDA (2007), with shuffles.
"""

from __future__ import annotations

from collections.abc import Iterable

from warpsmith.emit.prototypes import kernel_type
from warpsmith.emit.words import Support, fresh
from warpsmith.tree.layout import wrapped
from warpsmith.tree.printer import Printer
from warpsmith.tree.program import Combine, Kernel, Parameter
from warpsmith.tree.types import Scalar, is_float
from warpsmith.tree.walk import names

__all__ = ["MOST_BLOCKS", "Accumulators", "block_texts", "combination", "type_text"]

MOST_BLOCKS = 1024
_UNIT = "    "
_WORDS = {"+": "sum", "*": "product", "min": "min", "max": "max", "&": "and", "|": "or", "^": "xor",
          "&&": "all", "||": "any"}  # fmt: skip


class Accumulators:
    """The text that the accumulators of one kernel need in it, behind it and in its launcher; empty where it has none.

    `partials` name the buffers with one value a block, one buffer for each accumulator.
    """

    def __init__(self, kernel: Kernel, printer: Printer, support: Support, used: set[str]) -> None:
        self._kernel, self._printer, self._support = kernel, printer, support
        self._finish = fresh(f"{kernel.name}_finish", used) if kernel.reductions else ""
        self.partials = tuple(fresh(f"{one.variable.name}_partial", used) for one in kernel.reductions)
        self._block = fresh("b", used)
        self._blocks = fresh("blocks", used)

    def kernel_parameters(self) -> tuple[Parameter, ...]:
        """Return the parameters that the kernel itself needs: a place that is only combined with at the end is none."""
        kernel = self._kernel
        roots = (kernel.body, *kernel.guards, *(c.start for c in kernel.reductions))
        bounds = [e for pair in kernel.launch for e in pair]
        bounds += [e for m in kernel.mapped for e in (m.loop.lower, m.loop.bound)]
        named = {n.symbol for root in (*roots, *bounds) for n in names(root)}
        ends = {n.symbol for c in kernel.reductions for n in names(c.target)}
        return tuple(p for p in kernel.parameters if p.symbol in named or p.symbol not in ends)

    def declared_partials(self) -> list[str]:
        """Return the kernel's parameters for its results."""
        return [f"{self._type(c)} *{p}" for c, p in zip(self._kernel.reductions, self.partials, strict=True)]

    def starts(self) -> list[str]:
        """Return the declarations of a thread's own accumulators."""
        return [f"{self._type(c)} {c.variable.name} = {self._printer.expr(c.start)};" for c in self._kernel.reductions]

    def block_results(self) -> list[str]:
        """Return the lines that combine the accumulators of a block and store one value for each."""
        lines = [self._over_block(c) for c in self._kernel.reductions]
        first, index = _first_thread(self._kernel), _block_index(self._kernel)
        stores = [
            f"{p}[{index}] = {c.variable.name};" for c, p in zip(self._kernel.reductions, self.partials, strict=True)
        ]
        return [*lines, *_conditional(first, stores)]

    def finish_text(self) -> str:
        """Return the kernel of one block that combines the blocks' values with what the places hold."""
        kernel = self._kernel
        parameters = self._finish_parameters()
        parts = [self._printer.type(kernel_type(kernel, p), p.symbol.name) for p in parameters]
        parts += [f"const {part}" for part in self.declared_partials()]
        lines = [wrapped(f"__global__ void {self._finish}({', '.join([*parts, f'int {self._blocks}'])})"), "{"]
        lines += [_UNIT + line for line in self.starts()]
        b = self._block
        combining = [
            f"{c.variable.name} = {combination(c.op, _scalar(c), c.variable.name, f'{p}[{b}]')};"
            for c, p in zip(kernel.reductions, self.partials, strict=True)
        ]
        loop = f"for (int {b} = threadIdx.x; {b} < {self._blocks}; {b} += blockDim.x)"
        lines += [_UNIT + line for line in _under(loop, combining)]
        lines += [_UNIT + self._over_block(c) for c in kernel.reductions]
        lines += [_UNIT + line for line in _conditional("threadIdx.x == 0", [self._stored(c) for c in kernel.reductions])]
        return "\n".join([*lines, "}"])

    def allocations(self) -> list[str]:
        """Return the launcher's lines that get memory for the blocks' values."""
        return [
            f"{self._type(c)} *{p} = ({self._type(c)} *){self._support.acquire}({MOST_BLOCKS} * sizeof({self._type(c)}), "
            f'"{p}", __FILE__, __LINE__);'
            for c, p in zip(self._kernel.reductions, self.partials, strict=True)
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
        return [wrapped(launch), check, *(f"{self._support.release}({p});" for p in self.partials)]

    def _finish_parameters(self) -> list[Parameter]:
        named = {n.symbol for c in self._kernel.reductions for e in (c.target, c.start) for n in names(e)}
        return [p for p in self._kernel.parameters if p.symbol in named]

    def _type(self, one: Combine) -> str:
        return type_text(_scalar(one))

    def _over_block(self, one: Combine) -> str:
        name = one.variable.name
        return f"{name} = {_block_name(one.op, self._support)}({name});"

    def _stored(self, one: Combine) -> str:
        target, value = self._printer.expr(one.target), one.variable.name
        return f"{target} {'' if one.keeps else one.op}= {value};"


def block_texts(kernels: Iterable[Kernel], support: Support) -> list[str]:
    """Return the functions that combine a value of every thread of a block, one for each operation and type in use."""
    wanted = {(c.op, _scalar(c)) for kernel in kernels for c in kernel.reductions}
    order = sorted(wanted, key=lambda key: (list(_WORDS).index(key[0]), key[1].name))
    return [_block_text(op, type, support) for op, type in order]


def _block_text(op: str, type: Scalar, support: Support) -> str:
    text = type_text(type)
    word = {"all": "conjunction", "any": "disjunction", "min": "minimum", "max": "maximum"}.get(_WORDS[op], _WORDS[op])
    return f"""\
/* The {word} of the values of a block's threads, for thread 0. All threads of the block must call it. */
static __device__ {text} {_block_name(op, support)}({text} value)
{{
    __shared__ {text} of_warp[32];
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int warps = blockDim.x * blockDim.y * blockDim.z / 32;
    for (int distance = 16; distance > 0; distance /= 2) {{
        const {text} other = __shfl_down_sync(0xffffffff, value, distance);
        value = {combination(op, type, "value", "other")};
    }}
    __syncthreads();
    if (thread % 32 == 0)
        of_warp[thread / 32] = value;
    __syncthreads();
    if (thread < 32) {{
        value = of_warp[thread % warps];
        for (int distance = warps / 2; distance > 0; distance /= 2) {{
            const {text} other = __shfl_down_sync(0xffffffff, value, distance);
            value = {combination(op, type, "value", "other")};
        }}
    }}
    return value;
}}"""


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


def _scalar(one: Combine) -> Scalar:
    type = one.variable.type
    assert isinstance(type, Scalar), "an accumulator is a number"
    return Scalar(type.name, type.bits, type.kind)


def type_text(type: Scalar) -> str:
    """Return the name of an accumulator's type in C++."""
    return "bool" if type.kind == "bool" else type.name


def _block_name(op: str, support: Support) -> str:
    return f"{support.prefix}_block_{_WORDS[op]}"


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


def _conditional(condition: str, statements: list[str]) -> list[str]:
    return _under(f"if ({condition})", statements)


def _under(head: str, statements: list[str]) -> list[str]:
    """Return statements under a head, in braces where there are several."""
    if len(statements) == 1:
        return [head, _UNIT + statements[0]]
    return [f"{head} {{", *(_UNIT + s for s in statements), "}"]
