"""A journey as one JSON document: the key `journey` has a key for each stage."""

from __future__ import annotations

from typing import Final

import msgspec

from warpsmith.base.source import readable
from warpsmith.report.journey.model import Journey
from warpsmith.report.json_parts import document
from warpsmith.report.status import Status

__all__ = ["journey_json"]

_STATUS: Final[dict[int, Status]] = {0: "ok", 1: "negative", 3: "incomplete"}


def journey_json(made: Journey, inputs: tuple[str, ...]) -> str:
    """Return a journey as JSON; `inputs`: the files that it is about."""
    stages = _shown(msgspec.to_builtins(made))
    return document("demo journey", inputs, {"journey": stages}, _STATUS[made.exit_code])


def _shown(value: object) -> object:
    """Return a value in which texts are what people see of them."""
    match value:
        case str():
            return readable(value)
        case dict():
            return {key: _shown(one) for key, one in value.items()}
        case list() | tuple():
            return [_shown(one) for one in value]
        case _:
            return value
