"""Comparing what two programs printed or wrote to files, without what differs by itself.

The original is run twice. A token that differs between its two runs (a time, an address, a process number) is masked:
it may be anything in the candidate's output. Text is compared line by line and token by token; how much white space
stands between tokens does not count, because the width of a masked number moves it.

    original 1   time 0.01 s  sum 3.25          masked: token 1 of the line
    original 2   time 1.37 s  sum 3.25
    candidate    time 9.81 s  sum 3.25          equal

Numbers written with a point or an exponent may differ by what the original's own builds differ by (tolerance.py), by
what the objects behind them were seen to differ by, within their own tolerance, and by one unit of the last digit where
at least six significant digits are printed; integers may not differ. Of a number of which the builds determine no digit
they say no more than how large its noise is: it may differ by more times their difference, and is no evidence that
wrong values would be noticed. On a line of eight numbers or more, a row of an array, the rounding of one allows as much
for the others: by chance, builds may agree in one.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

__all__ = [
    "OutputDifference",
    "OutputRule",
    "compare_files",
    "compare_text",
    "drop_noise",
    "masked_tokens",
    "noise",
    "rule_of",
]  # fmt: skip

_TOKEN = re.compile(
    r"[-+]?0[xX][0-9a-fA-F]+|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?\b(?:nan|inf|NaN|Inf|NAN|INF)\b|[^\W\d]\w*|\S"
)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$|[-+]?(?:nan|inf)$", re.IGNORECASE)
_SPREAD_FACTOR = 4.0
# Noise: a few builds may by chance lie closer together than another one lies to them.
_NOISE_FACTOR, _NOISE = 32.0, 0.1
_DIGITS_FOR_LAST_PLACE = 6
_EPSILON = 2.0**-48
# A larger relative spread is cancellation: it says something of its own token, nothing of the others. Of numbers that
# are doubles, as their digits show, what doubles round decides this, and what most numbers of the output do.
_ROUNDING, _ROUNDING_OF_DOUBLES, _TIMES_MEDIAN = 1e-6, 1e-12, 16.0
_DIGITS_OF_FLOATS = 9
# As many numbers on a line are a row of an array: one's rounding is determined by what the others' differ by as well.
_ROW = 8
_SHOWN = 60

Place = tuple[int, int]


class OutputRule(Struct, frozen=True):
    """What may differ: masked tokens by (line, token), masked whole lines, everything; and the numbers' spread: each
    one's own, and what is rounding among those of all, and of doubles, as a part of their size; `rows`: by line that is
    a row of an array, the largest rounding of one of its numbers. `rounding`: by how much of their size the values
    behind the numbers differ. `broken`: rounding noise decides whether these are finite, NaN may stand for any."""

    masked: frozenset[Place] = frozenset()
    masked_lines: frozenset[int] = frozenset()
    all_masked: bool = False
    spread: Mapping[Place, float] | None = None
    relative_spread: float = 0.0
    double_spread: float = 0.0
    rows: Mapping[int, float] | None = None
    absolute: float | None = None
    relative: float | None = None
    rounding: float = 0.0
    broken: bool = False


class OutputDifference(Struct, frozen=True):
    """The first difference in one output, as a sentence's tail: `line 3: 1.5, the original has 2.5`."""

    text: str


def compare_text(expected: bytes, actual: bytes, rule: OutputRule) -> OutputDifference | None:
    """Return the first difference between two outputs that the rule does not allow."""
    if expected == actual or rule.all_masked:
        return None
    if _binary(expected) or _binary(actual):
        return _compare_bytes(expected, actual)
    wanted, got = _lines(expected), _lines(actual)
    for number, (left, right) in enumerate(zip(wanted, got, strict=False)):
        if left != right and number not in rule.masked_lines:
            found = _compare_line(left, right, number, rule)
            if found is not None:
                return found
    if len(wanted) != len(got):
        return OutputDifference(f"{len(got)} lines, the original has {len(wanted)}")
    return _zeros(wanted, got, rule)


def _compare_bytes(expected: bytes, actual: bytes) -> OutputDifference:
    if len(expected) != len(actual):
        return OutputDifference(f"{len(actual)} bytes, the original has {len(expected)}")
    at = next(i for i, (a, b) in enumerate(zip(expected, actual, strict=True)) if a != b)
    return OutputDifference(f"byte {at} is 0x{actual[at]:02x}, the original has 0x{expected[at]:02x}")


def _compare_line(left: str, right: str, number: int, rule: OutputRule) -> OutputDifference | None:
    wanted, got = _TOKEN.findall(left), _TOKEN.findall(right)
    if len(wanted) != len(got):
        return OutputDifference(f"line {number + 1} is `{_short(right)}`, the original has `{_short(left)}`")
    for index, (a, b) in enumerate(zip(wanted, got, strict=True)):
        place = (number, index)
        if a != b and place not in rule.masked and not _close(a, b, place, rule):
            return OutputDifference(f"line {number + 1} has {_short(b)}, the original has {_short(a)}")
    return None


def _close(a: str, b: str, place: Place, rule: OutputRule) -> bool:
    if not (_NUMBER.match(a) and _NUMBER.match(b)) or (_integral(a) and _integral(b)):
        return False
    x, y = float(a), float(b)
    if x == y or (math.isnan(x) and math.isnan(y)):
        return True
    if not (math.isfinite(x) and math.isfinite(y)):
        return rule.broken and math.isfinite(x)
    if rule.absolute is not None or rule.relative is not None:
        return abs(x - y) <= (rule.absolute or 0.0) + (rule.relative or 0.0) * abs(x)
    own = (rule.spread or {}).get(place, 0.0)
    own *= _NOISE_FACTOR if own > _NOISE * abs(x) else _SPREAD_FACTOR
    own = max(own, _SPREAD_FACTOR * (rule.rows or {}).get(place[0], 0.0))
    others = rule.double_spread if _is_double(a) else rule.relative_spread
    related = _SPREAD_FACTOR * max(others, rule.rounding) * abs(x)
    allowed = max(own, related) + _EPSILON * abs(x)
    return abs(x - y) <= max(allowed, 1.0001 * max(_last_place(a), _last_place(b)))


def _integral(text: str) -> bool:
    return text.lstrip("+-").isdigit()


def _last_place(text: str) -> float:
    """Return one unit of the last printed digit, 0 where too few digits are printed to call that rounding."""
    mantissa, _, exponent = text.lower().lstrip("+-").partition("e")
    digits = mantissa.replace(".", "").lstrip("0")
    if len(digits) < _DIGITS_FOR_LAST_PLACE:
        return 0.0
    decimals = len(mantissa.partition(".")[2])
    return float(10.0 ** (int(exponent or "0") - decimals))


def _is_double(text: str) -> bool:
    """Whether a printed number shows more digits than a float has, and they are not those of a float."""
    digits = text.lower().lstrip("+-").partition("e")[0].replace(".", "").lstrip("0")
    value = abs(float(text))
    if len(digits) <= _DIGITS_OF_FLOATS or not 2.0**-126 <= value < 2.0**127:
        return False
    nearest: float = struct.unpack("f", struct.pack("f", value))[0]
    return abs(nearest - value) > _last_place(text)


def _zeros(wanted: Sequence[str], got: Sequence[str], rule: OutputRule) -> OutputDifference | None:
    """Refuse an output whose fractions are all zero where the original's are not, however wide the allowance."""
    original = [v for v in _fractions(wanted, rule) if v != 0.0]
    if original and not any(_fractions(got, rule)):
        return OutputDifference(f"every number with a fraction is zero, the original has {original[0]!r}")
    return None


def _fractions(lines: Sequence[str], rule: OutputRule) -> list[float]:
    values: list[float] = []
    for number, line in enumerate(lines):
        for index, token in enumerate(_TOKEN.findall(line)):
            if (number, index) not in rule.masked and _NUMBER.match(token) and not _integral(token):
                values.append(float(token))
    return values


def rule_of(base: bytes, again: Sequence[bytes], variants: Sequence[bytes]) -> OutputRule:
    """Return what may differ from `base`: `again` are runs of the original under another time, address and memory
    content, `variants` runs of its other builds."""
    masked: set[Place] = set()
    masked_lines: set[int] = set()
    lines = _lines(base)
    for other in again:
        if other == base:
            continue
        others = _lines(other)
        if len(others) != len(lines) or _binary(base):
            return OutputRule(all_masked=True)
        for number, (a, b) in enumerate(zip(lines, others, strict=True)):
            left, right = _TOKEN.findall(a), _TOKEN.findall(b)
            if len(left) != len(right):
                masked_lines.add(number)
            else:
                masked |= {(number, i) for i, pair in enumerate(zip(left, right, strict=True)) if pair[0] != pair[1]}
    spread = _spread(lines, [_lines(v) for v in variants if v != base], masked)
    ratios = [gap / abs(value) for gap, value in spread.values() if value]
    relative = max((ratio for ratio in ratios if ratio < _ROUNDING), default=0.0)
    limit = max(
        _ROUNDING_OF_DOUBLES, _TIMES_MEDIAN * _median(ratios, len(_fractions(lines, OutputRule(frozenset(masked)))))
    )
    of_doubles = max((ratio for ratio in ratios if ratio < min(limit, _ROUNDING)), default=0.0)
    gaps = {place: gap for place, (gap, _) in spread.items()}
    rows = _rows(lines, gaps, min(limit, _ROUNDING))
    return OutputRule(frozenset(masked), frozenset(masked_lines), False, gaps, relative, of_doubles, rows)


def _rows(lines: Sequence[str], gaps: Mapping[Place, float], of_doubles: float) -> dict[int, float]:
    """Return, by line, the largest gap that is rounding, measured by the largest number of the row."""
    found: dict[int, float] = {}
    for number in {line for line, _ in gaps}:
        tokens = _TOKEN.findall(lines[number])
        row = [token for token in tokens if _NUMBER.match(token) and not _integral(token)]
        sizes = [size for size in (abs(float(token)) for token in row) if math.isfinite(size)]
        if len(sizes) < _ROW:
            continue
        limit = max(sizes) * (of_doubles if any(_is_double(token) for token in row) else _ROUNDING)
        within = (gaps[place] for place in ((number, index) for index in range(len(tokens))) if place in gaps)
        found[number] = max((gap for gap in within if gap <= limit), default=0.0)
    return found


def _median(ratios: Sequence[float], count: int) -> float:
    """Return the median of `count` numbers: the ratios, and zeros."""
    place = count // 2 - max(0, count - len(ratios))
    return sorted(ratios)[place] if place >= 0 and ratios else 0.0


def _spread(
    lines: Sequence[str], variants: Sequence[Sequence[str]], masked: set[Place]
) -> dict[Place, tuple[float, float]]:
    found: dict[Place, tuple[float, float]] = {}
    for variant in variants:
        for number, (a, b) in enumerate(zip(lines, variant, strict=False)):
            left, right = _TOKEN.findall(a), _TOKEN.findall(b)
            if a == b or len(left) != len(right):
                continue
            for index, (x, y) in enumerate(zip(left, right, strict=True)):
                place = (number, index)
                if x == y or place in masked or not (_NUMBER.match(x) and _NUMBER.match(y)):
                    continue
                gap = abs(float(x) - float(y))
                if math.isfinite(gap):
                    found[place] = (max(gap, found.get(place, (0.0, 0.0))[0]), float(x))
    return found


def masked_tokens(base: bytes, rule: OutputRule, name: str = "") -> tuple[str, ...]:
    """Return the masked tokens as a person finds them: `line 2: 0.013`."""
    where = f"{name}, " if name else ""
    if rule.all_masked:
        return (f"{name or 'output'}: all of it",)
    lines = _lines(base)
    found = [f"{where}line {line + 1}: {_short(lines[line])}" for line in sorted(rule.masked_lines)]
    found += [f"{where}line {n + 1}: {_short(_TOKEN.findall(lines[n])[i])}" for n, i in sorted(rule.masked)]
    return tuple(found)


def noise(base: bytes, rule: OutputRule) -> tuple[str, ...]:
    """Return the numbers of which the original's own builds determine no digit, as a person finds them."""
    lines = [_TOKEN.findall(line) for line in _lines(base)]
    return tuple(f"line {n + 1}: {_short(lines[n][i])}" for n, i in sorted(_noise_places(lines, rule)))


def drop_noise(base: bytes, rule: OutputRule) -> OutputRule:
    """Return the rule by which an output shows that other values were noticed: not by a number that may be anything."""
    places = _noise_places([_TOKEN.findall(line) for line in _lines(base)], rule)
    return replace(rule, masked=rule.masked | places)


def _noise_places(lines: Sequence[Sequence[str]], rule: OutputRule) -> frozenset[Place]:
    gaps = (rule.spread or {}).items()
    return frozenset((n, i) for (n, i), gap in gaps if gap > _NOISE * abs(float(lines[n][i])))


def compare_files(
    expected: Mapping[str, bytes],
    actual: Mapping[str, bytes],
    rules: Mapping[str, OutputRule],
    unstable: frozenset[str],
) -> OutputDifference | None:
    """Return the first difference between the files two runs wrote; `unstable` names differ in the original itself."""
    missing = sorted(set(expected) - set(actual) - unstable)
    if missing:
        return OutputDifference(f"the file {missing[0]} is not written")
    extra = sorted(set(actual) - set(expected)) if not unstable else []
    if extra:
        return OutputDifference(f"the file {extra[0]} is written, the original does not write it")
    for name in sorted(set(expected) & set(actual)):
        found = compare_text(expected[name], actual[name], rules.get(name, OutputRule()))
        if found is not None:
            return OutputDifference(f"the file {name}: {found.text}")
    return None


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").splitlines()


def _binary(data: bytes) -> bool:
    return b"\0" in data[:65536]


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
