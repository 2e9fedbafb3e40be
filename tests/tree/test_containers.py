"""The data pointer and the size that a container holds in itself, and what changes them."""

from __future__ import annotations

import pytest

from tests.front.conftest import Load, load
from warpsmith.front.c.counted import canonical
from warpsmith.tree.nodes import For
from warpsmith.tree.walk import loops

__all__ = ["load"]

CASES = {
    # stores of characters, of sizes and of pointers change no vector
    "for (size_t k = 0; k < w.size(); k++) v[k] = (unsigned char)w[k];": True,
    "for (size_t k = 0; k < v.size(); k++) v[k] ^= 255;": True,
    "for (size_t k = 0; k < v.size(); k++) sizes[k] = v.size();": True,
    "for (size_t k = 0; k < v.size(); k++) rows[k] = v.data();": True,
    "for (size_t k = 0; k < v.size(); k++) *c++ = 1;": True,
    # its own members do, and what may call them
    "for (size_t k = 0; k < v.size(); k++) v.push_back(1);": False,
    "for (size_t k = 0; k < v.size(); k++) { v[k] = 1; v.swap(u); }": False,
    "for (size_t k = 0; k < u.size(); k++) { v[k] = 1; std::swap(u, v); }": False,
    "for (size_t k = 0; k < v.size(); k++) v = u;": False,
    "for (size_t k = 0; k < all[0].size(); k++) all[1] = all[2];": False,
    "for (size_t k = 0; k < v.size(); k++) unknown(v);": False,
    "for (size_t k = 0; k < v.size(); k++) anything();": False,
    # a user's own number is another matter: it may stand where the characters go
    "for (int k = 0; k < s.n; k++) v[k] = 1;": False,
}
TEXT = """
#include <cstddef>
#include <utility>
#include <vector>
struct Size { int n; };
typedef std::vector<unsigned char> Bytes;
void unknown(Bytes &v);
void anything();
"""
USE = """void use{}(Bytes &v, Bytes &u, std::vector<float> &w, std::vector<Bytes> &all, size_t *sizes,
    unsigned char **rows, char *c, Size &s) {{ {} }}
"""


def _counted(load: Load) -> list[bool]:
    text = TEXT + "".join(USE.format(number, case) for number, case in enumerate(CASES))
    functions = {f.symbol.name: f for _, f in load(text, name="case.cpp").program.functions()}
    found = [next(loop for loop, _ in loops(functions[f"use{n}"].body)) for n, _ in enumerate(CASES)]
    return [isinstance(loop, For) for loop in found]


def test_only_its_own_members_change_a_container(load: Load) -> None:
    assert dict(zip(CASES, _counted(load), strict=True)) == CASES


def test_seeded_container_that_nothing_changes(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "_may_reach", lambda *_: False)
    assert _counted(load) != list(CASES.values())
