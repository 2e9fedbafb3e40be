"""What the threads of a region are told about themselves, and where that makes no difference to what they leave behind.

    #pragma omp master                                   if (omp_get_thread_num() == 0)
    printf("%d threads\n", omp_get_num_threads());           b[0] = a[n - 1];           as under `master`

Invariant: the number of threads, and that of the thread, is allowed only where it is printed as it is, by one thread,
or decides that the first thread does something, which one thread alone is. A thread that is the only one prints 1 and
0: that is what OpenMP prints too on one thread, and how many there are is the run's choice, not the program's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from warpsmith.tree.effects.table import EffectsTable
from warpsmith.tree.nodes import Binary, Call, DeclStmt, Expr, ExprStmt, If, Literal, Name, Node, Stmt
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import peel, walk, written_symbols

__all__ = ["CHOOSING", "find_told", "is_first_thread", "numbers_of_threads"]
