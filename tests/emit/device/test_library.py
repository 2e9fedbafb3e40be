"""Functions of the C library that ports carry: as the library has them, on texts of every kind."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from tests.emit.changed_part import change_part
from warpsmith.base.source import SourceFile, Span
from warpsmith.emit.device.library import CARRIED, library_names, library_texts
from warpsmith.emit.parts import part_names
from warpsmith.emit.words import Support
from warpsmith.run.native.tools import cxx_compiler
from warpsmith.tree.effects.file import house_effects
from warpsmith.tree.nodes import Call, Name
from warpsmith.tree.types import DOUBLE, FunctionType, Symbol

_COMPARED = """
#define __device__
#include <cstdio>
#include <cstdlib>
#include <cstring>
%s
int main(void)
{
    static char line[1 << 16];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\\n")] = 0;
        const double one = atof(line), other = ws_atof(line);
        const bool same = memcmp(&one, &other, sizeof one) == 0 || (one != one && other != other);
        if (!same || atoi(line) != ws_atoi(line) || atol(line) != ws_atol(line) || atoll(line) != ws_atoll(line))
            puts(line);
    }
    return 0;
}
"""
HERE = Span(SourceFile("none.c", ""), 0, 0)
_HEX = "0123456789abcdefABCDEF"
_ODD = """|-|+|.| 1.5|\t-2e3|1e|1e+|1e-|0x|0x.|0x1|0x1.8p3|0x.8p-1074|0x1p-1075|0x1.0000000000001p-1075|0x1p1024
0x1.fffffffffffff8p1023|0x1.fffffffffffff7p1023|inf|-inf|INFINITY|nan|-nan|nan(12)|infx|in|1.7976931348623158e308
1.7976931348623159e308|4.9e-324|2.4703282292062327e-324|2.4703282292062328e-324|2.2250738585072011e-308
9007199254740993|9007199254740992.5|1e400|1e-400|1e99999999999999999999|1e-99999999999999999999|0e99999999999999|-0
00012|1.2.3|1,5|9223372036854775807|9223372036854775808|-9223372036854775808|-9223372036854775809|2147483648|1d5
12abc|0x1g|..1|.5|.e1|5.|5.e2|+-1|- 1|-x|--1|1e22|1e23|123456789012345e22|1234567890123456e22"""


def _symbol(name: str) -> Symbol:
    return Symbol(name, name, FunctionType(DOUBLE, ()), "function")


def _texts(seed: int) -> Iterator[str]:
    """Yield numbers of random digits, middles between doubles, hexadecimal ones, and texts that are no numbers."""
    chance = random.Random(seed)

    def digits(most: int, of: str = "0123456789") -> str:
        return "".join(chance.choice(of) for _ in range(chance.randrange(most + 1)))

    for _ in range(250):
        yield f"{digits(20)}.{digits(20)}e{chance.randrange(-340, 320)}"
        yield f"{chance.randrange(10**6)}.{digits(8)}"
        yield f"0.{'0' * chance.randrange(330)}{digits(900)}"
        yield f"0x{digits(20, _HEX)}.{digits(20, _HEX)}p{chance.randrange(-1100, 1100)}"
        yield digits(12, "0123456789.eE+-xX pnaif")
        low = chance.randrange(2**52, 2**53)
        middle = Fraction(2 * low + 1) * Fraction(2) ** chance.randrange(-1075, 970)
        yield _decimal(middle) + chance.choice(("", "0" * chance.randrange(900) + "1"))
    yield from _ODD.replace("\n", "|").split("|")


def _decimal(value: Fraction) -> str:
    """Return a number whose denominator is a power of 2 with all of its digits."""
    places = value.denominator.bit_length() - 1
    number = str(value.numerator * 5**places).rjust(places + 1, "0")
    return f"{number[: len(number) - places]}.{number[len(number) - places :]}"


def _differing(folder: Path, seed: int) -> list[str]:
    parts = library_texts(map(_symbol, CARRIED), Support("ws"))
    source, program = folder / "compared.cpp", folder / "compared"
    source.write_text(_COMPARED % "\n".join(parts))
    subprocess.run([cxx_compiler(), "-O1", "-w", str(source), "-o", str(program)], check=True)
    given = "\n".join(_texts(seed)) + "\n"
    run = subprocess.run([str(program)], input=given, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def test_texts_are_read_as_the_library_reads_them(tmp_path: Path) -> None:
    assert _differing(tmp_path, 1) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        ("side == 0 && bits % 2 == 0", "side == 0"),
        ("kept < 768", "kept < 700"),
        ("rest |= digit;", ""),
        ("kept <= 15 && scale >= -22", "kept <= 15 && scale >= -30"),
        ("(field == 0 ? 1 : field)", "field"),
        ("* 3322 / 1000 + 4", "* 3322 / 1000 - 4"),
    ],
)
def test_slips_are_seen(change: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change_part(monkeypatch, "read_real.cu", change)
    assert _differing(tmp_path, 1)


def test_the_table_lets_kernels_call_what_there_is() -> None:
    allowed = {name for name, known in house_effects().functions.items() if known.device_without}
    assert allowed == set(CARRIED)
    assert set(CARRIED.values()) <= set(part_names())


def test_a_function_of_the_program_is_its_own() -> None:
    atof = _symbol("atof")
    call = Call(span=HERE, type=DOUBLE, function=Name(span=HERE, type=atof.type, symbol=atof), arguments=())
    assert library_names([call], frozenset(), Support("ws2")) == {atof: "ws2_atof"}
    assert library_names([call], frozenset({atof}), Support("ws")) == {}
