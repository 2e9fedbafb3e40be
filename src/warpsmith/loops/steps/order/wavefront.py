"""Wavefronts: see Wavefront."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec.structs
from msgspec import Struct

from warpsmith.base.verdict import Unknown, Verdict
from warpsmith.loops.analysis.orders import judge_schedules, reorder_statements
from warpsmith.loops.analysis.shape import does_not_fit, perfect_nest, wrong_value
from warpsmith.loops.place import LoopContext
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.legality.schedules import Schedule
from warpsmith.poly.schedule.scheduling import hyperplane, wavefront_schedule
from warpsmith.tree.nodes import For, Stmt
from warpsmith.tree.program import Program

__all__ = ["Wavefront"]

_LARGEST = 64


class Wavefront(Struct, frozen=True):
    """Walk a nest of loops along a sum of their counters, so that what has equal sums may run at once.

    `factors` are those of the sum, one for each of the `depth` outermost loops; left out, the least ones are taken for
    which the sum grows along every dependence (L. Lamport: The parallel execution of DO loops, CACM 1974). The last
    counter with a factor 1 or -1 is computed from the others. Legal where every dependence keeps its direction.

    Step: loop=f/i, depth=2, factors=1:1

    Before:
        void f(int n, double a[n][n])
        {
            for (int i = 1; i < n; i++)
                for (int j = 1; j < n; j++)
                    a[i][j] += a[i - 1][j] + a[i][j - 1];
        }

    After:
        void f(int n, double a[n][n])
        {
            for (long long w = 2; w < 2LL * n - 1; w++)
                for (int i = 1; i < n; i++)
                    if (i < w && i > w - n) {
                        int j = w - i;
                        a[i][j] += a[i - 1][j] + a[i][j - 1];
                    }
        }
    """

    name: ClassVar[str] = "wavefront"
    loop: str
    depth: int = 0
    factors: tuple[int, ...] = ()

    def complete(self, program: Program, facts: Facts) -> Wavefront:
        """Return the step with depth and factors filled in; itself where no factors are found."""
        place = LoopContext.of(program, self.loop)
        nest = perfect_nest(place.require_counted())
        depths = (self.depth,) if self.depth else range(len(nest), 1, -1)
        for depth in depths:
            if self.factors:
                return msgspec.structs.replace(self, depth=self.depth or len(self.factors))
            if not 2 <= depth <= len(nest):
                continue
            factors = hyperplane(facts, place.function, (nest[0],), nest[depth - 1].body)
            if factors is not None:
                return msgspec.structs.replace(self, depth=depth, factors=factors)
        return self

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Judge the new order."""
        place = LoopContext.of(program, self.loop)
        step = self.complete(program, facts)
        schedules = step._schedules(place.require_counted())
        if isinstance(schedules, Unknown):
            return schedules
        return judge_schedules(program, facts, place.function, (place.loop,), schedules)

    def apply(self, program: Program) -> Program:
        """Return the program with the nest walked along the sum."""
        place = LoopContext.of(program, self.loop)
        step = self if self.factors else self.complete(program, Facts.about(program, PolyOptions()))
        schedules = step._schedules(place.require_counted())
        if isinstance(schedules, Unknown):
            raise ValueError(schedules.reasons[0].text)
        return reorder_statements(program, place.function, (place.loop,), schedules)

    def _schedules(self, loop: For) -> Mapping[Stmt, Schedule] | Unknown:
        nest = perfect_nest(loop)
        depth = self.depth or len(self.factors)
        name = loop.variable.name
        if len(nest) < 2:
            return does_not_fit(f"a wavefront needs two loops, one directly inside the other: {name} has none", loop)
        if self.depth and not 2 <= self.depth <= len(nest):
            text = f"depth={self.depth}: the nest of {name} has {len(nest)} loops"
            return wrong_value(text, loop, f"depth={len(nest)}")
        if not self.factors:
            text = f"no sum of the counters with small factors grows along every dependence of the {name} loop"
            return does_not_fit(text, loop)
        if depth != len(self.factors) or not 2 <= depth <= len(nest):
            text = f"{len(self.factors)} factors for {self.depth or len(nest)} loops"
            return wrong_value(text, loop, f"factors={':'.join('1' for _ in nest)}")
        if not any(abs(f) == 1 for f in self.factors) or any(abs(f) > _LARGEST for f in self.factors):
            text = f"one of the factors must be 1 or -1, none may be beyond {_LARGEST}"
            return wrong_value(text, loop, f"factors={':'.join('1' for _ in nest[:depth])}")
        counters = tuple(inner.variable for inner in nest[:depth])
        if len(set(counters)) < depth:
            return does_not_fit("two loops of the nest have the same counter", loop)
        return {nest[depth - 1].body: wavefront_schedule(counters, self.factors)}
