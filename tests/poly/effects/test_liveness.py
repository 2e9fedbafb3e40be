"""Liveness, privatization and single values, against execution of random structured programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec import Struct, field

from tests.poly.analysis import program_of
from tests.poly.dependences.interpreter import Machine, OutOfFuelError
from tests.poly.dependences.random_scalars import program
from tests.poly.programs import load
from tests.sampling import one_in
from warpsmith.poly.dependences.scalars import ScalarRoles, classify_scalars
from warpsmith.poly.effects.liveness import Liveness, _Sweep, scalar_values
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.nodes import Expr, Function, Loop, Name, Node, Stmt
from warpsmith.tree.types import Symbol, is_integer
from warpsmith.tree.walk import loops, rebuild


class Entered(Struct):
    loop: Loop
    roles: ScalarRoles
    written: set[Symbol] = field(default_factory=set)


class Judge(Struct):
    """Fails where a claim of an analysis does not hold in the execution."""

    liveness: Liveness
    roles: Mapping[Loop, ScalarRoles]
    values: Mapping[Loop, Mapping[Name, Expr]]
    tracked: frozenset[Symbol]
    machine: Machine | None = None
    active: list[Entered] = field(default_factory=list)
    dead: dict[Symbol, Stmt] = field(default_factory=dict)
    checked: Counter[str] = field(default_factory=Counter)
    quiet: bool = False

    def read(self, name: Name, value: int) -> None:
        if self.quiet:
            return
        symbol = name.symbol
        assert symbol not in self.dead, f"{symbol.name} is read, but was dead after {self.dead[symbol].span.text}"
        for entered in self.active:
            private = symbol in entered.roles.private and symbol not in entered.roles.local
            assert not private or symbol in entered.written, f"private {symbol.name} is read before it is written"
            self.checked["private"] += private
            known = self.values[entered.loop].get(name)
            if known is not None:
                assert self.evaluated(known, entered.loop) == value, f"{symbol.name} is not {known.span.text}"
                self.checked["value"] += 1

    def evaluated(self, expr: Expr, loop: Loop) -> int:
        known = self.values[loop]
        assert self.machine is not None
        self.quiet = True
        try:
            return _resolve(self.machine, expr, known)
        finally:
            self.quiet = False

    def write(self, symbol: Symbol) -> None:
        self.dead.pop(symbol, None)
        for entered in self.active:
            entered.written.add(symbol)

    def enter(self, loop: Loop) -> None:
        self.active.append(Entered(loop, self.roles[loop]))

    def iteration(self, loop: Loop, ended: bool) -> None:
        entered = self.active[-1]
        assert entered.loop is loop
        if ended:
            missing = set(entered.roles.live_out) - entered.written
            assert not missing, f"{missing} read after the loop, not written by this iteration"
            self.checked["live out"] += len(entered.roles.live_out)
        else:
            entered.written.clear()

    def leave(self, loop: Loop) -> None:
        entered = self.active.pop()
        for symbol in set(entered.roles.private) - set(entered.roles.live_out):
            self.dead[symbol] = loop

    def after(self, stmt: Stmt) -> None:
        for symbol in self.tracked - self.liveness.after[stmt]:
            self.dead[symbol] = stmt
            self.checked["dead"] += 1


def _resolve(machine: Machine, expr: Expr, known: Mapping[Name, Expr]) -> int:
    def replaced(node: Node) -> Node:
        return rebuild(known[node], replaced) if isinstance(node, Name) and node in known else node

    return machine.value(rebuild(expr, replaced))


def _judge(function: Function, summaries: Summaries) -> Judge:
    liveness = Liveness.of(summaries.program, function, summaries)
    found = [loop for loop, _ in loops(function.body)]
    roles = {one: classify_scalars(summaries.program, function, one, liveness, summaries) for one in found}
    values = {one: scalar_values(summaries.program, function, one, summaries) for one in found}
    names = {s for r in roles.values() for s in (*r.private, *(c.symbol for c in r.carried))}
    return Judge(liveness, roles, values, frozenset(s for s in names if is_integer(s.type)))


@pytest.mark.parametrize("seed", one_in(2, range(2)))
def test_claims_about_scalars_hold_when_the_program_runs(seed: int, tmp_path: Path) -> None:
    loaded = load(program(seed, 40), tmp_path)
    summaries = Summaries.of(loaded)
    total: Counter[str] = Counter()
    finished = 0
    for _, function in loaded.functions():
        claims = _judge(function, summaries)
        for start in (0, 1, 2, 3, 5):
            judge = Judge(claims.liveness, claims.roles, claims.values, claims.tracked)
            judge.machine = Machine(judge, dict.fromkeys(function.parameters, start))
            try:
                judge.machine.run(function)
                finished += 1
            except OutOfFuelError:
                pass
            total += judge.checked
    assert finished > 100
    assert min(total[k] for k in ("private", "live out", "dead", "value")) > 20, total


def test_sweeps_do_not_double_with_the_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: Counter[Stmt] = Counter()
    once = _Sweep._round

    def counted(sweep: _Sweep, loop: Loop, after: frozenset[Symbol], head: frozenset[Symbol]) -> object:
        rounds[loop] += 1
        return once(sweep, loop, after, head)

    monkeypatch.setattr(_Sweep, "_round", counted)
    depth = 14
    heads = "".join(f"for (int i{k} = 0; i{k} < n; i{k}++) {{ s{k} = s{k + 1}; " for k in range(depth))
    variables = ", ".join(f"s{k} = 0" for k in range(depth + 1))
    nest = program_of(f"int f(int n) {{ int {variables}; {heads} {'} ' * depth} return s0; }}\n")
    ((_, function),) = nest.functions()
    found = Liveness.of(nest, function)
    assert len(rounds) == depth and max(rounds.values()) <= depth**2
    for loop, around in loops(function.body):
        # what an inner loop sets, the next iteration of a loop around it hands on
        live = {symbol.name for symbol in found.after[loop]}
        assert {"s0", *(f"s{k + 1}" for k in range(len(around) + 1) if around)} <= live
