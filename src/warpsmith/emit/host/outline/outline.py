"""A ported program whose text calls generated functions, each in place of a run of device statements.

    double *A_gpu = acquire; copy               struct ws_lu_data ws_gpu = ws_lu_begin(N, A);
    for (k …) { k1(A_gpu, N, k); … }      →     for (k …) { ws_lu_1(ws_gpu, N, k); … }
    copy back; release                          ws_lu_end(ws_gpu, A);

    if (guards) { k1 } else for (…) …     →     if (!ws_f_1(a, n)) for (…) …

Invariant: the functions run the statements of the ported program in its order, under its guards; buffers go from one
function to those after it by a variable that stands where they were declared. The user's statements stand once, unless
the steps that prepared a port rewrote what is around its kernels.

Limits: a function of the user's one of whose runs cannot be said elsewhere (NotOutlinedError) stays as it was planned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Final

import msgspec.structs
from msgspec import Struct, field

from warpsmith.emit.host.outline.choices import (
    call_of,
    declaration_of,
    is_on,
    is_switched_on,
    unless,
    use,
    where_on,
    with_fields,
)
from warpsmith.emit.host.outline.copies import FunctionText, without_copies
from warpsmith.emit.host.outline.extents import name_extents
from warpsmith.emit.host.outline.guarded.guards import own_tests
from warpsmith.emit.host.outline.guarded.joined import Joined, join_tests
from warpsmith.emit.host.outline.guarded.once import branches, is_either, merge
from warpsmith.emit.host.outline.guarded.own_text import restore
from warpsmith.emit.host.outline.guarded.sequence import join_sequence
from warpsmith.emit.host.outline.guarded.switched import ask_inside
from warpsmith.emit.host.outline.launching import find_launching
from warpsmith.emit.host.outline.model import (
    ApartError,
    DeviceState,
    GuardTest,
    HostFunction,
    NotOutlinedError,
    Outlined,
    OutlinedFunction,
    PassedArgument,
)
from warpsmith.emit.host.outline.names import OwnNames
from warpsmith.emit.host.outline.needed import is_needed_behind
from warpsmith.emit.host.outline.private import drop_private_arrays
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.emit.host.outline.shorter import shorten
from warpsmith.emit.host.outline.statements import (
    Moving,
    declared,
    find_given,
    is_of_all,
    is_plain_declaration,
    local_symbol,
    tells_lifetimes,
    uses,
    write,
)
from warpsmith.emit.host.outline.whole import check_order, whole_region
from warpsmith.emit.words import Support
from warpsmith.tree.in_place.versioned import SWITCHED
from warpsmith.tree.memory.device_writes import find_hosts, find_written
from warpsmith.tree.memory.effective_types import keeps_types
from warpsmith.tree.nodes import (
    Block,
    Call,
    Case,
    DataEnter,
    DataExit,
    DataRegionBoundary,
    DeclStmt,
    DeviceAlloc,
    DeviceFree,
    DeviceNode,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Launch,
    Name,
    Node,
    Stmt,
    Switch,
    Unary,
    While,
    replace,
)
from warpsmith.tree.program import Program
from warpsmith.tree.text.lexical import name_from
from warpsmith.tree.types import VOID, FunctionType, Pointer, Record, Scalar, Symbol
from warpsmith.tree.walk import children, rebuild, walk, written_symbols

__all__ = ["outline", "outline_function"]

Run = tuple[Stmt, ...]
_ANYTHING: Final = Pointer(Scalar("void", 0, "void", const=True))


def outline(original: Program, ported: Program, support: Support) -> Outlined:
    """Return `ported`, which was made of `original`, with the device statements of its functions in functions of
    their own."""
    taken = {kernel.name for kernel in ported.kernels}
    program, made = ported, dict[int, tuple[HostFunction, ...]]()
    launching = find_launching(ported)
    for number, (old, new) in enumerate(zip(original.units, ported.units, strict=True)):
        texts = {function.symbol: function for function in old.functions}
        for function in new.functions:
            if not _moves(function) or _moves(texts.get(function.symbol, function.body)):
                continue
            before = texts.get(function.symbol, function)
            runs = Runs.of(before, launching, typed=keeps_types(old.arguments))
            found = outline_function(before, function, support, taken, runs)
            if found is not None:
                program = program.with_function(function, found.text)
                made[number] = (*made.get(number, ()), *found.made)
    return Outlined(program, made)


def outline_function(
    original: Function, ported: Function, support: Support, taken: set[str], runs: Runs
) -> OutlinedFunction | None:
    """Return a function that was made of `original`, whose `runs` are given, with its device statements in functions of
    their own, whose names are added to those `taken`; None where one of them can only be said in the user's text."""
    outliner = _Outliner(drop_private_arrays(restore(original, ported, runs), runs.is_own), runs, support, taken)
    try:
        text = outliner.function()
    except NotOutlinedError:
        return None
    taken |= outliner.taken
    return OutlinedFunction(text, tuple(outliner.made))


def _moves(root: Node) -> bool:
    return any(isinstance(part, Moving) or tells_lifetimes(part) for part in walk(root))


def _is_all_host(choice: If) -> bool:
    """Whether nothing that a choice leads to has to do with the device: its tests need not be asked."""
    return not any(isinstance(part, DeviceNode) for part in walk(choice))


class _Scope(Struct, frozen=True):
    """What is known at a place of the text: the states that hold buffers, and the one whose guards decide there."""

    holders: Mapping[Symbol, DeviceState] = field(default_factory=dict)
    region: DeviceState | None = None


class _Failing(Struct, frozen=True):
    """What runs where a guard does not hold: `otherwise` in the function, what `stays` in the user's text; `withdraws`:
    nothing is left on the device."""

    otherwise: Run
    stays: Run
    withdraws: bool


class _Outliner:
    """Outlines one function; `made` are the functions so far, `taken` the names of all."""

    def __init__(self, function: Function, runs: Runs, support: Support, taken: Iterable[str]) -> None:
        self._function = function
        self._runs = runs
        self._support = support
        self.taken = set(taken)
        self._hosts = find_hosts(function)
        self._words = "".join(letter if letter.isascii() else "_" for letter in name_from(function.symbol.name))
        self._variables = 0
        self.made: list[HostFunction] = []

    def function(self) -> Function:
        """Return the function with calls, and without what the port declares and no call needs."""
        body = self._function.body
        called = replace(body, statements=self._run(body.statements, _Scope()))
        return replace(self._function, body=rebuild(called, self._without_unused))

    def _without_unused(self, node: Node) -> Node:
        if not isinstance(node, Block):
            return node
        kept = self._runs.without_unused(node.statements)
        return node if len(kept) == len(node.statements) else replace(node, statements=kept)

    # --- the user's text

    def _run(self, run: Run, scope: _Scope) -> Run:
        result: list[Stmt] = []
        pieces = [*self._runs.split(run)]
        behind = len(run)
        position = 0
        for piece in pieces:
            position += len(piece.statements)
            rest = run[position:behind]
            if piece.moves:
                made, scope = self._moved(piece.statements, rest, scope)
                result += made
                continue
            (stmt,) = piece.statements
            if isinstance(stmt, If) and stmt.reasons:
                joined = join_tests(stmt, self._runs)
                lead = self._lead(result, joined.choice, rest)
                del result[len(result) - len(lead) :]
                if _is_all_host(joined.choice):
                    result += self._run(branches(joined.choice)[1], scope)
                    continue
                needed = partial(is_needed_behind, self._function.body, stmt)
                joined = msgspec.structs.replace(joined, lead=(*lead, *joined.lead))
                result += self._guarded(joined, scope, needed)
            elif tells_lifetimes(stmt):
                result += self._begun(stmt)
            elif is_either(stmt):
                made, scope = self._either(stmt, rest, scope)
                result += made
            else:
                result += _bare(self._inside(self._own_declaration(stmt, scope), scope))
        return tuple(result)

    def _own_declaration(self, stmt: Stmt, scope: _Scope) -> Stmt:
        """Return a statement that stays; a declaration of the port's own reads nothing where a region's guards fail."""
        if scope.region is None or not isinstance(stmt, DeclStmt) or not self._runs.leaves(stmt):
            return stmt
        return where_on(stmt, scope.region)

    def _inside(self, stmt: Stmt, scope: _Scope) -> Stmt:
        """Return a statement that stays, with the runs in it outlined."""
        if not (_moves(stmt) or any(is_either(part) for part in walk(stmt) if isinstance(part, If))):
            return with_fields(stmt, scope.holders)
        match stmt:
            case Block():
                return replace(stmt, statements=self._run(stmt.statements, scope))
            case For():
                lower, bound = (with_fields(part, scope.holders) for part in (stmt.lower, stmt.bound))
                return replace(stmt, lower=lower, bound=bound, body=self._body(stmt.body, scope))
            case While():
                init = None if stmt.init is None else with_fields(stmt.init, scope.holders)
                condition, advance = (
                    None if part is None else with_fields(part, scope.holders)
                    for part in (stmt.condition, stmt.advance)
                )
                body = self._body(stmt.body, scope)
                return replace(stmt, init=init, condition=condition, advance=advance, body=body)
            case If():
                condition, then = with_fields(stmt.condition, scope.holders), self._body(stmt.then, scope)
                other = None if stmt.other is None else self._body(stmt.other, scope)
                return replace(stmt, condition=condition, then=then, other=other)
            case Switch():
                cases = tuple(self._case(case, scope) for case in stmt.cases)
                return replace(stmt, value=with_fields(stmt.value, scope.holders), cases=cases)
            case _:
                return stmt

    def _body(self, body: Stmt, scope: _Scope) -> Stmt:
        if isinstance(body, Block):
            return self._inside(body, scope)
        run = self._run((body,), scope)
        return run[0] if len(run) == 1 else Block(span=body.span, statements=run)

    def _case(self, case: Case, scope: _Scope) -> Case:
        return replace(case, body=self._run(case.body, scope))

    # --- guards

    def _lead(self, before: Sequence[Stmt], guarded: If, rest: Run) -> Run:
        """Return the declarations of the port's own in front of a guarded region that nothing else names."""
        other = sum(
            (uses(stmt) for stmt in (*rest, *branches(guarded)[1])), start=uses(Block(span=guarded.span, statements=()))
        )
        found: list[Stmt] = []
        for stmt in reversed(before):
            if not (isinstance(stmt, DeclStmt) and is_plain_declaration(stmt) and self._runs.leaves(stmt)):
                break
            if any(other[d.symbol] for d in stmt.declarations):
                break
            found.append(stmt)
        return tuple(reversed(found))

    def _guarded(self, joined: Joined, scope: _Scope, is_needed: Callable[[Symbol], bool]) -> Run:
        """Return what chooses between the device and the user's own statements."""
        stmt, lead = joined.choice, joined.lead
        ported, original = branches(stmt)
        failing = self._where_one_fails(original)
        if (called := self._called(joined, failing, scope, is_needed)) is not None:
            return called
        try:
            before = (*lead, *(one for guard in joined.guards for one in guard.before))
            merged = merge(ported, failing.stays if failing.withdraws else original, self._runs, before)
        except ApartError:
            return self._in_front(joined, scope, is_needed) or self._apart(joined, scope)
        if stmt.reasons == (SWITCHED,) and not failing.withdraws:
            asking = ask_inside(merged, self._runs)
            if asking is not None:
                return self._run((*lead, *asking), scope)
        first, rest, instead = self._entry(merged)
        run = (*lead, *first)
        call, state = self._made(run, rest, scope, guards=joined.guards, lead=len(lead), guarded=True)
        assert state is not None
        if failing.withdraws:
            self._tell_last(failing)
        inside = _entered(scope, state, region=state)
        begin: list[Stmt] = [declaration_of(state, call, stmt)]
        if instead:
            begin.append(unless(is_on(state, stmt), self._run(instead, scope), stmt))
        return (*begin, *self._run(rest, inside))

    def _where_one_fails(self, original: Run) -> _Failing:
        """Return what runs where a guard does not hold: `original`, parted."""
        otherwise = tuple(takewhile(is_of_all, original))
        instead = original[len(otherwise) :]
        alone = instead[: len(instead) - len([*takewhile(is_of_all, reversed(instead))])]
        withdraws = bool(otherwise) and len(alone) < len(instead) and self._runs.is_for_the_host(alone)
        return _Failing(otherwise, alone if withdraws else instead, withdraws)

    def _tell_last(self, failing: _Failing) -> None:
        """Let the last function do what is asked for where one of its guards does not hold."""
        last = self.made[-1]
        self.made[-1] = msgspec.structs.replace(last, otherwise=failing.otherwise, withdraws=failing.withdraws)

    def _called(
        self, joined: Joined, failing: _Failing, scope: _Scope, is_needed: Callable[[Symbol], bool]
    ) -> Run | None:
        """Return the call of one function that does all of a region, in front of the user's statements; None where some
        of it is the user's to say."""
        call = self._whole(joined, scope, is_needed)
        if call is None:
            return None
        self._tell_last(failing)
        return (unless(call, self._run(failing.stays, scope), joined.choice),)

    def _in_front(self, joined: Joined, scope: _Scope, is_needed: Callable[[Symbol], bool]) -> Run:
        """Return the call of one function for choices one behind the other, in front of the user's region; nothing
        where there is no such function."""
        bounded = join_sequence(joined.choice, self._runs)
        if bounded is None:
            return ()
        one = msgspec.structs.replace(bounded.joined, lead=(*joined.lead, *bounded.joined.lead))
        called = self._called(one, self._where_one_fails(branches(one.choice)[1]), scope, is_needed)
        return () if called is None else (*bounded.begins, *called, *bounded.ends)

    def _whole(self, joined: Joined, scope: _Scope, is_needed: Callable[[Symbol], bool]) -> Call | None:
        """Return the call of one function that does all of a region; None where some of it is the user's to say."""
        ported, _ = branches(joined.choice)
        kept = len(self.made), set(self.taken)
        try:
            whole = whole_region(ported, self._runs.exposed, is_needed)
            run = (*joined.lead, *whole)
            call, _ = self._made(run, (), scope, guards=joined.guards, lead=len(joined.lead), answers=True)
            return call
        except NotOutlinedError:
            del self.made[kept[0] :]
            self.taken = kept[1]
            return None

    def _entry(self, merged: Run) -> tuple[Run, Run, Run]:
        """Return what the function that tests the guards runs, the rest of the region, and what runs in its place."""
        first = next(iter(self._runs.split(merged)))
        if first.moves and len(first.statements) < len(merged) and is_either(merged[len(first.statements)]):
            come, gone = branches(merged[len(first.statements)])
            return (*first.statements, *come), merged[len(first.statements) + 1 :], gone
        if first.moves:
            return first.statements, merged[len(first.statements) :], ()
        if is_either(merged[0]):
            come, gone = branches(merged[0])
            return come, merged[1:], gone
        declared = tuple(takewhile(lambda one: isinstance(one, DeclStmt) and self._runs.leaves(one), merged))
        return declared, merged[len(declared) :], ()

    def _apart(self, joined: Joined, scope: _Scope) -> Run:
        """Return the two branches one beside the other; a function has the guards and what the ported one begins
        with."""
        stmt, lead, guards = joined.choice, joined.lead, joined.guards
        ported, original = branches(stmt)
        first = next(iter(self._runs.split(ported)))
        count = len(first.statements) if first.moves else 0
        run, rest = (*lead, *ported[:count]), ported[count:]
        if not run and all(guard.condition is None for guard in guards):
            return (self._choice(is_switched_on(self._support, stmt), self._run(rest, scope), original, scope, stmt),)
        call, state = self._made(run, rest, scope, guards=guards, lead=len(lead), guarded=True)
        assert state is not None
        then = self._run(rest, _entered(scope, state, region=None))
        return declaration_of(state, call, stmt), self._choice(is_on(state, stmt), then, original, scope, stmt)

    def _choice(self, test: Expr, then: Run, original: Run, scope: _Scope, at: If) -> Stmt:
        """Return an `if` with the ported statements, and the user's as its other branch."""
        ported = then[0] if len(then) == 1 and isinstance(then[0], Block) else Block(span=at.span, statements=then)
        other = Block(span=at.span, statements=self._run(original, scope))
        return If(span=at.span, condition=test, then=ported, other=other, reasons=("guards",))

    def _either(self, stmt: Stmt, rest: Run, scope: _Scope) -> tuple[Run, _Scope]:
        """Return a call, and what runs where its function says that the device is not in use."""
        come, gone = branches(stmt)
        if scope.region is None:
            raise AssertionError("a choice stands in a guarded region")
        other = self._run(gone, scope)
        if not come:
            return (unless(is_on(scope.region, stmt), other, stmt),), scope
        call, state = self._made(come, rest, scope, answers=True)
        if state is None:
            return (unless(call, other, stmt),), scope
        made = (declaration_of(state, call, stmt), unless(is_on(scope.region, stmt), other, stmt))
        return made, _entered(scope, state, region=scope.region)

    # --- functions

    def _begun(self, stmt: DataRegionBoundary) -> Run:
        """Return a call that begins a data region and tells what outlives it; an object that ends it stands in the
        user's text."""
        names = OwnNames({}, ())
        words = self._support
        told = (*_told_frame(stmt, names, words), *(_told(symbol, stmt, names, words) for symbol in stmt.lasting))
        bare = replace(stmt, lasting=(), callers=False)
        written = told if stmt.guard else (bare, *told)
        function = HostFunction(self._name((stmt,)), stmt.span, names.arguments, (), (stmt,), written)
        self.made.append(function)
        call = ExprStmt(span=stmt.span, expr=call_of(function, [one.given for one in names.arguments], stmt))
        return (bare, call) if stmt.guard else (call,)

    def _moved(self, run: Run, rest: Run, scope: _Scope) -> tuple[Run, _Scope]:
        """Return the call of a function that does what a run does."""
        call, state = self._made(run, rest, scope)
        if state is None:
            return (ExprStmt(span=run[0].span, expr=call),), scope
        return (declaration_of(state, call, run[0]),), _entered(scope, state, region=scope.region)

    def _made(
        self,
        run: Run,
        rest: Run,
        scope: _Scope,
        *,
        guards: tuple[GuardTest, ...] = (),
        lead: int = 0,
        guarded: bool = False,
        answers: bool = False,
    ) -> tuple[Call, DeviceState | None]:
        """Make the function of a run; return its call, and the state that it begins: for what `rest` uses of it, or
        where it is `guarded`."""
        at: Node = next(iter((*run, *rest)), self._function)
        check_order(run, self._runs.exposed)
        needed = tuple(one for guard in guards for one in guard.before)
        own = tuple(declared((*run, *needed)))
        name = self._name(run)
        tested = (guard.condition for guard in guards if guard.condition is not None)
        used = {symbol for part in (*run, *needed, *tested) for symbol in uses(part)}
        held = {s: holder for s, holder in scope.holders.items() if s in used and s not in own}
        takes = list(dict.fromkeys(held.values()))
        if scope.region is not None and scope.region not in takes:
            takes.insert(0, scope.region)
        local = {symbol: local_symbol(symbol, at) for symbol in (*held, *own)}
        names = OwnNames(
            local,
            find_written(run, self._hosts) - set(local),
            {"data", *(state.variable.name for state in takes)},
            _find_moved(run) - set(local),
            find_given((*run, *needed)),
        )
        tests = tuple(
            one if one.condition is None else msgspec.structs.replace(one, condition=shorten(one.condition))
            for one in own_tests(guards, names, self._support)
        )
        written = tuple(shorten(write(stmt, names)) for stmt in run)
        kept = tuple(symbol for symbol in own if _is_used(symbol, rest))
        text = FunctionText(names.arguments, tests, written, run, lead)
        text = without_copies(text, {local[symbol] for symbol in kept})
        named = {*(symbol.name for symbol in names.local.values()), *(a.parameter.name for a in text.arguments)}
        named |= {state.variable.name for state in takes}
        tests, written = name_extents(text.tests, text.run, text.lead, named)
        state = self._state(tuple(local[s] for s in kept), at, guarded=guarded) if kept or guarded else None
        arguments = self._in_order(text.arguments)
        function = HostFunction(
            name, at.span, arguments, tests, text.planned, written, tuple(takes), state, answers and state is None,
            tuple((holder, local[symbol]) for symbol, holder in held.items()), text.lead,
        )  # fmt: skip
        self.made.append(function)
        given = [*(use(taken.variable, at) for taken in takes), *(argument.given for argument in arguments)]
        return call_of(function, given, at), state

    def _in_order(self, arguments: Sequence[PassedArgument]) -> tuple[PassedArgument, ...]:
        """Return arguments in the order of the user's own parameters, what is none of those behind them."""
        order = {symbol.name: number for number, symbol in enumerate(self._function.parameters)}
        return tuple(sorted(arguments, key=lambda a: order.get(a.parameter.name, len(order))))

    def _name(self, run: Run) -> str:
        """Return a free name for the function of a run: launches are numbered, the others say what they are for."""
        kind = _kind(run)
        number = sum(_kind(one.statements) == kind for one in self.made) + 1
        ending = f"_{number}" if not kind else f"_{kind}{'' if number == 1 else number}"
        name = f"{self._support.prefix}_{self._words}{ending}"
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _state(self, fields: tuple[Symbol, ...], at: Node, *, guarded: bool) -> DeviceState:
        self._variables += 1
        number = "" if self._variables == 1 else str(self._variables)
        variable = f"{self._support.prefix}_gpu{number}"
        tag = f"{self._support.prefix}_{self._words}_data{number}"
        while tag in self.taken:
            tag += "_"
        self.taken.add(tag)
        type = Record(tag, 0, spelling=f"struct {tag}")
        return DeviceState(tag, Symbol(variable, f"state:{tag}", type, "local", at.span), fields, guarded)


def _kind(run: Run) -> str:
    """Return what a function without launches is for."""
    parts = {type(part) for stmt in run for part in walk(stmt) if isinstance(part, Moving)}
    if Launch in parts:
        return ""
    if parts & {DeviceAlloc, DataEnter}:
        return "begin"
    if parts & {DeviceFree, DataExit}:
        return "end"
    return "update" if parts else "begin"


def _told_frame(stmt: DataRegionBoundary, names: OwnNames, words: Support) -> Iterator[Stmt]:
    """Yield the call that tells where the callers' stack begins, if it outlives a data region."""
    if stmt.callers:
        frame = Symbol(words.frame, words.frame, _ANYTHING, "enumerator")
        given = names.passed(use(frame, stmt), "frame", _ANYTHING)
        yield _telling(words.callers, (given,), stmt)


def _told(symbol: Symbol, stmt: Stmt, names: OwnNames, words: Support) -> Stmt:
    """Return the call that tells of an object which outlives a data region."""
    named = use(symbol, stmt)
    address = Unary(span=stmt.span, type=Pointer(symbol.type), op="&", operand=named)
    place = names.passed(address, symbol.name, _ANYTHING)
    return _telling(words.lasts, (place, names.size(named)), stmt)


def _telling(function: str, arguments: tuple[Expr, ...], at: Node) -> Stmt:
    symbol = Symbol(function, function, FunctionType(VOID, tuple(a.type for a in arguments)), "function", at.span)
    name = Name(span=at.span, type=symbol.type, symbol=symbol)
    return ExprStmt(span=at.span, expr=Call(span=at.span, type=VOID, function=name, arguments=arguments))


def _bare(stmt: Stmt) -> Run:
    """Return a statement without braces that the port has put around its buffers, where none is declared any more."""
    made = isinstance(stmt, Block) and not stmt.intact and not stmt.span.text.startswith("{")
    if not made or not isinstance(stmt, Block) or any(isinstance(inner, DeclStmt) for inner in stmt.statements):
        return (stmt,)
    return stmt.statements


def _find_moved(run: Run) -> set[Symbol]:
    """Return the pointers that a run sets themselves."""
    written = {symbol for stmt in run for symbol in written_symbols(stmt)}
    return {s for s in written if isinstance(s.type, Pointer) and not s.type.reference}


def _is_used(symbol: Symbol, rest: Iterable[Node]) -> bool:
    """Whether a variable is used in statements behind its declaration, before they declare it anew."""
    for stmt in rest:
        if isinstance(stmt, DeviceAlloc | DataEnter | DeclStmt) and symbol in declared((stmt,)):
            return False
        match stmt:
            case Block() | If() | For() | While() | Switch() | Case():
                used = (
                    _is_used(symbol, children(stmt))
                    if isinstance(stmt, Block)
                    else any(_is_used(symbol, (part,)) for part in children(stmt))
                )
            case _:
                used = bool(uses(stmt)[symbol])
        if used:
            return True
    return False


def _entered(scope: _Scope, state: DeviceState, *, region: DeviceState | None) -> _Scope:
    holders = {**scope.holders, **dict.fromkeys(state.fields, state)}
    return _Scope(holders, region)
