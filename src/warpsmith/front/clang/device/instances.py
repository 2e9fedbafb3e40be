"""Explicit instantiations of functions, which clang's interface does not show, as variables that name the instances.

    template __global__ void k<short, 8>(short *);       auto w0=&k<short, 8>;
    template __global__ void k(float *, int);            void(*w1)(float *, int)=k;
    template void run<float>(float *);                   auto w2=&run<float>;             its launches have instances

Invariant: the text keeps its length and its line ends, so that every offset in it means the same place.
"""

from __future__ import annotations

import re
from typing import Final

from warpsmith.base.c_lexer import CUDA
from warpsmith.base.c_text import mask_code

__all__ = ["named_instances"]

_INSTANCE: Final = re.compile(r"\b(?:extern\s+)?template\s+(?!<|class\b|struct\b|union\b)[^;{}]*;")
_BOUNDS: Final = re.compile(r"__(?:launch_bounds|maxnreg|cluster_dims)__\s*\((?:[^()]|\([^()]*\))*\)")
_NAMED: Final = re.compile(r"([\w$:]+)\s*(<.*>)?\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*;$", re.DOTALL)


def named_instances(text: str) -> str:
    """Return the text of a CUDA file with its explicit instantiations of functions as variables."""
    if "template" not in text:
        return text
    made, position = list[str](), 0
    for number, found in enumerate(_INSTANCE.finditer(mask_code(text, CUDA))):
        variable = _variable(found.group(), number)
        if variable is not None and found.start() >= position:
            made += [text[position : found.start()], variable]
            position = found.end()
    return "".join([*made, text[position:]])


def _variable(statement: str, number: int) -> str | None:
    """Return a variable's definition as long as a statement; None where that cannot be."""
    found = _NAMED.search(_BOUNDS.sub("", statement))
    if found is None:
        return None
    if "__global__" not in statement and not found.group(2):
        return None
    name, arguments, parameters = found.group(1), found.group(2) or "", " ".join(found.group(3).split())
    written = (
        f"auto w{number}=&{name}{' '.join(arguments.split())};"
        if arguments
        else f"void(*w{number})({parameters})={name};"
    )
    lines = statement.count("\n")
    if len(written) + lines > len(statement):
        return None
    return written + "\n" * lines + " " * (len(statement) - len(written) - lines)
