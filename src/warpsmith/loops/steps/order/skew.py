"""Loop skewing: see Skew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Unknown, Verdict
from warpsmith.loops.analysis.orders import judge_schedules, reorder_statements
from warpsmith.loops.analysis.shape import does_not_fit, perfect_nest, wrong_value
from warpsmith.loops.place import LoopContext
from warpsmith.poly.analyze import Facts
from warpsmith.poly.legality.schedules import Schedule, ScheduleDimension
from warpsmith.tree.nodes import For, Stmt
from warpsmith.tree.program import Program

__all__ = ["Skew"]

_LARGEST = 64


class Skew(Struct, frozen=True):
    """Shift the range of a loop by a multiple of the counter of a loop around it.

    `by` names the loop around (left out: the nearest one), `factor` the multiple. The order does not change, so it is
    always legal; it makes an interchange legal that was not (M. Wolfe: Loop skewing: the wavefront method revisited,
    IJPP 1986), and tiles of loops that stand directly inside one another: they still do.

    Step: loop=f/i/j, by=i, factor=1

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
            for (int i = 1; i < n; i++) {
                for (long long w = i + 1; w < (long long)i + n; w++) {
                    int j = w - i;
                    a[i][j] += a[i - 1][j] + a[i][j - 1];
                }
            }
        }
    """

    name: ClassVar[str] = "skew"
    loop: str
    by: str = ""
    factor: int = 1

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the loop can be written so; its order stays."""
        place = LoopContext.of(program, self.loop)
        schedules = self._schedules(place)
        if isinstance(schedules, Unknown):
            return schedules
        return judge_schedules(program, facts, place.function, (place.loop,), schedules)

    def apply(self, program: Program) -> Program:
        """Return the program with the loop skewed."""
        place = LoopContext.of(program, self.loop)
        schedules = self._schedules(place)
        if isinstance(schedules, Unknown):
            raise ValueError(schedules.reasons[0].text)
        return reorder_statements(program, place.function, (place.loop,), schedules)

    def _schedules(self, place: LoopContext) -> Mapping[Stmt, Schedule] | Unknown:
        loop = place.require_counted()
        around = [outer for outer in place.around if isinstance(outer, For)]
        name = loop.variable.name
        if not around:
            return does_not_fit(f"around the {name} loop stands no counted loop", loop)
        chosen = around[-1] if not self.by else next((o for o in around if o.variable.name == self.by), None)
        if chosen is None or chosen.variable == loop.variable:
            known = ", ".join(outer.variable.name for outer in around)
            return wrong_value(f"by={self.by} names no loop around {name} (they are: {known})", loop)
        if self.factor == 0 or abs(self.factor) > _LARGEST:
            return wrong_value(f"factor={self.factor} is 0 or beyond {_LARGEST}", loop, "factor=1")
        # loops directly inside stay directly inside, so that all of them can be tiled together
        nest = perfect_nest(loop)
        first, *others = ((one.variable, 1 if one.step > 0 else -1) for one in nest)
        skewed = ScheduleDimension((first, (chosen.variable, first[1] * self.factor)))
        return {nest[-1].body: (skewed, *(ScheduleDimension((other,)) for other in others))}
