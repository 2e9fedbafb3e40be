"""The number of threads, told to a variable by one of a region's threads.

    #pragma omp parallel                          {
    {                                                 for (i …) …
        #pragma omp for                               #pragma omp parallel
        for (i …) …                         →         #pragma omp master
        #pragma omp master                            count = omp_get_num_threads();
        count = omp_get_num_threads();            }
    }

Invariant: a region of its own tells the same number, so whatever is done with it is done with the same one.
Limits: regions whose clauses say nothing of their threads, or a number; functions that share work.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.poly.openmp.team import Team
from warpsmith.poly.openmp.thread_numbers import asks_for_count
from warpsmith.tree.nodes import Assign, ExprStmt, Name
from warpsmith.tree.text.directives import Clause
from warpsmith.tree.walk import peel, walk

__all__ = ["clauses_of_count", "find_kept_counts"]


def find_kept_counts(team: Team) -> Iterator[ExprStmt]:
    """Yield the statements by which one thread of a team stores its number of threads in a variable of all."""
    if clauses_of_count(team) is None:
        return
    for _, once in team.once:
        for stmt in walk(once):
            expr = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
            target = peel(expr.target) if isinstance(expr, Assign) and expr.op == "=" else None
            told = isinstance(expr, Assign) and asks_for_count(expr.value)
            if isinstance(stmt, ExprStmt) and told and isinstance(target, Name) and target.symbol not in team.own:
                yield stmt


def clauses_of_count(team: Team) -> tuple[Clause, ...] | None:
    """Return the clauses that say how many threads the region has, None where they may say something else later."""
    clauses = team.region.directive.clauses
    counts = tuple(c for c in clauses if c.name in ("num_threads", "if"))
    fixed = all(c.name == "num_threads" and c.argument.strip().isdigit() for c in counts)
    return counts if fixed and not team.called else None
