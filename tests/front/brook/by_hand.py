"""The kernels of the examples against what C computes (by_hand.c), bit for bit."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from tests.front.brook.running import EXAMPLES, launch, module_of
from warpsmith.ssa.nodes import Module

__all__ = ["CASES", "BrookCase", "agrees", "in_c", "numbers_in"]

Array = npt.NDArray[Any]


@cache
def _library() -> ctypes.CDLL:
    """Return by_hand.c, compiled without fused or reordered arithmetic."""
    folder = tempfile.TemporaryDirectory()
    _KEPT.append(folder)
    made = Path(folder.name) / "by_hand.so"
    source = Path(__file__).with_name("by_hand.c")
    command = ["gcc", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-o", str(made), str(source), "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(made))


_KEPT: Final[list[tempfile.TemporaryDirectory[str]]] = []


def in_c(name: str, *arguments: Array | float) -> None:
    """Call a function of by_hand.c: arrays by their addresses, numbers as int or float."""
    given: list[object] = []
    for one in arguments:
        if isinstance(one, np.ndarray):
            given.append(one.ctypes.data_as(ctypes.c_void_p))
        else:
            given.append(ctypes.c_float(one) if isinstance(one, float) else ctypes.c_int(one))
    getattr(_library(), name)(*given)


def numbers_in(seed: int, count: int, kind: str = "f4") -> Array:
    """Return numbers that a seed stands for."""
    rng = np.random.default_rng(seed)
    if kind == "i4":
        return rng.integers(-100, 100, count).astype(np.int32)
    return (rng.random(count, dtype=np.float32) * 8 - 2).astype(np.float32)


def _nothing(_: dict[str, Array]) -> None:
    """Change no array."""


class BrookCase(Struct, frozen=True):
    """A kernel of an example (or of `text`), with what it is run on: `arrays` before, `numbers`, the threads' `shape`;
    `results` are compared with what `oracle` leaves in copies of the arrays."""

    example: str
    kernel: str
    arrays: dict[str, Array]
    numbers: dict[str, Any]
    shape: tuple[int, int]
    results: Sequence[str]
    oracle: Callable[[dict[str, Array]], None] = _nothing
    text: str = ""


def agrees(case: BrookCase, module: Module | None = None, *, compiled: bool = False) -> bool:
    """Whether the kernel writes what C does."""
    module = module or module_of((EXAMPLES / case.example).read_text())
    found = launch(module, case.kernel, case.arrays, case.numbers, case.shape, compiled=compiled)
    wanted = {name: array.copy() for name, array in case.arrays.items()}
    case.oracle(wanted)
    return all(found[name].tobytes() == wanted[name].tobytes() for name in case.results)


def _empty(count: int, kind: str = "f4") -> Array:
    return np.zeros(count, kind)


def _sort(width: float, distance: float) -> BrookCase:
    return BrookCase(
        "bitonic.br", "sort_pass", {"input": numbers_in(1, 64), "output": _empty(64)},
        {"width": width, "distance": distance, "period": 2 * distance, "domain_width": 64}, (1, 64), ["output"],
        lambda a: in_c("sort_pass", a["input"], a["output"], width, distance, 2 * distance, 64),
    )  # fmt: skip


_CORNER, _STEP = np.array([-2.0, -1.25], "f4"), np.array([0.25, 0.3125], "f4")

CASES: Final = (
    _sort(2.0, 1.0), _sort(8.0, 2.0), _sort(64.0, 32.0),
    BrookCase(
        "product.br", "multiply", {"a": numbers_in(2, 5 * 7), "b": numbers_in(3, 7 * 9), "c": _empty(45)},
        {"n": 7, "a_width": 7, "b_width": 9}, (5, 9), ["c"],
        lambda a: in_c("multiply", a["a"], a["b"], a["c"], 7, 5, 9),
    ),
    BrookCase(
        "heat.br", "spread", {"plate": numbers_in(4, 6 * 11), "next": _empty(66)},
        {"plate_width": 11, "rows": 6, "columns": 11}, (6, 11), ["next"],
        lambda a: in_c("spread", a["plate"], a["next"], 6, 11),
    ),
    BrookCase(
        "sum.br", "add", {"a": numbers_in(5, 6 * 12), "total": _empty(6)},
        {"a_width": 12, "a_height": 6}, (2, 3), ["total"],
        lambda a: in_c("add", a["a"], a["total"], 6, 12, 2, 3),
    ),
    BrookCase(
        "fractal.br", "mandelbrot", {"steps": _empty(5 * 9, "i4")},
        {"corner": _CORNER, "step": _STEP, "most": 12}, (5, 9), ["steps"],
        lambda a: in_c("mandelbrot", _CORNER, _STEP, 12, a["steps"], 5, 9),
    ),
    BrookCase(
        "vectors.br", "shade",
        {"color": numbers_in(6, 4 * 19), "light": numbers_in(7, 3 * 19), "bright": _empty(76), "two": _empty(38),
         "bits": _empty(76, "i4")},
        {"weight": 0.75}, (1, 19), ["bright", "two", "bits"],
        lambda a: in_c("shade", a["color"], a["light"], 0.75, a["bright"], a["two"], a["bits"], 19),
    ),
)  # fmt: skip
