"""Values of a kernel as sums over unknowns (symbols.py), by sweeps over its blocks until the loops agree.

    header phi   first start + an unknown step; then, if every way back adds the same, start + iteration · step;
                 else, if no way back changes what threads differ by, that + an unknown that they share;
                 else an unknown of each thread's own
    other phi    what threads differ by, the same on all ways in, + an unknown that they share;
                 else an unknown of each thread's own

Invariant: when the sweeps end, every phi's form follows from the forms of what comes in, under the plan that made it; a
plan that fails is replaced by a weaker one, and the sweeps go on. A form holds for all threads of the group that are at
its definition in the same iteration; `of` makes it hold where a value is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Literal

from msgspec import Struct

from warpsmith.analysis.affine.symbols import Atom, Form, constant_form, from_atom
from warpsmith.analysis.memory.exact import exact, is_exact
from warpsmith.analysis.memory.lanes import BlockLanes, hull
from warpsmith.analysis.memory.transfer import TransferRules
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.analysis.uniformity.uniformity import Uniformity
from warpsmith.ssa.graph import Cycle
from warpsmith.ssa.nodes import BasicBlock, Constant, Instruction, Module, Operand, Phi, Undefined, Value

__all__ = ["Forms"]

_MOST_SWEEPS = 12


class _Plan(Struct, frozen=True):
    """How a header phi is written. `step` of an induction; `tries` counts how often it was changed."""

    kind: Literal["open", "induction", "same", "own"]
    step: Form | None = None
    tries: int = 0


class Forms:
    """The forms of a function's values, for one group of threads."""

    def __init__(self, module: Module, answer: Uniformity, lanes: BlockLanes, shape: LaunchShape) -> None:
        self.answer, self.lanes = answer, lanes
        self.graph = answer.graph
        self.found: dict[Value, Form] = {}
        self.blocks: dict[str, BasicBlock] = {b.name: b for b in answer.function.blocks}
        self.around: dict[str, tuple[Cycle, ...]] = {n: self.graph.cycles_around(n) for n in self.graph.order}
        self.headers: dict[str, Cycle] = {c.header: c for found in self.around.values() for c in found}
        self.transfer = TransferRules(module, answer, lanes, shape)
        self._plans: dict[Value, _Plan] = {}
        self._wanted: set[Value] = set()

    def solve(self, wanted: Iterable[Operand]) -> None:
        """Find the forms of these operands and of all that they are made from."""
        self._wanted = self._slice(wanted)
        for sweep in range(_MOST_SWEEPS):
            self._sweep()
            if not self._revise(last=sweep >= _MOST_SWEEPS - 4):
                return
        self._plans = dict.fromkeys(self._plans, _Plan("own"))
        self._sweep()

    def of(self, operand: Operand, *blocks: str) -> Form | None:
        """Return what an operand is where a block uses it, or an edge; None where it is no whole number that was asked
        for."""
        if isinstance(operand, Constant):
            return constant_form(operand.bits, operand.type.bits) if operand.type.kind != "float" else None
        if isinstance(operand, Undefined):
            return None
        form = self.found.get(operand)
        return None if form is None else self.form_used(form, *blocks)

    def form_used(self, form: Form, *blocks: str) -> Form:
        """Return a form as it holds in a block, or along an edge: what was shared in a loop that threads leave apart is
        not."""
        changed = {
            atom: own
            for atom in set(form.atoms())
            if atom.kind == "shared" and (own := self._late(atom, blocks)) is not None
        }
        return _rename(form, changed) if changed else form

    def _late(self, atom: Atom, blocks: tuple[str, ...]) -> Atom | None:
        left = (h for h in atom.cycles if h in self.answer.left)
        apart = [h for h in left if not self.headers[h].blocks.issuperset(blocks)]
        if not apart:
            return None
        cycles = atom.cycles - frozenset(apart)
        return self.lanes.atom(
            ("late", atom, tuple(sorted(apart))),
            Atom(
                f"last {atom.name}",
                "own",
                range=atom.range,
                residue=atom.residue,
                cycles=cycles,
                memory=atom.memory,
            ),
        )

    @cached_property
    def named(self) -> dict[Atom, Value]:
        """The value that an unknown stands for, where it is one value and nothing else."""
        found: dict[Atom, Value] = {}
        for value, form in self.found.items():
            terms = list(form.terms.items())
            if len(terms) == 1 and len(terms[0][0]) == 1 and terms[0][1] == 1:
                found.setdefault(terms[0][0][0], value)
        return found

    # --- sweeps

    def _slice(self, wanted: Iterable[Operand]) -> set[Value]:
        pending = [o for o in wanted if isinstance(o, Value)]
        reached = set(pending)
        while pending:
            made = self.answer.definitions.get(pending.pop())
            operands = _operands(made)
            for operand in operands:
                if isinstance(operand, Value) and operand.type.kind != "float" and operand not in reached:
                    reached.add(operand)
                    pending.append(operand)
        return reached

    def _sweep(self) -> None:
        self.found = {}
        for name in self.graph.order:
            block = self.blocks[name]
            for phi in block.phis:
                if phi.result in self._wanted:
                    self.found[phi.result] = self._phi(phi, name)
            for instruction in block.instructions:
                for value in instruction.results:
                    if value in self._wanted:
                        self.found[value] = self._widen(instruction, name) or self._result(instruction, value, name)

    def _result(self, instruction: Instruction, value: Value, block: str) -> Form:
        i = self.answer.in_launch(instruction)
        operands = [self.of(operand, block) for operand in i.operands]
        return self.transfer.result(i, value, operands, self._cycles(block))

    def _widen(self, i: Instruction, block: str) -> Form | None:
        """Return a number that is widened, where its language says that it did not overflow before."""
        if i.op not in ("sext", "smulwide") or i.result.type.bits != 64:
            return None
        if not any(is_exact(self, operand) for operand in i.operands):
            return None
        sides = [exact(self, operand, block) for operand in i.operands]
        if any(side is None or side.has("wrap") for side in sides):
            return None
        first, *others = [side for side in sides if side is not None]
        return first.times(others[0]) if others else first

    def _cycles(self, block: str) -> frozenset[str]:
        return frozenset(c.header for c in self.around[block])

    def _phi(self, phi: Phi, block: str) -> Form:
        cycle = self.headers.get(block)
        if cycle is None:
            return self._join(phi, block, phi.incoming, ("phi", phi.result))
        if len(cycle.entries) > 1:
            return self._make_unknown(phi, block)
        return self._header(phi, cycle)

    def _join(self, phi: Phi, block: str, incoming: Iterable[tuple[str, Operand]], key: object) -> Form:
        """Return what a phi is where no loop begins."""
        forms = [self.of(operand, before, block) for before, operand in incoming]
        known = [form for form in forms if form is not None]
        if len(known) < len(forms) or not known:
            return self._make_unknown(phi, block)
        first = known[0]
        if all(form.same(first) for form in known):
            return first
        low, high = hull(form.range() for form in known)
        diverged = phi.result in self.answer.diverged_joins
        varying = first.varying()
        alike = not diverged and all(form.varying().same(varying) for form in known)
        if alike:
            low, high = hull(form.common().range() for form in known)
        atom = self.lanes.atom(
            (key, alike),
            Atom(
                phi.result.name or "value",
                "shared" if alike else self._kind(phi),
                range=(low, high),
                cycles=self._cycles(block),
                memory=_memory(known),
                residue=_common_residue([form.common() if alike else form for form in known], numeric=alike),
            ),
        )
        made = from_atom(atom, first.bits)
        return varying.plus(made) if alike else made

    def _kind(self, phi: Phi) -> Literal["shared", "own"]:
        return "own" if phi.result in self.answer.divergent else "shared"

    def _make_unknown(self, phi: Phi, block: str) -> Form:
        atom = self.lanes.atom(
            ("unknown", phi.result),
            Atom(
                phi.result.name or "value",
                self._kind(phi),
                cycles=self._cycles(block),
                range=self.transfer.any_of(phi.result.type.bits),
            ),
        )
        return from_atom(atom, phi.result.type.bits)

    # --- loops

    def _header(self, phi: Phi, cycle: Cycle) -> Form:
        start = self._start(phi, cycle)
        plan = self._plans.setdefault(phi.result, _Plan("open"))
        bits, cycles = phi.result.type.bits, self._cycles(cycle.header)
        name = phi.result.name or "value"
        match plan.kind:
            case "open":
                step = self.lanes.atom(("step", phi.result), Atom(f"step of {name}", "shared", cycles=cycles))
                return start.plus(from_atom(step, bits))
            case "induction":
                assert plan.step is not None
                product = plan.step.times(from_atom(self.iteration(cycle), bits))
                return self._make_unknown(phi, cycle.header) if product is None else start.plus(product)
            case "same":
                atom = self.lanes.atom(
                    ("same", phi.result), Atom(name, "shared", cycles=cycles, range=self.transfer.any_of(bits))
                )
                return start.varying().plus(from_atom(atom, bits))
            case "own":
                return self._make_unknown(phi, cycle.header)

    def iteration(self, cycle: Cycle) -> Atom:
        """Return the number of the iteration of a loop, from 0."""
        key = ("iteration", cycle.header)
        cycles = self._cycles(cycle.header)
        return self.lanes.atom(key, Atom(f"i{cycle.depth}", "shared", cycles=cycles, range=(0, float("inf"))))

    def _start(self, phi: Phi, cycle: Cycle) -> Form:
        outside = [(before, o) for before, o in phi.incoming if before not in cycle.blocks]
        found = self._join(phi, cycle.header, outside, ("start", phi.result))
        # what is unknown of the start does not change in the loop
        kept = {
            atom: self.lanes.atom(
                ("before", atom), Atom(atom.name, atom.kind, range=atom.range, residue=atom.residue,
                cycles=atom.cycles - {cycle.header}, memory=atom.memory,
            ))
            for atom in set(found.atoms()) if cycle.header in atom.cycles
        }  # fmt: skip
        return _rename(found, kept) if kept else found

    def _revise(self, *, last: bool) -> bool:
        """Compare each plan with what comes back; return whether one was changed."""
        changed = False
        for value, plan in list(self._plans.items()):
            phi = self.answer.definitions[value]
            assert isinstance(phi, Phi)
            cycle = self.headers[self.answer.homes[value]]
            new = self._revise_plan(phi, cycle, plan, last=last)
            if new != plan:
                self._plans[value] = new
                changed = True
        return changed

    def _revise_plan(self, phi: Phi, cycle: Cycle, plan: _Plan, *, last: bool) -> _Plan:
        if plan.kind == "own":
            return plan
        mine = self.found[phi.result]
        back = [self.of(o, before, cycle.header) for before, o in phi.incoming if before in cycle.blocks]
        forms = [form for form in back if form is not None]
        if len(forms) < len(back):
            return _Plan("own", tries=plan.tries + 1)
        if plan.kind in ("open", "induction"):
            step = self._step(mine, forms, cycle)
            if step is not None and plan.kind == "induction" and plan.step is not None and step.same(plan.step):
                return plan
            if step is not None and plan.tries < 4 and not last:
                return _Plan("induction", step, plan.tries + 1)
        varying = self._start(phi, cycle).varying()
        alike = all(form.varying().same(varying) for form in forms) and mine.varying().same(varying)
        if plan.kind != "same" and phi.result not in self.answer.diverged_joins and (alike or plan.kind == "open"):
            return _Plan("same", tries=plan.tries + 1)
        if plan.kind == "same" and alike:
            return plan
        return _Plan("own", tries=plan.tries + 1)

    def _step(self, mine: Form, back: list[Form], cycle: Cycle) -> Form | None:
        """Return what every way back adds, where that does not change in the loop."""
        steps = [form.plus(mine, -1) for form in back]
        first = steps[0]
        if any(not step.same(first) for step in steps) or any(cycle.header in a.cycles for a in first.atoms()):
            return None
        return first


def _operands(made: Instruction | Phi | None) -> Iterator[Operand]:
    if isinstance(made, Phi):
        yield from (operand for _, operand in made.incoming)
    elif made is not None and made.op not in ("load", "call", "unmodeled") and not made.op.startswith("atomic_"):
        yield from made.operands


def _rename(form: Form, names: dict[Atom, Atom]) -> Form:
    terms: dict[tuple[Atom, ...], int] = {}
    for monomial, coefficient in form.terms.items():
        made = tuple(sorted((names.get(a, a) for a in monomial), key=lambda a: a.number))
        terms[made] = terms.get(made, 0) + coefficient
    return Form(form.bits, {m: c for m, c in terms.items() if c})


def _memory(forms: Iterable[Form]) -> bool:
    return any(atom.memory for form in forms for atom in form.atoms())


def _common_residue(forms: list[Form], *, numeric: bool) -> tuple[int, int]:
    """Return what all of the forms are modulo a power of two; `numeric`: they have no unknowns that threads tell
    apart."""
    if not numeric:
        return (0, 0)
    (rest, power), *others = [form.residue() for form in forms]
    for r, m in others:
        power = min(power, m)
        while power and (rest - r) % (1 << power):
            power -= 1
    return rest % (1 << power), power
