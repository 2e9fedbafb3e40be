"""Random kernels of CUDA that Brook+ can have: numbers of all its types, conversions, functions, control flow."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.front.brook.by_hand import numbers_in
from tests.front.brook.running import launch, module_of
from tests.simt.engine.agree import Case
from tests.targets.llvm.agree import interpreted
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.launch import Launch
from warpsmith.targets.brook.export import write_brook

__all__ = ["random_agrees", "random_text"]

_THREADS = 32
_TYPES = ("int", "unsigned", "float", "double")


class _Writer:
    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)

    def value(self, depth: int = 3) -> str:
        """Return an expression of any type."""
        if depth == 0 or self.draw.random() < 0.15:
            return self.draw.choice(
                ("i", "n", "s", "d", "x0", "x1", "x2", "x3", "b[i]", "c[i]", "a[i]", "3", "2u", "0.75f", "1.5")
            )
        p, q = self.value(depth - 1), self.value(depth - 1)
        kind = self.draw.randrange(7)
        if kind == 0:
            return f"({p} {self.draw.choice(('+', '-', '*'))} {q})"
        if kind == 1:
            return f"({p} {self.draw.choice(('<', '>=', '==', '&&', '||'))} {q})"
        if kind == 2:
            return f"({self.draw.choice(_TYPES)})({p})" if self.draw.random() < 0.5 else f"(float)({self.whole(p)})"
        if kind == 3:
            one = self.draw.choice(("fmaxf", "fminf", "fmax", "fmin", "max", "min"))
            given = (self.whole(p), self.whole(q)) if one in ("max", "min") else (p, q)
            return f"{one}({given[0]}, {given[1]})"
        if kind == 4:
            one = self.draw.choice(("fabsf", "floorf", "ceilf", "truncf", "sqrt", "floor"))
            return f"{one}({p})" if one != "sqrt" else f"sqrt(fabs((double)({p})))"
        if kind == 5:
            return f"({p} ? {q} : {self.value(depth - 1)})"
        return self.draw.choice(
            (f"b[{self.whole(p)} & 31]", f"c[(size_t)({self.whole(q)} & 15)]", f"-({p})", f"!({q})")
        )

    def whole(self, text: str) -> str:
        """Return an expression as an int of a size that floats have."""
        return f"((int)fminf(fmaxf({text}, -900), 900) {self.draw.choice(('+', '^', '>>', '%', '/'))} 5)"

    def statements(self, depth: int) -> Iterator[str]:
        """Yield some statements."""
        for _ in range(self.draw.randrange(1, 4)):
            kind = self.draw.randrange(6 if depth else 3)
            if kind < 3:
                target = self.draw.choice(("x0", "x1", "x2", "x3", "a[i]", "w[i]"))
                yield f"{target} = {self.of(target)};"
            elif kind == 3:
                yield f"if ({self.value(2)}) {{ {' '.join(self.statements(depth - 1))} }} else a[i] += 1;"
            elif kind == 4:
                k = f"k{self.draw.randrange(1000)}"
                inside = " ".join(self.statements(depth - 1))
                yield f"for (int {k} = 0; {k} < 3; {k}++) {{ {inside} x2 += {k}; }}"
            else:
                yield f"if ({self.value(1)}) return;"

    def of(self, target: str) -> str:
        """Return a value that a variable can hold."""
        if target in ("x0", "w[i]"):
            return f"(int)fminf(fmaxf({self.value()}, -9e3f), 9e3f)"
        return f"(unsigned)({self.whole(self.value())} & 255)" if target == "x1" else self.value()


def random_text(seed: int) -> str:
    """Return the kernel that a seed stands for."""
    head = "__global__ void k(float *a, int *w, const float *b, const int *c, int n, float s, double d) "
    first = "int i = blockIdx.x * blockDim.x + threadIdx.x, x0 = n; unsigned x1 = 5; float x2 = s; double x3 = d; "
    last = "a[i] = a[i] + x2 + (float)x3; w[i] += x0 ^ (int)x1;"
    return f"{head}{{ {first}{' '.join(_Writer(seed).statements(2))} {last} }}"


def random_agrees(seed: int) -> bool:
    """Whether the kernel of a seed and its Brook+ write the same."""
    unit = read_unit(KernelFile("k.cu", text=random_text(seed)))
    assert isinstance(unit, KernelUnit) and not unit.findings
    (kernel,) = (one for one in unit.functions if one.device is not None and one.device.kernel)
    text = write_brook(kernel, unit.functions)
    arrays = {"a": numbers_in(seed, 32), "w": numbers_in(seed + 1, 32, "i4"), "b": numbers_in(seed + 2, 32),
              "c": numbers_in(seed + 3, 32, "i4")}  # fmt: skip
    numbers: dict[str, Any] = {"n": seed % 9 - 3, "s": 0.375 * (seed % 5), "d": np.float64(0.1 * seed)}
    given = {
        "n": struct.pack("<i", numbers["n"]),
        "s": struct.pack("<f", numbers["s"]),
        "d": struct.pack("<d", numbers["d"]),
    }
    launched = Launch((1, 1, 1), (_THREADS, 1, 1), given, max_steps=1_000_000)
    expected = interpreted(Case(unit.module, "k", launched, {n: (v.tobytes(), True) for n, v in arrays.items()}), 32)
    if expected is None:
        return True
    streams: dict[str, npt.NDArray[Any]] = dict(arrays)
    streams |= {f"{name}_before": arrays[name] for name in ("a", "w") if f"{name}_before" in text}
    streams = {name: array for name, array in streams.items() if name in text.partition("{")[0]}
    found = launch(module_of(text), "k", streams, {k: v for k, v in numbers.items() if f" {k}" in text}, (1, _THREADS))
    return all(_same(found[name], np.frombuffer(expected[name], arrays[name].dtype)) for name in ("a", "w"))


def _same(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    equal = one.view("u4") == other.view("u4")
    return bool(np.all(equal | ((one != one) & (other != other))))
