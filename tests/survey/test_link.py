"""The exports that files are told of each other: nothing is said of a function before all that it calls is known."""

from __future__ import annotations

from warpsmith.poly.effects.outside import OutsideFunction, encode_function
from warpsmith.poly.effects.summary import Summary
from warpsmith.survey.link import Exports, ProgramLink
from warpsmith.survey.plain import decode_outside
from warpsmith.survey.texts import compact, plain_of
from warpsmith.tree.plain import Plain
from warpsmith.tree.types import DOUBLE, FunctionType, Symbol


def _symbol(name: str) -> Symbol:
    return Symbol(name, name, FunctionType(DOUBLE, ()), "function")


def _function(name: str, *, io: bool = False) -> Plain:
    return encode_function(OutsideFunction(_symbol(name), (), Summary(io=io)))


def _texts(*functions: Plain) -> dict[str, str]:
    return {str(f[0][1]): compact(f) for f in functions}  # type: ignore[index]


def _exports(*functions: Plain, named: dict[str, list[str]] | None = None, main: bool = False) -> Exports:
    calls = named or {}
    own = set(calls)
    return {
        "functions": _texts(*functions),
        "named": calls,
        "outside": sorted({c for found in calls.values() for c in found} - own),
        "writes": {},
        "library": [],
        "escaped": [],
        "main": main,
        "seen": [],
        "shared": [],
        "taken": [],
        "mentioned": [],
    }


def _link(*exports: Exports, programs: list[frozenset[int]] | None = None, complete: bool = True) -> ProgramLink:
    return ProgramLink(list(exports), programs or [frozenset()] * len(exports), complete)


def _known(link: ProgramLink, number: int) -> dict[str, bool | None]:
    """Return what a file hears of the functions that it names: do they do input or output, None: not known."""
    found = decode_outside(link.outside(number).plain).functions
    return {s.name: None if f.summary is None else f.summary.io for s, f in found.items()}


def test_a_function_that_names_another_files_is_not_known_at_first() -> None:
    main = _exports(_function("main"), named={"main": ["wrap"]}, main=True)
    wrap = _exports(_function("wrap"), _function("over"), named={"wrap": ["deep"], "over": ["wrap"]})
    deep = _exports(_function("deep"), named={"deep": ["printf"]})
    link = _link(main, wrap, deep)
    assert _known(link, 0) == {"wrap": None}
    assert _known(link, 1) == {"deep": False}
    assert plain_of(link.find_known(1, "over"))[2] is None  # type: ignore[index]
    assert link.waiting() == [0, 1]
    before = link.outside(0).question
    assert link.update(1, _texts(_function("wrap", io=True), _function("over"))) == [0]
    assert link.outside(0).question != before
    assert _known(link, 0) == {"wrap": True}
    assert link.update(1, _texts(_function("wrap", io=True), _function("over"))) == []


def test_two_functions_of_one_name_are_known_only_where_they_agree_or_a_program_tells() -> None:
    user = _exports(_function("user"), named={"user": ["part"]})
    calm, loud = (
        _exports(_function("part"), named={"part": []}),
        _exports(_function("part", io=True), named={"part": []}),
    )
    assert _known(_link(user, calm, calm), 0) == {"part": False}
    assert _known(_link(user, calm, loud), 0) == {"part": None}
    programs = [frozenset({1}), frozenset({1}), frozenset({2})]
    assert _known(_link(user, calm, loud, programs=programs), 0) == {"part": False}


def test_it_is_closed_only_with_a_main_and_all_files() -> None:
    one, main = _exports(_function("one")), _exports(_function("main"), main=True)
    assert _link(one, main).closed
    assert not _link(one).closed
    assert not _link(one, main, complete=False).closed


def test_which_pointer_a_function_stores_through_is_nothing_to_others() -> None:
    def told(local: str) -> Plain:
        root: Plain = ["p", f"solver.c:{local}:p", "local", ["p", ["s", "double", 64, "float"], False, False]]
        writes = compact([[], [[root, True, ["s", "double", 64, "float"]]], [], False])
        main = _exports(_function("main"), named={"main": ["step"]}, main=True)
        step = {**_exports(_function("step"), named={"step": []}), "writes": {"step": writes}}
        return _link(main, step, programs=[frozenset({0}), frozenset({0})]).export_known(0)

    # the file was edited above the function, and its local stands elsewhere now
    assert told("100") == told("140")
    assert "double" in compact(told("100"))
