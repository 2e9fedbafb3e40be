"""Conditions that come again: the second one is worth what the first one was, unless something has changed.

`BUGS` are defects put into the follower; each of them makes one of the programs here say a block that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from pytest import MonkeyPatch

from tests.front.clang.device.launches.test_shapes import HEAD, shapes
from tests.front.conftest import device_dump, device_request
from warpsmith.front.clang.device.dump import DeviceWalk
from warpsmith.front.clang.device.launches import conditions as asked
from warpsmith.front.clang.device.launches import shapes as follower
from warpsmith.front.clang.device.launches.conditions import Conditions
from warpsmith.front.clang.device.launches.numbers import Numbers
from warpsmith.front.clang.device.launches.places import Place, Values
from warpsmith.front.clang.dump import dump_file
from warpsmith.front.clang.libclang import Cursor, load_library
from warpsmith.front.clang.process import library_path

ONE = (256, 1, 1)
TWO = ([[32, 1, 1], [256, 1, 1]], True)
CASES: Mapping[str, object] = {
    # the same condition, negated, swapped, a part of another one
    "if (n > 1) bs = 256; if (n > 1) k<0><<<1, bs>>>(a);": ONE,
    "if (n > 1) bs = 256; if (1 < n) k<0><<<1, bs>>>(a);": ONE,
    "if (!(n > 1)) {} else bs = 256; if (n > 1) k<0><<<1, bs>>>(a);": ONE,
    "if (n > 1) bs = 256; if (n > 1 && m) k<0><<<1, bs>>>(a);": ONE,
    "if (!m || n > 1) {} else bs = 256; if (m && !(n > 1)) k<0><<<1, bs>>>(a);": TWO,  # both parts at once
    "if (m) bs = 256; else bs = n; if (m) k<0><<<1, bs>>>(a);": ONE,
    "bs = m ? 256 : 32; if (m) k<0><<<1, bs>>>(a);": ONE,
    "if (m) bs = 256; while (n--) { if (m) k<0><<<1, bs>>>(a); }": TWO,  # one state at the head of a loop
    # the other way, or another condition
    "if (n > 1) bs = 256; if (!(n > 1)) k<0><<<1, bs>>>(a);": (32, 1, 1),
    "if (n > 1) bs = 256; if (n < 1) k<0><<<1, bs>>>(a); if (n < 1) bs = 8;": TWO,
    "if (n > 1) bs = 256; if (n >= 1) k<0><<<1, bs>>>(a);": TWO,
    "if (n > 1) bs = 256; if (1 > n) k<0><<<1, bs>>>(a); if (1 > n) bs = 8;": TWO,
    "if (n > 1) bs = 256; if (unsigned(n) > 1) k<0><<<1, bs>>>(a); if (unsigned(n) > 1) bs = 8;": TWO,
    "float x = n / 0.5f - m; if (x < 1) bs = 256; if (!(x >= 1)) k<0><<<1, bs>>>(a); if (x >= 1) bs = 8;": TWO,
    "if (n > 1 && m) {} else bs = 256; if (n > 1) k<0><<<1, bs>>>(a);": TWO,
    "if (n > 1 || m) bs = 256; if (n > 1) k<0><<<1, bs>>>(a); if (m) bs = 1;": ONE,
    "if (n > 1 || m) bs = 256; if (m) k<0><<<1, bs>>>(a); if (n > 1) bs = 1;": ONE,
    # a variable of the condition is another one, or may be
    "if (n > 1) bs = 256; n = m; if (n > 1) k<0><<<1, bs>>>(a);": TWO,
    "if (n > 1) bs = 256; n--; if (n > 1) k<0><<<1, bs>>>(a);": TWO,
    "if (n > 1) bs = 256; n += m; if (n > 1) k<0><<<1, bs>>>(a);": TWO,
    "int *p = &n; if (n > 1) bs = 256; *p = m; if (n > 1) k<0><<<1, bs>>>(a);": TWO,
    "int &r = n; if (n > 1) bs = 256; r = m; if (n > 1) k<0><<<1, bs>>>(a);": TWO,
    "if (n > 1) bs = 256; scanf(\"%d\", &n); if (n > 1) k<0><<<1, bs>>>(a);": TWO,
    "if (g > 1) bs = 256; change(); if (g > 1) k<0><<<1, bs>>>(a);": TWO,
    "if (rand() > 1) bs = 256; if (rand() > 1) k<0><<<1, bs>>>(a);": TWO,
    "if (a[0]) bs = 256; a[0] = m; if (a[0]) k<0><<<1, bs>>>(a);": TWO,
    "if (n > 1) bs = 256; while (m--) n = m; if (n > 1) k<0><<<1, bs>>>(a);": TWO,
    "if (n > 1) bs = 256; if (n++ > 1) {} if (n > 1) k<0><<<1, bs>>>(a);": TWO,
    "volatile int v = n; if (v > 1) bs = 256; if (v > 1) k<0><<<1, bs>>>(a);": TWO,
    # a way is left, or entered from elsewhere
    "if (n > 1) bs = 256; if (!(n > 1)) return; k<0><<<1, bs>>>(a);": ONE,
    "switch (m) { case 0: if (n > 1) bs = 256; case 1: if (n > 1) k<0><<<1, bs>>>(a); }": TWO,
    "if (n > 1) bs = 256; for (;;) { if (n > 1) k<0><<<1, bs>>>(a); if (m--) bs = 32; else break; }": TWO,
}  # fmt: skip


def text_of(body: str) -> str:
    return f"{HEAD}int g; void change() {{ g = rand(); }} void host(int *a, int n, int m) {{ int bs = 32; {body} }}"


def said_of(found: tuple[object, list[int | None], tuple[list[list[int]], bool]]) -> object:
    """Return one block, or all that are possible and whether these are all."""
    _, block, blocks = found
    return blocks if None in block else tuple(block)


@pytest.mark.parametrize("body", CASES)
def test_conditions_that_come_again(body: str, tmp_path: Path) -> None:
    assert said_of(shapes(device_dump(tmp_path, text_of(body)))[0]) == CASES[body]


def _nothing_dropped(self: Conditions, known: Mapping[Place, Numbers], variables: set[int]) -> Values:
    return dict(known)


def _sense_lost(self: Conditions, condition: Cursor) -> tuple[Cursor, bool]:
    return _BARE(self, condition)[0], True


def _parts_always(self: Conditions, condition: Cursor, outcome: bool) -> Values:
    inner, same = self._bare(condition)
    symbol, parts = self._operator(inner)
    if symbol not in ("&&", "||"):
        return _LEARN(self, condition, outcome)
    return {place: values for part in parts for place, values in self.learn(part, outcome == same).items()}


def _first_way(given: list[Values]) -> list[Values]:
    return list(given)[:1]


_BARE, _LEARN = Conditions._bare, Conditions.learn
_SPELL, _SPELL_VARIABLE = Conditions._spell, Conditions._spell_variable


def _casts_are_nothing(self: Conditions, cursor: Cursor, named: set[int]) -> str | None:
    parts = self.reader.expressions(cursor)
    if cursor.kind in asked._CASTS and len(parts) == 1:
        return self._spell(parts[0], named)
    return _SPELL(self, cursor, named)


def _nothing_escapes(self: Conditions, variable: Cursor, named: set[int]) -> str | None:
    escaped, self.reader.facts.escaped = self.reader.facts.escaped, set()
    try:
        return _SPELL_VARIABLE(self, variable, named)
    finally:
        self.reader.facts.escaped = escaped


def _shared_too(self: Conditions, variable: Cursor, named: set[int]) -> str | None:
    number = int(variable.first or 0)
    named.add(number)
    return f"v{number}"


BUGS: Mapping[str, tuple[object, str, Callable[..., object] | object]] = {
    "a write leaves conditions": (Conditions, "drop", _nothing_dropped),
    "negation is not seen": (Conditions, "_bare", _sense_lost),
    "parts of a false && are taken as false": (Conditions, "learn", _parts_always),
    "of several ways one stays": (follower, "merge", _first_way),
    "casts do not count": (Conditions, "_spell", _casts_are_nothing),
    "a < b is b < a": (asked, "_SWAPPED", {">": "<", "<": "<"}),
    "a >= b is a > b": (asked, "_SWAPPED", {">": "<", ">=": "<"}),
    "variables with an address are kept": (Conditions, "_spell_variable", _nothing_escapes),
    "variables of the file are kept": (Conditions, "_spell_variable", _shared_too),
    "a head of a loop knows one way": (follower, "collapse", _first_way),
}


def blocks_here(folder: Path, body: str) -> object:
    """Return what is said of a program, found in this process, where defects can be put in."""
    request = device_request(folder, text_of(body))
    return said_of(shapes(dump_file(load_library(library_path()), request, DeviceWalk))[0])


def is_wrong(said: object, expected: object) -> bool:
    """Whether a block is said, or left out of a list that is complete; not to know is not wrong."""
    if isinstance(expected, tuple) and len(expected) == 3:
        possible = [list(expected)]
    else:
        possible = TWO[0]
    match said:
        case ([*blocks], bool(complete)):
            return complete and not all(one in blocks for one in possible)
        case _:
            return [said] != [tuple(one) for one in possible]


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_defect_makes_a_program_wrong(bug: str, tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    owner, name, defect = BUGS[bug]
    monkeypatch.setattr(owner, name, defect)
    assert any(is_wrong(blocks_here(tmp_path, body), expected) for body, expected in CASES.items())
