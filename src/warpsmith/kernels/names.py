"""The names of kernels as people write them: `_Z9transposePfPKfi` is transpose.

Only the name is decoded (Itanium C++ ABI, 5.1), template arguments and parameters are left out; where two kernels would
get one name, both keep their symbols.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

__all__ = ["shown_names", "written_name"]


def written_name(symbol: str) -> str:
    """Return the name that a symbol was made from; the symbol itself where it is not a C++ one.

    >>> written_name("_Z15transpose_naivePfPKfi"), written_name("_ZN4deep3addEPf"), written_name("_Z4copyIfLi32EEvPT_")
    ('transpose_naive', 'deep::add', 'copy')
    >>> written_name("plain"), written_name("_Zx")
    ('plain', '_Zx')
    """
    if not symbol.startswith("_Z"):
        return symbol
    rest = symbol[2:]
    nested = rest.startswith("N")
    rest = rest[1:].lstrip("rVK") if nested else rest
    parts: list[str] = []
    while rest[:1].isdigit():
        digits = len(rest) - len(rest.lstrip("0123456789"))
        length = int(rest[:digits])
        part = rest[digits : digits + length]
        if len(part) < length:
            return symbol
        parts.append("(anonymous)" if part.startswith("_GLOBAL__N_") else part)
        rest = rest[digits + length :]
        if not nested:
            break
    return "::".join(parts) or symbol


def shown_names(symbols: Sequence[str]) -> Mapping[str, str]:
    """Return the name for each symbol, the symbol where names would clash."""
    names = {symbol: written_name(symbol) for symbol in symbols}
    count = Counter(names.values())
    return {symbol: name if count[name] == 1 else symbol for symbol, name in names.items()}
