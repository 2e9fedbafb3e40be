"""Texts of the library's that are modelled as calls which keep no address: of functions and macros.

    std::cout << "at " << t << v[i]      std::ostream("std::cout << \"at \" << ", t, " << ", v[i])
    std::chrono::steady_clock::now()     std::clock("std::chrono::steady_clock::now()")
    isnan(x[i])                          std::value("std::isnan(", x[i], ")")
    assert(x > 0)                        assert(x > 0), where it is on; clang has its expansion:
                                         C:   ({ if (x > 0) ; else __assert_fail("x > 0", …); })
                                         C++: static_cast<bool>(x > 0) ? void(0) : __assert_fail("x > 0", …)

The names stand in the table of effects (effects.toml); no function of a program has one of them. The arguments are the
values that the text evaluates, and as literals the text between them; printed, they stand side by side. `assert` has
its condition alone.
"""

from __future__ import annotations

from typing import Final

from warpsmith.base.source import Span
from warpsmith.tree.nodes import Call, Expr, Name, Node
from warpsmith.tree.types import INT, VOID, FunctionType, Symbol

__all__ = ["ASSERTION", "CLOCK", "OUTPUT", "TEXTS", "VALUE", "is_assertion", "make_assertion"]

OUTPUT: Final = "std::ostream"
CLOCK: Final = "std::clock"
VALUE: Final = "std::value"
TEXTS: Final = frozenset({OUTPUT, CLOCK, VALUE})
"""The names of the functions that stand for a text."""

ASSERTION: Final = "assert"
"""The name, and the key, of the function that a test of `assert` is a call of."""

_ASSERT: Final = Symbol(ASSERTION, ASSERTION, FunctionType(VOID, (INT,)), "function")


def make_assertion(condition: Expr, span: Span) -> Call:
    """Return the test of a condition, in place of the macro's expansion at `span`."""
    function = Name(span=Span(span.file, span.start, span.start), type=_ASSERT.type, symbol=_ASSERT)
    return Call(span=span, type=VOID, function=function, arguments=(condition,))


def is_assertion(node: Node) -> bool:
    """Whether a node is the test of an assertion."""
    return isinstance(node, Call) and isinstance(node.function, Name) and node.function.symbol == _ASSERT
