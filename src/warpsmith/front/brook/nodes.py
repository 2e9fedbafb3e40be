"""What a text of Brook+ holds: definitions, their parameters, and kernels that were made of them.

    kernel void f(float a<>, float g[], float h[][], out float o<>, float s)
           stream a: one element a thread      gathers g, h: any element      out stream o      constant s

    Definition(form, name, result, parameters, body)
    Kernel = a definition, and what a launch gives: pointers, sizes, constants, how many threads there are

Source: Brook language (Stanford, BrookGPU pages "Brook Language" and "Current Issues"); `instance()`, integers,
scattered writes and subscripts as Brook+ has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.tree.nodes import Function
from warpsmith.tree.types import Symbol, Type

__all__ = ["BrookDefinition", "BrookKernel", "BrookParameter", "ParameterKind"]

ParameterKind = Literal["stream", "gather", "out", "place", "scatter", "reduce", "constant"]


class BrookParameter(Struct, frozen=True):
    """A parameter as it is written. `axes`: how many subscripts a gather takes; `pointer`: it is one, of host code; a
    `place` is an out parameter that is no stream."""

    name: str
    kind: ParameterKind
    type: Type
    span: Span
    axes: int = 0
    pointer: bool = False


class BrookDefinition(Struct, frozen=True):
    """A function as it is written; its body is the words from `first` to before `last`, braces included. `placed`: the
    streams of which it asks indexof; `asks_place`: it may ask where a thread is, or call what does."""

    form: Literal["kernel", "reduce", "function"]
    name: str
    result: Type
    parameters: tuple[BrookParameter, ...]
    span: Span
    first: int
    last: int
    placed: frozenset[str] = frozenset()
    asks_place: bool = False

    @property
    def solid(self) -> bool:
        """Whether its threads lie in layers: it has a gather of three axes."""
        return any(one.axes > 2 for one in self.parameters)

    @property
    def starts(self) -> bool:
        """Whether a launch can start it: a kernel that writes streams, and nothing else."""
        kinds = {one.kind for one in self.parameters}
        return self.form != "function" and bool(kinds & {"out", "scatter", "reduce"}) and "place" not in kinds


class BrookKernel(Struct, frozen=True):
    """A kernel with its function. `sizes`: the parameters with the width (and height) of what has another shape than
    the threads, by the name of the stream; `domain`: those that say how many threads there are, along x first."""

    definition: BrookDefinition
    function: Function
    sizes: Mapping[str, tuple[Symbol, ...]]
    domain: tuple[Symbol, ...]
