"""Scalar replacement: see ScalarReplace.

    for (k = 0; k < n; k++)              if (0 < n) {
        c[i] += a[i][k] * b[k];              double c_value = c[i];
                                     →       for (k = 0; k < n; k++)
                                                 c_value += a[i][k] * b[k];
                                             c[i] = c_value;
                                         }

Invariant: in every iteration the variable has what the element has in the user's loop; behind the run so has the
element (loops/replaceable.py).
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown, Verdict
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import does_not_fit
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.replaceable import Replaceable, Replacement, find_replaceable, root_of_element
from warpsmith.loops.writing.pragma_lines import pragma_in_the_way
from warpsmith.loops.writing.replaced import with_variables
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.legality.alone import AloneQuestion, is_alone
from warpsmith.tree.memory.effective_types import keeps_types
from warpsmith.tree.nodes import Expr, Loop, Stmt
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.program import Program
from warpsmith.tree.types import Scalar, Symbol

__all__ = ["ScalarReplace"]


class ScalarReplace(Struct, frozen=True):
    """Keep elements of arrays in variables while the loops run that do not move them: read once in front, stored once
    behind.

    Legal where nothing else in the loop is the element: other references, by their dependences, and other names; where
    it is stored to on every path if the loop touches it at all, so that no store is added; and where no call, volatile
    access or jump can tell. `place`: one element, as the loop has it; without it all that may be. Each is kept as far
    out as it may be, but no further than `loop` (D. Callahan, S. Carr, K. Kennedy: Improving register allocation for
    subscripted variables, 1990).

    Step: loop=f/i

    Before:
        void f(int n, int m, double c[restrict n], double a[restrict n][m], double b[restrict m])
        {
            for (int i = 0; i < n; i++)
                for (int k = 0; k < m; k++)
                    c[i] += a[i][k] * b[k];
        }

    After:
        void f(int n, int m, double c[restrict n], double a[restrict n][m], double b[restrict m])
        {
            for (int i = 0; i < n; i++) {
                if (0 < m) {
                    double c_value = c[i];
                    for (int k = 0; k < m; k++)
                        c_value += a[i][k] * b[k];
                    c[i] = c_value;
                }
            }
        }
    """

    name: ClassVar[str] = "scalar-replace"

    loop: str
    place: str = ""

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether an element may be kept in a variable."""
        place = LoopContext.of(program, self.loop)
        stop = pragma_in_the_way(place)
        if stop is not None:
            return Unknown((stop,))
        found = self._find(place, facts)
        if found.found:
            return names_hold(self, program, self.loop, Proved())
        return _refuse(place, found.refused, self.place)

    def apply(self, program: Program) -> Program:
        """Return the program with the variables."""
        place = LoopContext.of(program, self.loop)
        found = self._find(place, Facts.about(program, PolyOptions()))
        supply = Fresh.of(program)

        def variable(one: Replacement, type: Scalar) -> Symbol:
            array = root_of_element(one.place)
            return supply.variable(f"{array.name}_value", type, array)

        return with_run(program, place.function, (place.loop,), with_variables((place.loop,), found.found, variable))

    def _find(self, place: LoopContext, facts: Facts) -> Replaceable:
        """Return the elements that may be kept, and why others may not."""
        origin, options = facts.origin(place.function), _plain(facts.options)

        def alone(run: tuple[Stmt, ...], nodes: tuple[Expr, ...], inside: tuple[Loop, ...]) -> Verdict:
            return is_alone(AloneQuestion(origin, run, nodes, (*place.around, *inside), options))

        return find_replaceable(
            origin, (place.loop,), alone, typed=keeps_types(place.unit.arguments), wanted=self._is_wanted
        )

    def _is_wanted(self, element: Expr) -> bool:
        return not self.place or show_expression(element) == self.place


def _plain(options: PolyOptions) -> PolyOptions:
    """Return the options without what must be tested or was granted: the text alone has to tell."""
    return PolyOptions(False, max_operations=options.max_operations, loop_operations=options.loop_operations)


def _refuse(place: LoopContext, refused: tuple[Reason, ...], wanted: str) -> Verdict:
    """Return why no element is kept."""
    shown = [reason for reason in refused if reason.dependence is not None]
    if shown:
        return Refuted(tuple(shown))
    if refused:
        return Unknown(refused)
    what = wanted or "no element of an array"
    text = f"{what} is {'not ' if wanted else ''}touched again and again at an address that stays"
    return does_not_fit(text, place.loop)
