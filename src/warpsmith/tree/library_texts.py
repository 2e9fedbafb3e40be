"""Texts that call functions of C++'s library which keep no address: the values that they evaluate, between their text.

    std::cout << "at " << t << v[i]      std::ostream("std::cout << \"at \" << ", t, " << ", v[i])
    std::chrono::steady_clock::now()     std::clock("std::chrono::steady_clock::now()")
    isnan(x[i])                          std::value("std::isnan(", x[i], ")")

The names stand in the table of effects (effects.toml); no function of a program has one of them. The arguments are the
values that the text evaluates, and as literals the text between them; printed, they stand side by side.
"""

from __future__ import annotations

from typing import Final

__all__ = ["CLOCK", "OUTPUT", "TEXTS", "VALUE"]

OUTPUT: Final = "std::ostream"
CLOCK: Final = "std::clock"
VALUE: Final = "std::value"
TEXTS: Final = frozenset({OUTPUT, CLOCK, VALUE})
"""The names of the functions that stand for a text."""
