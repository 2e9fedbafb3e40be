"""Sizes that nothing tells, assumed for the model: a search must compare, and says what it counted on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from warpsmith.offload.gain.model import KernelTime
from warpsmith.offload.gain.sizes import DEFAULT_TRIPS
from warpsmith.report.model import KernelPrediction
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Kernel
from warpsmith.tree.types import is_integer
from warpsmith.tree.walk import names

__all__ = ["ASSUMED", "find_missing"]

ASSUMED: Final = DEFAULT_TRIPS
"""What a size counts as that nobody knows."""


def find_missing(kernel: Kernel, found: KernelPrediction, launched: KernelTime | None) -> Iterator[str]:
    """Yield the variables of the user's whose values a prediction lacks."""
    yield from found.unknown
    lacked = [text for text in found.lacks if text.startswith("the argument ")]
    for place in launched.places if launched is not None and lacked else ():
        counters = {loop.variable for loop, _ in place.around if isinstance(loop, For)}
        for parameter, argument in zip(kernel.parameters, place.launch.arguments, strict=True):
            value = place.sizes.value(argument)
            whole = parameter.kind == "value" and is_integer(parameter.symbol.type)
            asked = any(f"the argument {parameter.symbol.name}" in f"{text} " for text in lacked)
            if whole and asked and (value is None or value.guessed):
                yield from (part.symbol.name for part in names(argument) if part.symbol not in counters)
