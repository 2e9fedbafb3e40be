"""Arguments of a run as people write them become bytes and buffers.

    n=1024   m=n*2   x=3.5                      numbers; earlier numbers may be named
    a=zeros:f32[n]      a=const:f32[n]=2        a=iota:i32[64]       0, 1, 2, …
    a=rand:f32[n]:seed=1:below=64               0 ≤ x < below (1 for floats, 100 for integers)
    a=each:i32[n]=n-1-i                         element i, by a rule (elements.py)
    a=libc:i32[n]:below=64                      random() % below of the C library
    a=empty:f32[n]                              nothing was written there yet
    a=@b.npy                                    an array of numpy
    a=local:f32[64]                             shared memory that the launch gives (a __local parameter of OpenCL)
    p=hex:00000000ff                            the bytes of a struct
    t=texture[8,4,linear]:rand:f32[32]          a texture object: its sizes, how it is read, and its texels, x first

What a parameter takes is known from its declaration; PTX says its size only.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.kernels.elements import elements_of, libc_random
from warpsmith.kernels.units import KernelUnit
from warpsmith.ssa.nodes import Function, Parameter
from warpsmith.tree import types as tree

__all__ = ["ELEMENTS", "Argument", "Array", "TextureArgument", "arguments_for", "make_argument"]

Array = npt.NDArray[Any]

ELEMENTS: Final = {
    "f16": "<f2", "f32": "<f4", "f64": "<f8", "i8": "i1", "i16": "<i2", "i32": "<i4", "i64": "<i8",
    "u8": "u1", "u16": "<u2", "u32": "<u4", "u64": "<u8",
}  # fmt: skip
_LARGEST: Final = 1 << 28
_BUFFER: Final = re.compile(
    r"(?P<how>zeros|iota|rand|libc|const|each|empty|local):(?P<type>\w+)\[(?P<count>[^\]]*)\]"
    r"(?P<more>(?::(?:seed|below)=\w+)*)(?:=(?P<value>.+))?"
)
_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?(nan|inf)")


_TEXTURE: Final = re.compile(r"texture\[(?P<words>[^\]]*)\]:(?P<texels>.+)")
_WORDS: Final = ("linear", "normalized", "wrap", "mirror", "border")


class TextureArgument(Struct, frozen=True):
    """A texture: `texels` [depth, height, width, channels], `axes` of the sizes that were given, and `words`, of which
    each says how it is read (simt/textures.py)."""

    texels: Array
    axes: int
    words: frozenset[str]


class Argument(Struct, frozen=True):
    """What one parameter gets: `bytes` of a number or struct; or an `array` in a buffer of its own, whose content is
    `known` or not; or `local` bytes of shared memory. `element`: the type of the array, `f32`. Where it is a `texture`,
    `bytes` are the number that stands for it."""

    name: str
    bytes: bytes | None = None
    array: Array | None = None
    element: str = ""
    known: bool = True
    local: int = 0
    texture: TextureArgument | None = None


def arguments_for(texts: Iterable[str], unit: KernelUnit, kernel: Function, example: str) -> tuple[Argument, ...]:
    """Return the argument of each parameter of `kernel`, in its order.

    Raises UsageError where one is missing, unknown, of another type, or not of a form that is known.
    """
    declared = {s.name: s.type for s in unit.parameters.get(kernel.name, ())}
    said = {**_rows(unit, kernel), **_split(texts, kernel)}
    missing = [p for p in kernel.parameters if p.name not in said]
    if missing:
        raise _missing(missing, kernel, declared, unit, example)
    numbers: dict[str, int] = {}
    for name, text in said.items():
        if _is_number(text):
            value = _evaluate_text(text, numbers, name)
            if isinstance(value, int):
                numbers[name] = value
    return tuple(
        _texture(p, said[p.name], declared.get(p.name), (numbers, place))
        if said[p.name].startswith("texture[")
        else _argument(p, said[p.name], declared.get(p.name), numbers)
        for place, p in enumerate(kernel.parameters, 1)
    )


def _rows(unit: KernelUnit, kernel: Function) -> Mapping[str, str]:
    """Return the sizes of streams that are known where nobody says them."""
    domain = unit.domains.get(kernel.name)
    return domain.rows if domain is not None else {}


def _usage(message: str, *helps: str) -> UsageError:
    return UsageError(Finding("INP000", "error", message, help=helps))


def _split(texts: Iterable[str], kernel: Function) -> dict[str, str]:
    """Return the text for each parameter that is named; its place (`2`, `param_2`) is a name as well."""
    names = [parameter.name for parameter in kernel.parameters]
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not name or not equals or not value:
            raise _usage(f"--arg takes NAME=VALUE; it got {text!r}", "for example --arg n=64 --arg a=iota:i32[n]")
        place = name.removeprefix("param_")
        if name not in names and place.isdecimal() and int(place) < len(names):
            name = names[int(place)]
        if name not in names:
            near = get_close_matches(name, names, n=1)
            listed = f"its parameters: {', '.join(names) or 'none'}"
            raise _usage(f"{kernel.name} has no parameter '{name}'", f"did you mean '{near[0]}'?" if near else listed)
        if name in found:
            raise _usage(f"--arg {name} is given twice", "give it once")
        found[name] = value
    return found


def _missing(
    missing: Sequence[Parameter], kernel: Function, declared: Mapping[str, tree.Type], unit: KernelUnit, example: str
) -> UsageError:
    listed = ", ".join(f"{p.name} ({_describe_parameter(p, declared.get(p.name))})" for p in missing)
    integer = next((p.name for p in kernel.parameters if _takes_integer(p, declared.get(p.name))), "64")
    forms = " ".join(f"--arg '{p.name}={_example(p, declared.get(p.name), integer)}'" for p in missing)
    word = "an argument" if len(missing) == 1 else "arguments"
    helps = [f"for example: {example} {forms}"]
    if unit.language == "ptx":
        helps.append("PTX does not say what is a pointer: give NAME=zeros:f32[64] for one, a number for a number")
    return _usage(f"{kernel.name} needs {word} for {listed}", *helps)


def _describe_parameter(parameter: Parameter, type: tree.Type | None) -> str:
    if type is None:
        return f"{parameter.bytes} bytes"
    match type:
        case tree.Pointer():
            return f"{_describe_parameter(parameter, type.to)} {'&' if type.reference else '*'}"
        case tree.Scalar():
            return type.spelling or type.name
        case tree.Record():
            return type.spelling or type.tag
        case _:
            return f"{parameter.bytes} bytes"


def _takes_integer(parameter: Parameter, type: tree.Type | None) -> bool:
    if type is None:
        return parameter.type is not None and parameter.type.kind == "integer" and parameter.bytes == 4
    return isinstance(type, tree.Scalar) and type.kind in ("signed", "unsigned")


def _example(parameter: Parameter, type: tree.Type | None, count: str) -> str:
    match type:
        case tree.Pointer():
            how = "local" if type.space == "shared" else "iota"
            return f"{how}:{next(iter(_element_names(type.to)), 'f32')}[{count}]"
        case tree.Scalar(kind="float"):
            return "1.5"
        case tree.Scalar():
            return "64"
        case None if parameter.type is not None and parameter.bytes == 8:
            return f"iota:f32[{count}]"
        case None if parameter.type is not None:
            return "64"
        case _:
            return f"hex:{'00' * parameter.bytes}"


# --- numbers


def _is_number(text: str) -> bool:
    return not _BUFFER.fullmatch(text) and not text.startswith(("@", "hex:", "texture[")) and ":" not in text


_OPERATORS: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Div: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


def _evaluate_text(text: str, numbers: Mapping[str, int], name: str) -> int | float:
    """Return a number, or an expression of numbers that were named before; raises UsageError."""
    if _NUMBER.fullmatch(text) and not text.lstrip("+-").isdecimal():
        return float(text)
    try:
        return _fold(ast.parse(text, mode="eval").body, numbers)
    except ZeroDivisionError as error:
        raise _usage(f"--arg {name}: {text!r} divides by zero") from error
    except KeyError as error:
        known = f"numbers that are named so far: {', '.join(numbers)}" if numbers else "no number is named before it"
        raise _usage(f"--arg {name}: nothing gives {error.args[0]} in {text!r}", known) from error
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        forms = ("numbers: 64, 0x40, n*2, 3.5; arrays: zeros:f32[n], iota:i32[64], rand:f32[n]:seed=1, @file.npy",)
        raise _usage(f"--arg {name}: {text!r} is not of a form that is known", *forms) from error


def _fold(node: ast.expr, numbers: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int() as number):
            return int(number)
        case ast.Name(id=name):
            return numbers[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_fold(operand, numbers)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            result = _OPERATORS[type(op)](_fold(left, numbers), _fold(right, numbers))
            if abs(result) >> 64:
                raise ValueError("too large")
            return int(result)
        case _:
            raise ValueError("not an expression of numbers")


def _argument(parameter: Parameter, text: str, type: tree.Type | None, numbers: Mapping[str, int]) -> Argument:
    if text.startswith("hex:"):
        return Argument(parameter.name, _from_hex(parameter, text))
    if _is_number(text):
        return Argument(parameter.name, _pack_number(parameter, text, type, numbers))
    if isinstance(type, tree.Scalar | tree.Record) or (type is None and parameter.bytes != 8):
        raise _usage(
            f"--arg {parameter.name}: it is {_describe_parameter(parameter, type)}, not a pointer; it got {text!r}"
        )
    made = (
        _load_argument(parameter.name, text[1:])
        if text.startswith("@")
        else make_argument(parameter.name, text, numbers)
    )
    if isinstance(type, tree.Pointer):
        _check_element(parameter, type, made.element, is_local=made.array is None)
    return made


def _from_hex(parameter: Parameter, text: str) -> bytes:
    try:
        found = bytes.fromhex(text.removeprefix("hex:"))
    except ValueError as error:
        raise _usage(f"--arg {parameter.name}: {text!r} is not made of pairs of hexadecimal digits") from error
    if len(found) != parameter.bytes:
        raise _usage(f"--arg {parameter.name} has {parameter.bytes} bytes; {text!r} has {len(found)}")
    return found


def _pack_number(parameter: Parameter, text: str, type: tree.Type | None, numbers: Mapping[str, int]) -> bytes:
    """Return a number as its parameter holds it; raises UsageError where it does not fit."""
    if isinstance(type, tree.Pointer):
        helps = (f"for example --arg '{parameter.name}={_example(parameter, type, '64')}'",)
        raise _usage(
            f"--arg {parameter.name}: it is a pointer ({_describe_parameter(parameter, type)}), not a number", *helps
        )
    if parameter.type is None:
        helps = (f"give its bytes: --arg {parameter.name}=hex:{'00' * parameter.bytes}",)
        raise _usage(f"--arg {parameter.name}: it is a struct of {parameter.bytes} bytes, not a number", *helps)
    value = _evaluate_text(text, numbers, parameter.name)
    name = _describe_parameter(parameter, type)
    bits = 8 * parameter.bytes
    if parameter.type.kind == "float":
        with np.errstate(over="ignore"):
            packed = np.array(value, f"<f{parameter.bytes}")
        if np.isinf(packed) and not np.isinf(value):
            raise _usage(f"--arg {parameter.name}: {text} does not fit into {name}")
        return packed.tobytes()
    if isinstance(value, float):
        raise _usage(f"--arg {parameter.name}: it is {name}, an integer; it got {text}")
    if not -(1 << bits - 1) <= value < 1 << bits:
        raise _usage(f"--arg {parameter.name}: {text} does not fit into {name}")
    return (value % (1 << bits)).to_bytes(parameter.bytes, "little")


def _texture(parameter: Parameter, text: str, type: tree.Type | None, given: tuple[Mapping[str, int], int]) -> Argument:
    """Return the texture that a text describes; `given`: numbers that are named, and the number that it gets."""
    numbers, handle = given
    name, found = parameter.name, _TEXTURE.fullmatch(text)
    form = "for example texture[8,4]:rand:f32[32], texture[8,4,linear,normalized,wrap]:@texels.npy"
    if parameter.bytes != 8 or isinstance(type, tree.Pointer | tree.Record):
        raise _usage(f"--arg {name}: it is {_describe_parameter(parameter, type)}, not a texture object")
    if found is None:
        raise _usage(f"--arg {name}: {text!r} is not of a form that is known", form)
    parts = [part.strip() for part in found["words"].split(",")]
    words = frozenset(part for part in parts if part in _WORDS)
    said = [_evaluate_text(part, numbers, name) for part in parts if part not in _WORDS]
    sizes = [size for size in said if isinstance(size, int) and size > 0]
    source = found["texels"]
    made = _load_argument(name, source[1:]) if source.startswith("@") else make_argument(name, source, numbers)
    texels = math.prod(sizes)
    counts = len(sizes) == len(said) and 1 <= len(sizes) <= 3
    if not counts or made.array is None or made.array.size not in (texels, 2 * texels, 4 * texels):
        raise _usage(f"--arg {name}: a texture has 1 to 3 sizes, and 1, 2 or 4 numbers a texel; it got {text!r}", form)
    if len(words & {"wrap", "mirror", "border"}) > 1 or (words & {"wrap", "mirror"} and "normalized" not in words):
        raise _usage(f"--arg {name}: one of wrap, mirror and border; the first two of normalized coordinates", form)
    shape = (*[1] * (3 - len(sizes)), *reversed(sizes), made.array.size // texels)
    texture = TextureArgument(made.array.reshape(shape), len(sizes), words)
    return Argument(name, handle.to_bytes(8, "little"), texture=texture)


# --- arrays


def make_argument(name: str, text: str, numbers: Mapping[str, int]) -> Argument:
    """Return the array, or the room in shared memory, that a text describes; raises UsageError."""
    found = _BUFFER.fullmatch(text)
    if found is None:
        forms = "zeros:f32[n], const:f32[n]=2, iota:i32[64], rand:f32[n]:seed=1, empty:f32[n], @file.npy"
        forms += ", each:i32[n]=n-1-i, libc:i32[n]:below=n"
        raise _usage(f"--arg {name}: {text!r} is not of a form that is known", f"arrays: {forms}")
    how, element = found["how"], found["type"]
    if element not in ELEMENTS:
        near = get_close_matches(element, ELEMENTS, n=1)
        known = f"the types: {', '.join(ELEMENTS)}"
        raise _usage(f"--arg {name}: no type is called '{element}'", f"did you mean '{near[0]}'?" if near else known)
    dtype = np.dtype(ELEMENTS[element])
    count = _count(name, found["count"], dtype.itemsize, numbers)
    if (found["value"] is not None) != (how in ("const", "each")):
        raise _usage(f"--arg {name}: const and each take a value, the others take none", f"const:{element}[{count}]=2")
    match how:
        case "local":
            return Argument(name, element=element, local=count * dtype.itemsize)
        case "iota":
            array = np.arange(count).astype(dtype)
        case "const":
            array = _constant(name, found["value"], count, dtype)
        case "each":
            array = _by_rule(name, found["value"], count, dtype, numbers)
        case "rand" | "libc":
            said = dict(part.split("=") for part in found["more"].split(":") if part)
            given = {key: _evaluate_text(text, numbers, name) for key, text in said.items()}
            array = _random(name, given, count, dtype, of_libc=how == "libc")
        case _:
            array = np.zeros(count, dtype)
    return Argument(name, None, array, element, how != "empty")


def _count(name: str, text: str, size: int, numbers: Mapping[str, int]) -> int:
    count = _evaluate_text(text.strip(), numbers, name)
    if not isinstance(count, int) or count < 0 or count * size > _LARGEST:
        raise _usage(f"--arg {name}: {text} elements: it must be from 0 to {_LARGEST // size:,}")
    return count


def _constant(name: str, text: str, count: int, dtype: np.dtype[Any]) -> Array:
    try:
        value: int | float = int(text, 0) if dtype.kind in "iu" else float(text)
        return np.full(count, value, dtype)
    except (ValueError, OverflowError) as error:
        raise _usage(f"--arg {name}: {text} is no value of this type") from error


def _by_rule(name: str, text: str, count: int, dtype: np.dtype[Any], numbers: Mapping[str, int]) -> Array:
    try:
        return elements_of(text, count, dtype, numbers)
    except KeyError as error:
        known = f"names that it may have: i, {', '.join(numbers)}" if numbers else "it may name i, the element's number"
        raise _usage(f"--arg {name}: nothing gives {error.args[0]} in {text!r}", known) from error
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        helps = ("for example each:i32[n]=n-1-i, each:i32[n]=i%2*n, each:i32[n]=(i>=n/2)*n",)
        raise _usage(f"--arg {name}: each takes an expression of i; it got {text!r}: {error}", *helps) from error


def _random(name: str, given: Mapping[str, float], count: int, dtype: np.dtype[Any], *, of_libc: bool) -> Array:
    try:
        seed, below = int(given.get("seed", 1)), int(given.get("below", 1 if dtype.kind == "f" else 100))
        if of_libc:
            if dtype.kind == "f" or not 0 <= seed < 1 << 32 or not 0 < below <= np.iinfo(dtype).max:
                raise ValueError("libc makes integers, from a seed of 32 bits")
            return libc_random(count, below, seed).astype(dtype)
        generator = np.random.default_rng(seed)
        if dtype.kind == "f":
            return (generator.random(count) * below).astype(dtype)
        return generator.integers(0, below, count, dtype=dtype)
    except ValueError as error:
        raise _usage(f"--arg {name}: rand takes seed=N and below=N, both numbers that fit: {error}") from error


def _load_argument(name: str, path: str) -> Argument:
    """Return the array in a file of numpy's; raises UsageError."""
    try:
        if Path(path).stat().st_size > _LARGEST:
            raise _usage(f"--arg {name}: {path} is larger than {_LARGEST:,} bytes")
        array: object = np.load(path, allow_pickle=False)
    except OSError as error:
        raise _usage(f"--arg {name}: {path} cannot be read: {(error.strerror or str(error)).lower()}") from error
    except (ValueError, EOFError, SyntaxError) as error:
        raise _usage(f"--arg {name}: {path} is not an array of numpy (.npy)") from error
    if isinstance(array, np.lib.npyio.NpzFile):
        array.close()
    if not isinstance(array, np.ndarray):
        raise _usage(f"--arg {name}: {path} holds several arrays", "save one with numpy.save")
    if array.dtype == np.bool_:
        array = array.astype(np.uint8)
    for element, dtype in ELEMENTS.items():
        if array.dtype.newbyteorder("<") == np.dtype(dtype):
            return Argument(name, None, np.ascontiguousarray(array.astype(dtype)), element)
    raise _usage(f"--arg {name}: {path} holds {array.dtype}", f"the types: {', '.join(ELEMENTS)}")


def _check_element(parameter: Parameter, type: tree.Pointer, element: str, *, is_local: bool) -> None:
    wanted = _element_names(type.to)
    if wanted and element not in wanted:
        called = _describe_parameter(parameter, type)
        raise _usage(f"--arg {parameter.name}: it is {called}; its elements are {wanted[0]}, not {element}")
    if is_local != (type.space == "shared"):
        where = "shared memory of the block: local:f32[64]" if type.space == "shared" else "not shared memory"
        raise _usage(f"--arg {parameter.name}: it is {where}")


def _element_names(type: tree.Type) -> tuple[str, ...]:
    """Return the elements that a pointer to `type` may lead to; empty: any."""
    match type:
        case tree.Scalar(kind="float", bits=bits):
            return (f"f{bits}",)
        case tree.Scalar(kind="signed" | "unsigned" | "bool" as kind, bits=bits) if bits in (8, 16, 32, 64):
            return (f"i{bits}", f"u{bits}") if kind == "signed" else (f"u{bits}", f"i{bits}")
        case tree.Record(lanes=lanes) if lanes and type.fields:
            return _element_names(type.fields[0].type)
        case _:
            return ()
