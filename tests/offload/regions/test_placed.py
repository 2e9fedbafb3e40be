"""The user's functions with their port in them, where the port can be switched off."""

from __future__ import annotations

from pathlib import Path

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.offload.regions.placed import place_versions
from warpsmith.tree.in_place.versioned import SWITCHED, InsertedText, Versioned
from warpsmith.tree.nodes import Binary, Block, ExprStmt, For, Function, If, Launch, Literal, Name, Update, replace
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, Symbol
from warpsmith.tree.walk import walk

_TEXT = """\
void f(int n, int m, double *a)
{
    a[0] = 1;
    for (int i = 0; i < n; i++)
        a[i] = i;
}
void g(double *a)
{
    a[0] = 2;
}
"""


def _program(folder: Path) -> tuple[Program, Function]:
    path = folder / "a.c"
    path.write_text(_TEXT)
    program = load_program([str(path)], FrontOptions()).program
    return program, program.units[0].functions[0]


def _version(function: Function) -> Versioned:
    loop = function.body.statements[1]
    n, m, _ = (Name(span=loop.span, type=symbol.type, symbol=symbol) for symbol in function.parameters)
    both = Binary(span=loop.span, type=INT, op="&&", left=n, right=m)
    launch = Launch(span=loop.span, kernel="k", arguments=(), region="f/i")
    update = Update(span=loop.span, to_device=True, variable=None, address=None, bytes=None, cause=loop.span)
    return Versioned(function, (loop,), (launch,), both, fallback=((), (update,)), reasons=("n is", "m is"))


def test_a_version_stands_beside_what_the_user_wrote(tmp_path: Path) -> None:
    program, function = _program(tmp_path)
    version = _version(function)
    ((old, new),) = place_versions(program, [version], []).items()
    assert old is function
    kept, chosen = new.body.statements
    assert kept is function.body.statements[0] and isinstance(chosen, If)
    assert chosen.reasons == (SWITCHED, "n is", "m is")
    names = [part.symbol.name if isinstance(part, Name) else part.text for part in walk(chosen.condition)
             if isinstance(part, Name | Literal)]  # fmt: skip
    assert names == ["1", "n", "m"]
    assert isinstance(chosen.then, Block) and chosen.then.statements == version.ported
    assert isinstance(chosen.other, Block) and chosen.other.statements == (*version.written, *version.fallback[1])


def test_what_is_inserted_stands_beside_its_statement(tmp_path: Path) -> None:
    program, function = _program(tmp_path)
    first = function.body.statements[0]
    update = Update(span=first.span, to_device=True, variable=None, address=None, bytes=None, cause=first.span)
    new = place_versions(program, [], [InsertedText(function, "after", first, (update,))])[function]
    assert new.body.statements == (first, update, function.body.statements[1])
    # a function of the rewritten program is known by its place
    made = replace(function, body=replace(function.body, statements=(replace(first), function.body.statements[1])))
    assert place_versions(program, [], [InsertedText(made, "after", made.body.statements[0], (update,))])


def test_what_only_steps_know_is_left_out(tmp_path: Path) -> None:
    program, function = _program(tmp_path)
    first, loop = function.body.statements
    strange = Symbol("row", "row", INT, "local")
    named = Name(span=first.span, type=INT, symbol=strange)
    update = Update(span=first.span, to_device=True, variable=None, address=named, bytes=None, cause=first.span)
    assert not place_versions(program, [], [InsertedText(function, "after", first, (update,))])
    elsewhere = ExprStmt(span=program.units[0].functions[1].body.statements[0].span, expr=named)
    assert isinstance(loop, For) and not place_versions(program, [], [InsertedText(function, "after", elsewhere, ())])
