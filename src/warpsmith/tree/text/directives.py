"""The words and clauses of an OpenMP or OpenACC pragma, as the user wrote it.

    #pragma omp parallel for private(t) reduction(+: s, h[:n]) collapse(2)
                └──words───┘ └─clause─┘ └──────clause────────┘ └─clause──┘

Nothing is guessed: a clause that the reader does not know stands in `unknown` with its text.
"""

from __future__ import annotations

import functools
import tomllib
from importlib.resources import files
from typing import Literal

from msgspec import Struct

__all__ = ["Clause", "Directive", "Family", "ListItem", "words_of"]

Family = Literal["omp", "acc"]

_ALONE = frozenset(
    (word,)
    for word in (
        "barrier", "flush", "taskwait", "taskyield", "threadprivate", "cancel", "cancellation", "depobj", "declare",
        "requires", "interop", "error", "nothing", "end", "begin", "assumes", "scan",
    )
)  # fmt: skip
WordTable = Literal["omp", "acc", "lists", "others", "judged"]
_WORKSHARING = frozenset({"for", "loop"})


@functools.cache
def words_of(table: WordTable) -> frozenset[str]:
    """Return one of the word lists of directives.toml."""
    text = files("warpsmith.tree").joinpath("directives.toml").read_text(encoding="utf-8")
    return frozenset(tomllib.loads(text)[table])


class ListItem(Struct, frozen=True):
    """One item of a clause's list: a variable, and the part of it that is meant (`[0:n]`; empty: all of it)."""

    name: str
    section: str = ""


class Clause(Struct, frozen=True):
    """One clause. `operator` is a reduction's, `argument` the text in the parentheses of a clause without a list."""

    name: str
    text: str
    variables: tuple[ListItem, ...] = ()
    operator: str = ""
    argument: str = ""


class Directive(Struct, frozen=True):
    """One directive: its words (`parallel`, `for`), its clauses in their order, and what was not understood."""

    family: Family
    words: tuple[str, ...]
    clauses: tuple[Clause, ...] = ()
    unknown: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Whether a clause of that name stands there."""
        return any(clause.name == name for clause in self.clauses)

    def list_variables(self, *names: str) -> tuple[str, ...]:
        """Return the variables in the lists of all clauses of these names."""
        return tuple(v.name for clause in self.clauses if clause.name in names for v in clause.variables)

    def argument(self, name: str) -> str:
        """Return the argument of the first clause of that name, or nothing."""
        return next((clause.argument for clause in self.clauses if clause.name == name), "")

    @property
    def title(self) -> str:
        """The directive without its clauses: `omp parallel for`."""
        return " ".join((self.family, *self.words))

    @property
    def starts_threads(self) -> bool:
        """Whether the construct is run by several host threads (or teams, or tasks) at once."""
        if self.family == "acc":
            return False
        return bool({"parallel", "teams", "task", "taskloop", "target"}.intersection(self.words)) and not (
            {"data", "update", "enter", "exit", "declare"}.intersection(self.words)
        )

    @property
    def shares_loop(self) -> bool:
        """Whether it says that the iterations of the loop behind it may run on several threads at once."""
        if self.family == "acc":
            marked = "loop" in self.words and not self.has("seq")
            return marked and ("parallel" in self.words or self.has("independent") or "kernels" not in self.words)
        return bool(_WORKSHARING.intersection(self.words)) or "distribute" in self.words

    @property
    def shares_work_of_callers(self) -> bool:
        """Whether it shares a loop among the threads of a region around it, in the function or in its callers."""
        return self.family == "omp" and self.shares_loop and not self.starts_threads

    @property
    def stands_alone(self) -> bool:
        """Whether it is complete by itself: it says nothing of the statement behind it."""
        if self.family == "acc":
            first = self.words[:1]
            return first in (("wait",), ("init",), ("shutdown",), ("set",), ("update",), ("cache",), ("routine",)) or (
                first in (("enter",), ("exit",), ("declare",))
            )
        return self.words[:1] in _ALONE or bool({"update", "enter", "exit"}.intersection(self.words[1:]))

    @property
    def is_simd(self) -> bool:
        """Whether it says no more than that neighboring iterations may run in the lanes of one instruction."""
        return self.family == "omp" and self.words == ("simd",)
