"""Names of kernels as people write them, and symbols where names would clash."""

from __future__ import annotations

import pytest

from warpsmith.kernels.names import shown_names, written_name


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z9transposePfPKfi", "transpose"),
        ("_ZN4deep3addEPf", "deep::add"),
        ("_ZNK4deep3addEv", "deep::add"),
        ("_Z4copyIfLi32EEvPT_", "copy"),
        ("_ZN12_GLOBAL__N_14addsEv", "(anonymous)::adds"),
        ("_Z3fooi3bar", "foo"),
        ("plain", "plain"),
        ("_Zx", "_Zx"),
        ("_Z20short", "_Z20short"),
        ("_ZN4deep9short", "_ZN4deep9short"),
        ("_Z", "_Z"),
        ("", ""),
    ],
)
def test_written_names(symbol: str, name: str) -> None:
    assert written_name(symbol) == name


def test_names_that_clash_stay_symbols() -> None:
    shown = shown_names(["_Z4copyPf", "_Z4copyPd", "_Z3addPf", "plain"])
    assert shown == {"_Z4copyPf": "_Z4copyPf", "_Z4copyPd": "_Z4copyPd", "_Z3addPf": "add", "plain": "plain"}
    assert shown_names([]) == {}
    assert shown_names(["_Z3addPf", "add"]) == {"_Z3addPf": "_Z3addPf", "add": "add"}
