"""Bugs to seed where one thread runs a loop: each is a slip that the planner might make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from msgspec.structs import replace

from warpsmith.offload.mapping import kernels
from warpsmith.offload.selection import one_thread
from warpsmith.offload.values.kernel_text import return_for_continue
from warpsmith.tree.nodes import For

__all__ = ["BUGS"]

Patch = pytest.MonkeyPatch


def _dead(patch: Patch) -> None:
    """Take every variable for dead behind the loop."""

    class Nothing:
        @classmethod
        def of(cls, *given: Any) -> Any:
            class After:
                after: Any = type("Empty", (), {"__getitem__": lambda self, loop: frozenset()})()

            return After()

    patch.setattr(one_thread, "Liveness", Nothing)


def _own_without_reads(patch: Patch) -> None:
    """Give the thread what its loop counts, whatever else reads it."""
    patch.setattr(one_thread, "_is_counted", lambda loop, counter: True)


def _use(change: Callable[[Any], Any]) -> Callable[[Patch], None]:
    """Change how loops of one thread use variables."""

    def seed(patch: Patch) -> None:
        real: Any = one_thread.one_thread_at

        def at(*given: Any) -> Any:
            draft = real(*given)
            return replace(draft, uses=tuple(map(change, draft.uses))) if hasattr(draft, "uses") else draft

        from warpsmith.offload.selection import choice

        patch.setattr(choice, "one_thread_at", at)

    return seed


def _continue_ends(patch: Patch) -> None:
    """Take the loop for a thread's body: what goes on to its next iteration ends the kernel."""
    real: Any = kernels._body

    def body(request: Any, draft: Any, parts: Any = None) -> Any:
        made = real(request, draft, parts)
        if request.heads if hasattr(request, "heads") else draft.heads:
            return made
        (loop,) = made.statements[-1:]
        if not isinstance(loop, For):
            return made
        from warpsmith.tree.nodes import replace as replace_node

        last = replace_node(loop, body=return_for_continue(loop.body))
        return replace_node(made, statements=(*made.statements[:-1], last))

    patch.setattr(kernels, "_body", body)


def _undisturbed(patch: Patch) -> None:
    """Let a loop of one thread write what other kernels' threads have for themselves, or set behind them."""
    from warpsmith.offload.selection import choice

    patch.setattr(choice, "find_disturbed", lambda draft, others: None)


BUGS: Final[dict[str, Callable[[Patch], None]]] = {
    "all variables are dead behind the loop": _dead,
    "counters are read elsewhere": _own_without_reads,
    "scalars are passed by value": _use(lambda use: replace(use, kind="value" if use.kind == "cell" else use.kind)),
    "scalars are set first": _use(lambda use: replace(use, covers=True, read=False) if use.kind == "cell" else use),
    "arrays are not written": _use(lambda use: replace(use, written=use.written and use.kind != "buffer")),
    "continue ends the kernel": _continue_ends,
    "what others need is not asked": _undisturbed,
}
