"""The literal tuple of all steps, and what their classes say of themselves: parameters, text, example.

    class Interchange           interchange                    STEPS: what can be asked for by name
        loop: str          →    loop      text, required       make("interchange", {"loop": "f/i"}) → Interchange("f/i")
        depth: int = 1          depth     number, default 1    describe(Interchange) → the page that `steps` prints

Invariant: a step is made from arguments only where every one has exactly the type of its field; nothing is converted.
"""

from __future__ import annotations

import difflib
import inspect
import shlex
import textwrap
import typing
from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.records import default_of, field_names
from warpsmith.loops.step import Step
from warpsmith.loops.steps.data.contract import Contract
from warpsmith.loops.steps.data.expand import Expand
from warpsmith.loops.steps.data.flatten import Flatten
from warpsmith.loops.steps.data.hoist_allocation import HoistAllocation
from warpsmith.loops.steps.data.localize import Localize
from warpsmith.loops.steps.data.privatize import Privatize
from warpsmith.loops.steps.data.promote import Promote
from warpsmith.loops.steps.data.row_starts import RowStarts
from warpsmith.loops.steps.data.scalar_replace import ScalarReplace
from warpsmith.loops.steps.data.unmap import Unmap
from warpsmith.loops.steps.data.vector_rows import VectorRows
from warpsmith.loops.steps.order.canonicalize import Canonicalize
from warpsmith.loops.steps.order.distribute import Distribute
from warpsmith.loops.steps.order.fuse import Fuse
from warpsmith.loops.steps.order.interchange import Interchange
from warpsmith.loops.steps.order.normalize import Normalize
from warpsmith.loops.steps.order.peel import Peel
from warpsmith.loops.steps.order.reschedule import Reschedule
from warpsmith.loops.steps.order.reverse import Reverse
from warpsmith.loops.steps.order.shift import Shift
from warpsmith.loops.steps.order.skew import Skew
from warpsmith.loops.steps.order.split import Split
from warpsmith.loops.steps.order.strip_mine import StripMine
from warpsmith.loops.steps.order.tile import Tile
from warpsmith.loops.steps.order.unroll import Unroll
from warpsmith.loops.steps.order.unthread import Unthread
from warpsmith.loops.steps.order.wavefront import Wavefront
from warpsmith.loops.steps.statements.eliminate_recurrence import EliminateRecurrence
from warpsmith.loops.steps.statements.expand_expression import ExpandExpression
from warpsmith.loops.steps.statements.find_first import FindFirst
from warpsmith.loops.steps.statements.find_last import FindLast
from warpsmith.loops.steps.statements.forward_substitute import ForwardSubstitute
from warpsmith.loops.steps.statements.index_pointer import IndexPointer
from warpsmith.loops.steps.statements.inline import Inline
from warpsmith.loops.steps.statements.nest import Nest
from warpsmith.loops.steps.statements.outline import Outline
from warpsmith.loops.steps.statements.recognize_reduction import RecognizeReduction
from warpsmith.loops.steps.statements.recognize_scan import RecognizeScan
from warpsmith.loops.steps.statements.remove_header import RemoveHeader
from warpsmith.offload.steps.constant_memory import ConstantMemory
from warpsmith.offload.steps.double_buffer import DoubleBuffer
from warpsmith.offload.steps.halo_tile import HaloTile
from warpsmith.offload.steps.keep import Keep
from warpsmith.offload.steps.map import Map
from warpsmith.offload.steps.offload import Offload
from warpsmith.offload.steps.one_thread import OneThread
from warpsmith.offload.steps.register_tile import RegisterTile
from warpsmith.offload.steps.share_loop import ShareLoop
from warpsmith.offload.steps.shared_tile import SharedTile
from warpsmith.offload.steps.split_structs import SplitStructs
from warpsmith.offload.steps.time_tile import TimeTile
from warpsmith.offload.steps.vector_load import VectorLoad

__all__ = [
    "STEPS",
    "Argument",
    "ArgumentsError",
    "Kind",
    "Page",
    "Step",
    "StepParameter",
    "arguments_of",
    "describe",
    "make",
    "parameters",
    "step_class",
]

Argument = str | int | bool | tuple[str, ...] | tuple[int, ...]
Kind = Literal["text", "number", "flag", "texts", "numbers"]

_LARGEST = 2**63 - 1


STEPS: tuple[type[Step], ...] = (
    Interchange,
    Distribute,
    Fuse,
    Nest,
    Normalize,
    Canonicalize,
    Tile,
    StripMine,
    Unroll,
    Peel,
    Split,
    Reverse,
    Shift,
    Skew,
    Wavefront,
    Reschedule,
    Expand,
    Privatize,
    Contract,
    Localize,
    Promote,
    ScalarReplace,
    HoistAllocation,
    Flatten,
    RowStarts,
    VectorRows,
    SplitStructs,
    Unmap,
    Unthread,
    ForwardSubstitute,
    EliminateRecurrence,
    IndexPointer,
    FindFirst,
    FindLast,
    RemoveHeader,
    Inline,
    Outline,
    ExpandExpression,
    RecognizeReduction,
    RecognizeScan,
    Map,
    Offload,
    OneThread,
    ConstantMemory,
    SharedTile,
    HaloTile,
    TimeTile,
    RegisterTile,
    DoubleBuffer,
    VectorLoad,
    ShareLoop,
    Keep,
)


class StepParameter(Struct, frozen=True):
    """One field of a step; `default` is None where it must be given; `choices` are empty where any value is taken."""

    name: str
    kind: Kind
    default: Argument | None
    choices: tuple[str, ...] = ()


class Page(Struct, frozen=True):
    """What a step's docstring says. `example` are the arguments with which `before` becomes `after`."""

    name: str
    title: str
    doc: str
    parameters: tuple[StepParameter, ...]
    example: Mapping[str, str]
    before: str
    after: str


class ArgumentsError(UsageError):
    """A step cannot be made from these arguments. `key` is the one to blame (`name`: the step's name; None: a key is
    missing); `unknown`: there is no such key."""

    def __init__(self, finding: Finding, key: str | None = None, *, unknown: bool = False) -> None:
        super().__init__(finding)
        self.key = key
        self.unknown = unknown


def step_class(name: str) -> type[Step]:
    """Return the class of the step `name`; raises ArgumentsError with the nearest names."""
    found = next((cls for cls in STEPS if cls.name == name), None)
    if found is None:
        helps = _nearest(name, [cls.name for cls in STEPS], "`warpsmith steps` lists them")
        raise _error(f"no step is called {_quote_word(name)}", "name", helps)
    return found


def make(name: str, arguments: Mapping[str, object]) -> Step:
    """Return the step `name` with `arguments` (lists count as tuples); raises ArgumentsError where one is unknown,
    missing, or not exactly of its type."""
    cls = step_class(name)
    known = {parameter.name: parameter for parameter in parameters(cls)}
    for key in arguments:
        if key not in known:
            helps = _nearest(key, known, _signature(cls))
            raise _error(f"{name} has no parameter {_quote_word(key)}", key, helps, unknown=True)
    values = {key: _exact(name, known[key], value) for key, value in arguments.items()}
    for parameter in known.values():
        if parameter.default is None and parameter.name not in values:
            raise _error(f"{name} needs {parameter.name}", None, (_signature(cls),))
    made: Step = cls(**values)
    return made


def arguments_of(step: Step) -> dict[str, Argument]:
    """Return the arguments of a step that differ from their defaults, in the order of its fields."""
    given: dict[str, Argument] = {}
    for parameter in parameters(type(step)):
        value: Argument = getattr(step, parameter.name)
        if value != parameter.default:
            given[parameter.name] = value
    return given


def parameters(cls: type[Step]) -> tuple[StepParameter, ...]:
    """Return the parameters of a step in the order of its fields; raises TypeError where a field's type is none that
    a recipe can hold."""
    hints: Mapping[str, object] = typing.get_type_hints(cls)
    return tuple(_parameter(cls, name, hints[name]) for name in field_names(cls))


def describe(cls: type[Step]) -> Page:
    """Return the page of a step; raises ValueError where its docstring has not the form that CONTRIBUTING.md gives."""
    text = inspect.cleandoc(cls.__doc__ or "")
    head, marked, rest = text.partition("\nStep: ")
    line, _, shown = rest.partition("\n")
    before, _, after = shown.partition("\nAfter:\n")
    title, _, doc = head.strip().partition("\n\n")
    before = before.strip("\n").removeprefix("Before:\n")
    if not marked or not before or not after.strip():
        raise ValueError(f"the docstring of {cls.__name__} needs Step:, Before: and After:")
    words = (word.rstrip(",").partition("=") for word in shlex.split(line))
    example = {key: value for key, _, value in words}
    return Page(cls.name, " ".join(title.split()), doc.strip(), parameters(cls), example, _code(before), _code(after))


def _code(text: str) -> str:
    return textwrap.dedent(text).strip("\n") + "\n"


_PLAIN: Mapping[object, Kind] = {
    str: "text",
    int: "number",
    bool: "flag",
    tuple[str, ...]: "texts",
    tuple[int, ...]: "numbers",
}


def _parameter(cls: type[Step], name: str, hint: object) -> StepParameter:
    words = typing.get_args(hint) if typing.get_origin(hint) is Literal else ()
    kind = "text" if words and all(isinstance(word, str) for word in words) else _PLAIN.get(hint)
    if kind is None:
        raise TypeError(f"a recipe cannot hold {name}: {hint}")
    default = default_of(cls, name)
    assert default is None or isinstance(default, str | int | tuple)
    return StepParameter(name, kind, default, tuple(str(word) for word in words))


def _exact(name: str, parameter: StepParameter, value: object) -> Argument:
    """Return `value` if it has exactly the type of the parameter."""
    items = tuple(value) if isinstance(value, list | tuple) else None
    match parameter.kind, value:
        case "flag", bool():
            return value
        case "number", int() if _is_number(value):
            return value
        case "text", str() if not parameter.choices or value in parameter.choices:
            return value
        case "texts", _ if items is not None and all(isinstance(item, str) for item in items):
            return items
        case "numbers", _ if items is not None and all(_is_number(item) for item in items):
            return items
        case "text", str():
            helps = _nearest(value, parameter.choices, f"one of {', '.join(parameter.choices)}")
            raise _error(f"{name}: {parameter.name} cannot be {_quote_word(value)}", parameter.name, helps)
    odd = next((item for item in items or () if not _fits(parameter.kind, item)), None)
    got = _word(value) if odd is None else f"a list with {_word(odd)}"
    raise _error(f"{name}: {parameter.name} is {_WORDS[parameter.kind]}, not {got}", parameter.name, ())


_WORDS: Mapping[Kind, str] = {
    "text": "a text",
    "number": "a whole number",
    "flag": "true or false",
    "texts": "a list of texts",
    "numbers": "a list of whole numbers",
}


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST


def _fits(kind: Kind, item: object) -> bool:
    return isinstance(item, str) if kind == "texts" else kind == "numbers" and _is_number(item)


def _word(value: object) -> str:
    """Return what a value is, in few words."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {_quote_word(value)}"
        case int():
            return f"the number {value}" if _is_number(value) else "a number of more than 64 bits"
        case float():
            return f"the number {value}"
        case list() | tuple():
            return "a list" if value else "an empty list"
        case Mapping():
            return "a table"
        case _:
            return f"a {type(value).__name__.lower()}"


def _signature(cls: type[Step]) -> str:
    names = [p.name if p.default is None else f"[{p.name}]" for p in parameters(cls)]
    return f"{cls.name} takes {', '.join(names)}"


def _nearest(word: str, known: Iterable[str], otherwise: str) -> tuple[str, ...]:
    near = difflib.get_close_matches(word[:100], list(known), n=2, cutoff=0.6)
    return (f"did you mean {' or '.join(near)}?", otherwise) if near else (otherwise,)


def _quote_word(word: str) -> str:
    return repr(word if len(word) <= 60 else word[:57] + "...")


def _error(message: str, key: str | None, helps: tuple[str, ...], *, unknown: bool = False) -> ArgumentsError:
    return ArgumentsError(Finding("STP004", "error", message, help=helps), key, unknown=unknown)
