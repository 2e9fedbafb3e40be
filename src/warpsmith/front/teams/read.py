"""Target constructs whose teams ask for their numbers become loops over teams and threads, where the user says that
every team has all the threads that thread_limit allows: `--assume full_teams(f)`.

    #pragma omp target teams num_teams(T) thread_limit(B)          for team in [0, T)
    {                                                                  part: the team's own
        float part[B];                                                 for t in [0, B) part[t] = a[team * B + t]
        #pragma omp parallel                                           for t in [0, B) a[…] = part[B - 1 - t]
        {
            int t = omp_get_thread_num();
            int i = omp_get_team_num() * B + t;
            part[t] = a[i];
            #pragma omp barrier
            a[i] = part[B - 1 - t];
        }
    }

OpenMP promises exactly T teams (5.2, 10.2.1), and no more than B threads in each: how many there are is the
implementation's choice, but for num_threads(B) (10.1.1), which needs no word of the user's. With B threads the loops
do what the construct does in one of the ways that OpenMP allows. The loops carry pragmas, so that each is judged as
what it claims: a race between threads is one between iterations.

Invariant: the text of a construct is one block, which prints as the user wrote it until a step changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.teams.clause_text import constant_of
from warpsmith.front.teams.construct import (
    NotReadError,
    TeamConstruct,
    ThreadRegion,
    asked_number,
    find_constructs,
    take_apart,
)
from warpsmith.front.teams.copies import at_start, changed, copy_of
from warpsmith.front.teams.meetings import check_meetings
from warpsmith.front.teams.own import changes_in, is_pure, lasting
from warpsmith.front.teams.phases import make_plan
from warpsmith.front.teams.recount import recounted
from warpsmith.front.teams.write import RegionWriter, counted_loop
from warpsmith.tree.nodes import (
    Block,
    Case,
    DeclStmt,
    Expr,
    For,
    Function,
    GlobalDecl,
    Name,
    Node,
    Pragma,
    Stmt,
    VarDecl,
)
from warpsmith.tree.program import Program
from warpsmith.tree.text.directives import Directive
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import INT, Scalar, Symbol, is_integer
from warpsmith.tree.walk import names, peel, rebuild, walk, written_symbols

__all__ = ["LeftOut", "ReadTeams", "left_out_finding", "read_teams"]


class LeftOut(Struct, frozen=True):
    """A construct that is not read as loops, and why; `granted`: the user's word would do."""

    function: str
    span: Span
    text: str
    granted: bool = False


def left_out_finding(one: LeftOut) -> Finding:
    """Return what is said of a construct that is not read as loops."""
    if one.granted:
        message = (
            f"the target construct of {one.function} asks for the numbers of its threads: how many a team has is "
            "the implementation's choice, up to thread_limit"
        )
        return Finding(
            "CLM006", "note", message, one.span, (f"--assume '{one.text}', if it is right with all of them",)
        )
    message = f"the target construct of {one.function} asks for the numbers of its threads, and is not read: {one.text}"
    return Finding("CLM006", "note", message, one.span)


class ReadTeams(Struct, frozen=True):
    """The program with loops in place of constructs; `threads`: the most threads of a team that one of them has, where
    that is a constant."""

    program: Program
    left: tuple[LeftOut, ...] = ()
    read: int = 0
    threads: int = 0


def read_teams(program: Program, granted: Callable[[str], bool]) -> ReadTeams:
    """Return `program` with the constructs as loops that may be read so; `granted`: whether the user says that the
    teams of a function, by its name, are full."""
    left: list[LeftOut] = []
    most = count = 0
    units = []
    for unit in program.units:
        globals_ = {
            d.symbol.name: d.symbol for item in unit.items if isinstance(item, GlobalDecl) for d in item.declarations
        }
        new: dict[int, Function] = {}
        for function in unit.functions:
            made = _Reader(function, globals_, granted)
            after = made.function_with_loops()
            left += made.left
            most, count = max(most, made.most), count + made.count
            if after is not function:
                new[id(function)] = after
        if new:
            items = tuple(new.get(id(i), i) if isinstance(i, Function) else i for i in unit.items)
            functions = tuple(new.get(id(f), f) for f in unit.functions)
            unit = replace(unit, items=items, functions=functions)
        units.append(unit)
    made_program = replace(program, units=tuple(units)) if count else program
    return ReadTeams(made_program, tuple(left), count, most)


class _Reader:
    """The constructs of one function."""

    def __init__(self, function: Function, globals_: dict[str, Symbol], granted: Callable[[str], bool]) -> None:
        self.function = function
        self.globals = globals_
        self.granted = granted
        self.left: list[LeftOut] = []
        self.count = self.most = 0
        self._words: dict[SourceFile, set[str]] = {}

    def function_with_loops(self) -> Function:
        """Return the function with loops in place of its constructs."""
        found: dict[int, Block] = {}
        for pragma, body in find_constructs(self.function):
            try:
                construct = take_apart(self.function, pragma, body, self.globals)
                name = self.function.symbol.name
                if not construct.sure and not self.granted(name):
                    self.left.append(LeftOut(name, pragma.span, f"full_teams({name})", granted=True))
                    continue
                found[id(pragma)] = self._loops(construct)
                self.count += 1
                self.most = max(self.most, constant_of(construct.threads) or 1024)
            except NotReadError as why:
                self.left.append(LeftOut(self.function.symbol.name, pragma.span, str(why)))
        if not found:
            return self.function

        def change(node: Node) -> Node:
            match node:
                case Block(statements=run) if any(id(stmt) in found for stmt in run):
                    return replace(node, statements=_with_blocks(run, found), intact=node.intact)
                case Case(body=run) if any(id(stmt) in found for stmt in run):
                    return replace(node, body=_with_blocks(run, found), intact=node.intact)
                case _:
                    return node

        return _kept_intact(rebuild(self.function, change), self.function)

    def name(self, wanted: str) -> str:
        """Return a name that is no word of the file."""
        file = self.function.span.file
        words = self._words.setdefault(file, set(identifiers(file.text)))
        while wanted in words:
            wanted += "_"
        words.add(wanted)
        return wanted

    # --- one construct

    def _loops(self, construct: TeamConstruct) -> Block:
        whole = Span(construct.pragma.span.file, construct.pragma.span.start, construct.body.span.end)
        place = at_start(whole)
        inside = {d.symbol for n in walk(construct.body) if isinstance(n, DeclStmt) for d in n.declarations}
        fixed = lasting(self.function, construct.body, inside)
        for expr, clause in ((construct.teams, "num_teams"), (construct.threads, "the number of threads")):
            if not is_pure(expr, fixed) or any(n.symbol in inside for n in names(expr)):
                raise NotReadError(f"{clause} may change while the construct runs", construct.pragma.span)
        self._writes_nothing_by_value(construct, inside)
        team = self._counter("team", _asking(construct.body, "omp_get_team_num"), place, names_of(construct))
        reading = () if construct.sure else (f"full_teams({self.function.symbol.name})",)
        body: list[Stmt] = []
        for part in construct.parts:
            if isinstance(part, ThreadRegion):
                body += self._region(construct, part, fixed, team, reading)
            else:
                body.append(self._numbered(part, construct, team, None))
        _check_names(body, construct)
        loop = counted_loop(team, copy_of(construct.teams), tuple(body), whole, construct.pragma.span)
        directive = construct.directive
        words = (*directive.words, "distribute")
        text = " ".join(("#pragma omp", *words, *(clause.text for clause in directive.clauses)))
        made = Directive("omp", words, directive.clauses, directive.unknown)
        pragma = Pragma(span=place, text=text, directive=made, reading=reading)
        return Block(span=whole, intact=True, statements=(pragma, loop))

    def _writes_nothing_by_value(self, construct: TeamConstruct, inside: set[Symbol]) -> None:
        """Raise where the construct writes a variable that it has a copy of: which teams share it is not clear."""
        mapped = set(construct.directive.list_variables("map"))
        for symbol in sorted(written_symbols(construct.body) - inside, key=lambda s: s.key):
            if symbol.name not in mapped and not _declared_by_loop(construct.body, symbol):
                raise NotReadError(f"it writes {symbol.name}, which no map clause names", construct.pragma.span)

    def _counter(self, wanted: str, asking: VarDecl | None, place: Span, taken: set[str]) -> Symbol:
        """Return a loop's counter: the variable that the user has for the number, or a new one."""
        if asking is not None and asking.symbol.name not in taken:
            type = asking.symbol.type
            assert isinstance(type, Scalar)
            return replace(asking.symbol, type=Scalar(type.name, type.bits, type.kind))
        name = self.name(wanted)
        return Symbol(name, f"{place.file.path}:{place.start}:{name}", INT, "local", place)

    def _region(
        self,
        construct: TeamConstruct,
        region: ThreadRegion,
        fixed: frozenset[Symbol],
        team: Symbol,
        reading: tuple[str, ...],
    ) -> tuple[Stmt, ...]:
        place = at_start(region.pragma.span)
        thread = self._counter("thread", _asking(region.body, "omp_get_thread_num"), place, names_of(construct))
        body = self._numbered(region.body, construct, team, thread)
        body = recounted(_without(body, {team, thread}), fixed | {team})
        plan = make_plan(body, fixed | {team}, thread)
        check_meetings(plan.items, body, fixed | {team, thread})
        count = constant_of(construct.threads)
        writer = RegionWriter(plan, region.pragma, thread, construct.threads, count, self.name, reading)
        return writer.statements()

    def _numbered(self, stmt: Stmt, construct: TeamConstruct, team: Symbol, thread: Symbol | None) -> Stmt:
        """Return a statement with numbers in place of the questions for them."""

        def change(node: Node) -> Node:
            asked, place = asked_number(node), at_start(node.span)
            answers: dict[str, Expr] = {
                "omp_get_num_teams": construct.teams, "omp_get_num_threads": construct.threads,
                "omp_get_team_num": Name(span=place, type=team.type, symbol=team),
            }  # fmt: skip
            if thread is not None:
                answers["omp_get_thread_num"] = Name(span=place, type=thread.type, symbol=thread)
            return copy_of(answers[asked]) if asked else node

        return changed(stmt, change)


def names_of(construct: TeamConstruct) -> set[str]:
    """Return the names in a construct's clauses: nothing inside it may hide them."""
    return {n.symbol.name for expr in (construct.teams, construct.threads) for n in names(expr)}


def _asking(body: Node, function: str) -> VarDecl | None:
    """Return the first variable that is the number and stays so."""
    for part in walk(body):
        for one in part.declarations if isinstance(part, DeclStmt) else ():
            type, init = one.symbol.type, one.init
            if init is None or not isinstance(type, Scalar) or not is_integer(type) or type.kind == "bool":
                continue
            if asked_number(peel(init)) == function and type.bits >= INT.bits and not type.volatile:
                uses = [n for n in names(body) if n.symbol.name == one.symbol.name]
                if all(n.symbol == one.symbol for n in uses) and not any(changes_in(body, one.symbol)):
                    return one
    return None


def _without(body: Stmt, counters: set[Symbol]) -> Stmt:
    """Return a region without the declarations of what are counters of loops now."""

    def change(node: Node) -> Node:
        if isinstance(node, Block) and any(_declares(stmt, counters) for stmt in node.statements):
            kept = [s for stmt in node.statements for s in _rest(stmt, counters)]
            return replace(node, statements=tuple(kept))
        return node

    return changed(body, change)


def _declares(stmt: Stmt, counters: set[Symbol]) -> bool:
    return isinstance(stmt, DeclStmt) and any(d.symbol in counters for d in stmt.declarations)


def _rest(stmt: Stmt, counters: set[Symbol]) -> Iterable[Stmt]:
    if not isinstance(stmt, DeclStmt) or not _declares(stmt, counters):
        return (stmt,)
    rest = tuple(d for d in stmt.declarations if d.symbol not in counters)
    return (replace(stmt, declarations=rest, span=at_start(stmt.span), intact=False),) if rest else ()


def _with_blocks(run: tuple[Stmt, ...], found: dict[int, Block]) -> tuple[Stmt, ...]:
    made: list[Stmt] = []
    skip = False
    for stmt in run:
        if not skip:
            made.append(found.get(id(stmt), stmt))
        skip = id(stmt) in found
    return tuple(made)


def _kept_intact(new: Function, old: Function) -> Function:
    """Return the function as text that is still the user's: its constructs print as they were written."""
    before = {(type(n), n.span.start, n.span.end) for n in walk(old) if n.intact}

    def again(node: Node) -> Node:
        whole = node.span.start < node.span.end and (type(node), node.span.start, node.span.end) in before
        return replace(node, intact=True) if whole and not node.intact and not isinstance(node, For) else node

    return rebuild(new, again)


def _declared_by_loop(body: Node, symbol: Symbol) -> bool:
    return any(isinstance(n, For) and n.declares and n.variable == symbol for n in walk(body))


def _check_names(body: list[Stmt], construct: TeamConstruct) -> None:
    """Raise where two variables of a team have one name: they stood in blocks of their own before."""
    seen: dict[str, Symbol] = {}
    for stmt in body:
        for one in stmt.declarations if isinstance(stmt, DeclStmt) else ():
            if seen.setdefault(one.symbol.name, one.symbol) != one.symbol or one.symbol.name in names_of(construct):
                raise NotReadError(f"two variables are called {one.symbol.name}", one.span)
