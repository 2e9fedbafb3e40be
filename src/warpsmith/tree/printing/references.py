"""How C++ writes what the tree has as pointers: references, and methods with their object as first argument.

    *x        x a reference      x             (&x)     x alone: its address
    x->f      x a reference      x.f           f(&a)    the parameter a reference: f(a)
    f(&o, 1)  f a method         o.f(1)

Text goes in, text comes out: the address of what is written `(&…)` is turned back into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from warpsmith.tree.nodes import Call, Expr, MacroUse, Name, Unary
from warpsmith.tree.types import Array, FunctionType, Pointer, Symbol, Type

__all__ = [
    "OBJECT_KEY",
    "address_text",
    "call_text",
    "elements",
    "initial",
    "is_own_object",
    "name_text",
    "object_at",
    "refers",
]  # fmt: skip


OBJECT_KEY: Final = ":(this)"
"""How the key of a method's `this` ends: C may have variables of that name."""


def is_own_object(symbol: Symbol) -> bool:
    """Whether a symbol is the `this` of a method."""
    return symbol.key.endswith(OBJECT_KEY)


def refers(expr: Expr) -> bool:
    """Whether a pointer expression is a reference: its text alone means what it points to."""
    while isinstance(expr, MacroUse):
        expr = expr.expansion
    if isinstance(expr, Unary):
        return False
    type = expr.symbol.type if isinstance(expr, Name) else expr.type
    return isinstance(type, Pointer) and type.reference


def name_text(name: Name) -> str:
    """Return the text of a name where its value is wanted: of a reference its address, of a std::array its elements."""
    text = name.symbol.name
    return f"(&{text})" if refers(name) else text + elements(name.symbol.type)


def address_text(symbol: Symbol) -> str:
    """Return the text of the address of what a variable holds or points to."""
    if isinstance(symbol.type, Pointer):
        return f"&{symbol.name}" if symbol.type.reference else symbol.name
    return symbol.name + elements(symbol.type) if isinstance(symbol.type, Array) else f"&{symbol.name}"


def elements(type: Type) -> str:
    """Return what follows an array's name where the address of its elements is meant."""
    return ".data()" if isinstance(type, Array) and type.spelling.startswith("std::array<") else ""


def object_at(address: str) -> str:
    """Return the text of the object whose address a text is."""
    if address.startswith("(&") and address.endswith(")") and _closes(address):
        return address[2:-1]
    return address


def initial(init: Expr, text: str) -> str:
    """Return the initializer of a reference that holds the address `init`."""
    while isinstance(init, MacroUse):
        init = init.expansion
    if refers(init):
        return object_at(text)
    if isinstance(init, Unary) and init.op == "&":
        return text.removeprefix("&")
    return text if not isinstance(init.type, Pointer) or init.type.reference else f"*({text})"


def call_text(call: Call, function: str, arguments: Sequence[str]) -> str:
    """Return the text of a call; of a method it begins with its object."""
    type = call.function.type
    type = type.to if isinstance(type, Pointer) else type
    if not isinstance(type, FunctionType):
        return f"{function}({', '.join(arguments)})"
    given = [
        initial(argument, text) if _is_reference(type, number) else text
        for number, (argument, text) in enumerate(zip(call.arguments, arguments, strict=True))
    ]
    if type.method and given:
        name = function.rpartition("::")[2]
        text = f"{given[0]}->{name}({', '.join(given[1:])})"
        first = call.arguments[0]
        text = text.replace(f"{given[0]}->", f"{initial(first, given[0])}.", 1) if _is_address(first) else text
    else:
        text = f"{function}({', '.join(given)})"
    return f"(&{text})" if refers(call) else text


def _is_reference(type: FunctionType, number: int) -> bool:
    wanted = type.parameters[number] if number < len(type.parameters) else None
    return isinstance(wanted, Pointer) and wanted.reference


def _is_address(expr: Expr) -> bool:
    while isinstance(expr, MacroUse):
        expr = expr.expansion
    return refers(expr) or (isinstance(expr, Unary) and expr.op == "&")


def _closes(text: str) -> bool:
    """Whether the first parenthesis of a text is closed by its last character."""
    depth = 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return position == len(text) - 1
    return False
