"""Time tile: one launch does several iterations of a loop over two nests, in tiles that overlap."""

from __future__ import annotations

from typing import ClassVar, Final

from msgspec import Struct
from msgspec.structs import replace as replace_record

from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown, Verdict
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import counter_stays, find_restraint, refuse_uncounted, unrepeatable
from warpsmith.loops.analysis.substitute import copy_tree, with_symbols
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.offload.expressions import binary, number, wide
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import Block, Expr, For, Function, Node, Stmt, replace
from warpsmith.tree.program import Decision, Program
from warpsmith.tree.types import INT, LONG_LONG, Scalar
from warpsmith.tree.walk import loop_names, loops, names, rebuild, statements_of

__all__ = ["TimeTile"]

_MOST_ITERATIONS: Final = 8
_MOST_PASSES: Final = 64


class TimeTile(Struct, frozen=True):
    """Do several iterations of a loop over two nests in one launch, each block in tiles in shared memory.

    For loops over time steps in which the first nest computes `B` from neighbors in `A`, and the second one `A` from
    neighbors in `B`. A block loads its own elements and as many around them as `iterations` need, computes what its own
    need again and again, each time a little less around them, and stores its own. Passes read from one of the arrays
    and store to the other one, so that no block reads what another one stores; `passes` of them (an even number) bring
    the values back, then one iteration is done by the nests as they are, which leaves in `B` what shall be there.
    Iterations that are left over are done so too. Overlapped tiles: elements around a block are computed by its
    neighbors as well. This removes redundant access, and launches. Results stay as they are, bit for bit.

    Legal where both nests are parallel and run through the same rectangle, each iteration stores one element by its
    counters as they are and reads the other array at constant distances, and nothing of it hangs on the time step;
    where an element that is read is stored at the reference's distance, or never, which the dependences tell. Two tiles
    must fit into a block's shared memory: the step `map` chooses the block.

    Step: loop=f/t iterations=2 passes=4

    Before:
        void f(int steps, int n, double B[restrict n], double A[restrict n])
        {
            for (int t = 0; t < steps; t++) {
                for (int i = 1; i < n - 1; i++)
                    B[i] = A[i - 1] + A[i + 1];
                for (int i = 1; i < n - 1; i++)
                    A[i] = B[i - 1] + B[i + 1];
            }
        }

    After:
        void f(int steps, int n, double B[restrict n], double A[restrict n])
        {
            for (long long t_passes = 0; t_passes < (long long)steps / 9; t_passes++) {
                for (int t_in = 0; t_in < 9; t_in++) {
                    for (int i = 1; i < n - 1; i++)
                        B[i] = A[i - 1] + A[i + 1];
                    for (int i = 1; i < n - 1; i++)
                        A[i] = B[i - 1] + B[i + 1];
                }
            }
            for (long long t_left = 0; t_left < (long long)steps % 9; t_left++) {
                for (int i = 1; i < n - 1; i++)
                    B[i] = A[i - 1] + A[i + 1];
                for (int i = 1; i < n - 1; i++)
                    A[i] = B[i - 1] + B[i + 1];
            }
        }
    """

    name: ClassVar[str] = "time-tile"
    loop: str
    iterations: int = 2
    passes: int = 8

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether a kernel can do several iterations of the loop."""
        # the planner is loaded with all that it needs
        from warpsmith.offload.port import plan_function

        place = LoopContext.of(program, self.loop)
        loop = place.loop
        if not isinstance(loop, For):
            return refuse_uncounted(loop)
        wrong = self._find_wrong(loop)
        if wrong is not None:
            return Unknown((wrong,))
        stop = find_restraint(facts, place.function, loop) or unrepeatable(facts, place.function, loop)
        for one in _shared(loop.body):
            stop = stop or counter_stays(facts, place.function, loop, one)
        held = stop or names_hold(self, program, self.loop, Proved())
        if not isinstance(held, Proved):
            return held
        after = self.apply(program)
        function = next(f for _, f in after.functions() if f.symbol == place.function.symbol)
        (decision,) = [d for d in after.decisions if d.kind == "passes" and d.node in dict(loops(function.body))][-1:]
        planned = plan_function(after, facts.after(after), function, OffloadOptions())
        for fragment in planned.fragments:
            if fragment.statements[-1] is decision.node:
                return Proved(fragment.assumptions)
        around = [one for one in planned.refusals if one.loop == decision.loop]
        if not around:
            return Unknown((Reason("STP002", "the loop does not become passes of a kernel", loop.header),))
        reason = around[0].reason
        return Unknown((reason,)) if reason.dependence is None else Refuted((reason,))

    def apply(self, program: Program) -> Program:
        """Return the program with the iterations of each few passes in a loop of their own, which is noted."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        fresh = Fresh.of(program)
        inner, new = _write_loops(_with_own_counters(loop, fresh), self.iterations * self.passes, fresh)
        program = with_run(program, place.function, (loop,), new)
        function = next(f for _, f in program.functions() if f.symbol == place.function.symbol)
        address = _address_of(function, inner)
        decision = Decision(address, function.symbol.name, "passes", inner, width=self.iterations)
        return replace_record(program, decisions=(*program.decisions, decision))

    def _find_wrong(self, loop: For) -> Reason | None:
        """Return what is wrong with the parameters, or with the loop at first sight."""
        if not 1 <= self.iterations <= _MOST_ITERATIONS:
            text = f"a pass does 1 to {_MOST_ITERATIONS} iterations, not {self.iterations}"
            return Reason("STP003", text, loop.header, legal_if=("for example iterations=2",))
        if not 2 <= self.passes <= _MOST_PASSES or self.passes % 2:
            text = f"an even number of passes, 2 to {_MOST_PASSES}, brings the values back; not {self.passes}"
            return Reason("STP003", text, loop.header, legal_if=("for example passes=8",))
        type = loop.variable.type
        if loop.step != 1 or loop.relation not in ("<", "<="):
            return Reason("STP002", "the loop does not count up by one", loop.header)
        if not isinstance(type, Scalar) or type.bits > INT.bits:
            text = f"how often the loop over {loop.variable.name} runs may not fit 64 bits"
            return Reason("STP002", text, loop.header)
        if any(n.symbol == loop.variable for n in names(loop.body)):
            return Reason("STP002", f"the iterations read {loop.variable.name}", loop.header)
        nests = statements_of(loop.body)
        if len(nests) != 2 or not all(isinstance(nest, For) for nest in nests):
            return Reason("STP002", "the loop does more than two nests, or less", loop.header)
        return None


def _shared(body: Stmt) -> list[For]:
    """Return the loops in a body whose counters are declared outside of them."""
    return [one for one, _ in loops(body) if isinstance(one, For) and not one.declares]


def _with_own_counters(loop: For, fresh: Fresh) -> For:
    """Return a loop each loop in which declares its counter."""

    def change(node: Node) -> Node:
        if not isinstance(node, For) or node.declares:
            return node
        own = replace_record(fresh.again(node.variable), storage="local")
        return replace(with_symbols(node, {node.variable: own}), declares=True)

    return replace(loop, body=rebuild(loop.body, change)) if _shared(loop.body) else loop


def _write_loops(loop: For, inside: int, fresh: Fresh) -> tuple[For, tuple[Stmt, ...]]:
    """Return the loop over iterations that are passes, and one more, and what stands in place of a loop: a loop over
    such loops, and one over the iterations that are left."""
    name = loop.variable.name
    outer = fresh.variable(f"{name}_passes", LONG_LONG, loop.variable)
    pass_counter = fresh.variable(f"{name}_in", INT, loop.variable)
    left = fresh.variable(f"{name}_left", LONG_LONG, loop.variable)
    span = loop.header
    past: Expr = wide(copy_tree(loop.bound))
    if loop.relation == "<=":
        past = binary("+", past, number(1, span))
    total = binary("-", past, wide(copy_tree(loop.lower)))
    size = number(inside + 1, span)
    statements = statements_of(loop.body)
    inner = _count(loop, pass_counter, copy_tree(size), _again(loop, statements, fresh))
    chunks = _count(loop, outer, binary("/", total, copy_tree(size)), inner)
    rest = _count(
        loop, left, binary("%", copy_tree(total), copy_tree(size)), Block(span=loop.body.span, statements=statements)
    )
    return inner, (chunks, rest)


def _again(loop: For, statements: tuple[Stmt, ...], fresh: Fresh) -> Block:
    return Block(span=loop.body.span, statements=tuple(copy_tree(one, fresh) for one in statements))


def _count(loop: For, variable: object, bound: Expr, body: Stmt) -> For:
    return replace(
        loop,
        variable=variable,
        declares=True,
        lower=number(0, loop.header),
        relation="<",
        bound=bound,
        step=1,
        body=body,
    )


def _address_of(function: Function, wanted: For) -> str:
    return loop_names(function)[wanted]
