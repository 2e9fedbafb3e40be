"""Mutants of a port: one small mistake each, of the kinds that people make who move loops to a GPU.

    kernel     operators, indices, guards, bounds of loops, a statement, barrier or atomic operation left out
    host       a launch left out, made twice, moved, or with another number; two lines in the other order
    copies     one left out, in the other direction, with its sides or arrays exchanged, too early
    extents    half the bytes, an element less or more, the size of another type
    launch     grids and blocks too small, too large, exchanged
    order      a stream that waits for nobody, memory given back too early
    types      float for double, short or unsigned for int, 32 bits for 64

A mutant may be right all the same, and need not compile: the judge says what it is.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from benchmarks.wrong_candidates.ports import Port
from msgspec import Struct

__all__ = ["CLASSES", "Mutant", "draw", "mutants"]

_RUN_TIME = "/* Run time of warpsmith"
_CALL = re.compile(r"^(?P<indent>[ \t]*)(?P<call>ws_\w+)\((?P<arguments>[^;{}]*)\);[ \t]*\n", re.M)
_STREAM = (
    "static cudaStream_t ws_other = [] { cudaStream_t made; cudaStreamCreateWithFlags(&made, 1); return made; }();\n"
)
Edit = tuple[int, int, str]


class Mutant(Struct, frozen=True):
    """One change: in which file and line, what stood there and what does now; `files`: the whole candidate."""

    kind: str
    file: str
    line: int
    before: str
    after: str
    files: Port

    @property
    def key(self) -> str:
        """Return what tells it from the other mutants of its program."""
        return f"{self.kind} | {self.file}:{self.line} | {self.before} -> {self.after}"


def mutants(port: Port) -> tuple[Mutant, ...]:
    """Return all mutants of a port, class by class, in the order of its text."""
    found: dict[tuple[str, str], Mutant] = {}
    for kind, (device, finder) in CLASSES.items():
        for name, text in sorted(port.items()):
            host = name.endswith((".c", ".cpp", ".cc"))
            if (host and (device or "_kernels.h" not in text)) or name.endswith(".h"):
                continue
            for start, end, new in finder(_blank_run_time(text)):
                changed = text[:start] + new + text[end:]
                if changed != text:
                    line = text.count("\n", 0, start) + 1
                    before, after = (" ".join(part.split())[:60] for part in (text[start:end], new))
                    mutant = Mutant(kind, name, line, before, after, {**port, name: changed})
                    found.setdefault((name, changed), mutant)
    return tuple(found.values())


def _blank_run_time(text: str) -> str:
    """Return a text of the same length without the run time: its declarations, and all from its definitions on."""
    declared = re.search(r"#ifndef WS\d*_RUNTIME_H\n", text)
    if declared is not None:
        depth, end = 0, len(text)
        for found in re.compile(r"^#(if|endif).*$", re.M).finditer(text, declared.start()):
            depth += 1 if found[1] == "if" else -1
            if depth == 0:
                end = found.end()
                break
        start = text.rindex(_RUN_TIME, 0, declared.start())
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text.split(_RUN_TIME)[0]


def draw(port: Port, count: int, seed: str) -> tuple[Mutant, ...]:
    """Return up to `count` mutants, the classes in turn; those of a smaller count come first."""
    by_class: dict[str, list[Mutant]] = {}
    for mutant in mutants(port):
        by_class.setdefault(mutant.kind, []).append(mutant)
    chance = random.Random(seed)
    for group in by_class.values():
        chance.shuffle(group)
    kinds = list(by_class)
    chance.shuffle(kinds)
    drawn: list[Mutant] = []
    while len(drawn) < count and any(by_class.values()):
        for kind in kinds:
            if by_class[kind]:
                drawn.append(by_class[kind].pop(0))
    return tuple(drawn[:count])


# --- device text


def _bodies(text: str, head: str) -> Iterator[tuple[int, int]]:
    """Yield where the bodies of functions lie whose head matches."""
    for found in re.finditer(head, text):
        start = text.find("{", found.end())
        depth = 0
        for at in range(start, len(text)):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            if depth == 0:
                yield start, at
                break


def _within(text: str, head: str, swaps: list[tuple[str, str]]) -> Iterator[Edit]:
    for start, end in _bodies(text, head):
        for pattern, new in swaps:
            for found in re.compile(pattern, re.M).finditer(text, start + 1, end):
                yield found.start(), found.end(), found.expand(new)


_KERNEL = r"__(global|device)__ [^;{]*(?=\{)"
_KERNEL_SWAPS = [
    (r" \+ (?=[\w(])", " - "),
    (r" - (?=[\w(])", " + "),
    (r" \* (?=[\w(])", " + "),
    (r" / (?=[\w(])", " * "),
    (r"(?<=\w) < (?=\w)", " <= "),
    (r"(?<=\w) < (?=\w)", " + 1 < "),
    (r"(?<=\w) <= (?=\w)", " < "),
    (r"(?<=\w) > (?=\w)", " >= "),
    (r"= 0; ", "= 1; "),
    (r"\[(\w+)\]", r"[\1 + 1]"),
    (r"\[(\w+) - 1\]", r"[\1]"),
    (r"\[(\w+) \+ 1\]", r"[\1]"),
    (r"\[(\w+)\]\[(\w+)\]", r"[\2][\1]"),
    (r"\+= ", "= "),
    (r"\+= ", "-= "),
    (r"if \([^()]*\)(?= *\{?\n)", "if (true)"),
    (r"^( *)[\w\[\]+\-* ]+ [+\-*]?= [^;{}]*;(?= *\n)", r"\1;"),
    (r"\b(double|float|int) (\w+) = (?!block|thread)[^;()]*;", r"\1 \2;"),
    (r"__syncthreads\(\);", ";"),
    (r"atomicAdd\((&?[^,;]+), ([^;]*)\);", r"*(\1) += \2;"),
    (r"\b(\d+\.\d+)\b", r"(\1 + 0.5)"),
]


def _kernel(text: str) -> Iterator[Edit]:
    yield from _within(text, _KERNEL, _KERNEL_SWAPS)


_TYPE_SWAPS = [
    (r"\bdouble (?=\w+(;| =|,))", "float "),
    (r"(?<=[\w\]]) = ([^=;{}]*[a-z][^=;{}]*);(?= *\n)", r" = (float)(\1);"),
    (r"(?<=[\w\]]) = ([^=;{}]*[a-z][^=;{}]*);(?= *\n)", r" = (int)(\1);"),
    (r"\+= ([^=;{}]*);(?= *\n)", r"+= (int)(\1);"),
    (r"\bfloat (?=\w+(;| =))", "int "),
    (r"\bint (?=\w+(;| =))", "unsigned "),
    (r"\bint (?=\w+ = block)", "signed char "),
    (r"\bint (?=\w+(;| =))", "signed char "),
    (r"\blong long (?=\w+(;| =))", "int "),
]


def _types(text: str) -> Iterator[Edit]:
    yield from _within(text, _KERNEL, _TYPE_SWAPS)
    for found in re.finditer(r"__global__ void \w+\(([^)]*)\)", text):
        for inner in re.compile(r"\b(int|long long|double) (?=\w+[,)])").finditer(text, found.start(1), found.end()):
            new = {"int": "signed char ", "long long": "int ", "double": "float "}[inner[1]]
            yield inner.start(), inner.end(), new


_LAUNCHER = r"extern \"C\" void \w+\([^;{]*(?=\{)"
_LAUNCH_SWAPS = [
    (r"\((count_\w+) \+ \d+\) / ", r"\1 / "),
    (r"\(count_(\w+) \+ (\d+)\) / (\d+)", r"(count_\1 + \2) / (2 * \3)"),
    (r"\(count_(\w+) \+ (\d+)\) / (\d+)", r"(count_\1 + \2) / \3 + 1"),
    (r"\(count_(\w+) \+ (\d+)\) / (\d+)", r"(count_\1 + \2) / \3 - 1"),
    (r"block\((\d+)", r"block(\1 / 2"),
    (r"block\((\d+)", r"block(\1 * 2"),
    (r"block\((\d+)", r"block(\1 * 8"),
    (r"<<<(\w+), (\w+)", r"<<<\2, \1"),
    (r"<<<(\w+), (\w+)", r"<<<1, \2"),
    (r"<<<(\w+), (\w+)", r"<<<\1, 1"),
    (r"const long long (count_\w+) = ([^;]*);", r"const long long \1 = (\2) - 1;"),
    (r"const long long (count_\w+) = ([^;]*);", r"const long long \1 = (\2) / 2;"),
]


def _launch(text: str) -> Iterator[Edit]:
    yield from _within(text, _LAUNCHER, _LAUNCH_SWAPS)


def _order(text: str) -> Iterator[Edit]:
    """Launches on a stream that does not wait for the default one, which copies go through."""
    for found in re.finditer(r"<<<(\w+), (\w+)>>>", text):
        first = text.find("\n// ")
        start = first + 1 if first >= 0 else 0
        head = text[start : found.start()]
        yield start, found.end(), f"{_STREAM}{head}<<<{found[1]}, {found[2]}, 0, ws_other>>>"


# --- host text


def _calls(text: str, name: str) -> Iterator[re.Match[str]]:
    return (found for found in _CALL.finditer(text) if re.fullmatch(name, found["call"]))


_LAUNCHES = r"ws_(?!device_|copy_)\w+_k\d+\w*"


def _split(arguments: str) -> list[str]:
    """Return the arguments of a call."""
    parts, depth = [""], 0
    for letter in arguments:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _host(text: str) -> Iterator[Edit]:
    launches = list(_calls(text, _LAUNCHES))
    for found in launches:
        yield found.start(), found.end(), ""
        yield found.start(), found.end(), 2 * found[0]
        arguments = _split(found["arguments"])
        for at, argument in enumerate(arguments):
            if re.fullmatch(r"\w+", argument) and not argument.endswith("_gpu"):
                changed = ", ".join([*arguments[:at], f"{argument} - 1", *arguments[at + 1 :]])
                yield found.start(), found.end(), f"{found['indent']}{found['call']}({changed});\n"
        devices = [at for at, argument in enumerate(arguments) if argument.endswith("_gpu")]
        if len(devices) > 1:
            one, other = devices[:2]
            arguments[one], arguments[other] = arguments[other], arguments[one]
            yield found.start(), found.end(), f"{found['indent']}{found['call']}({', '.join(arguments)});\n"
    every = list(_CALL.finditer(text))
    for first, second in pairwise(every):
        if first.end() == second.start():
            yield first.start(), second.end(), second[0] + first[0]


def _copies(text: str) -> Iterator[Edit]:
    every = list(_calls(text, r"ws_copy_to_(device|host)"))
    for found in every:
        arguments = _split(found["arguments"])
        turned = "ws_copy_to_host" if found["call"].endswith("device") else "ws_copy_to_device"
        exchanged = [arguments[1], arguments[0], *arguments[2:]]
        yield found.start(), found.end(), ""
        yield found.start(), found.end(), f"{found['indent']}{turned}({', '.join(exchanged)});\n"
        yield found.start(), found.end(), f"{found['indent']}{found['call']}({', '.join(exchanged)});\n"
        if found["call"].endswith("host"):
            yield from _earlier(text, found)
        for other in every:
            if other["call"] == found["call"] and other is not found:
                side = 0 if found["call"].endswith("device") else 1
                mixed = [*arguments]
                mixed[side] = _split(other["arguments"])[side]
                yield found.start(), found.end(), f"{found['indent']}{found['call']}({', '.join(mixed)});\n"


def _earlier(text: str, copy: re.Match[str]) -> Iterator[Edit]:
    """The copy back before the last launch in front of it."""
    before = [found for found in _calls(text, _LAUNCHES) if found.end() <= copy.start()]
    if before:
        start = before[-1].start()
        yield start, copy.end(), copy[0] + text[start : copy.start()]


def _extents(text: str) -> Iterator[Edit]:
    for found in re.finditer(r"long long \w+_bytes = ([^;]*);", text):
        for new in ("({0}) / 2", "({0}) - 8", "({0}) - 4", "({0}) + 8", "({0}) * 2"):
            yield found.start(1), found.end(1), new.format(found[1])
        for size in re.compile(r"sizeof\((double|float|int)\)").finditer(text, found.start(1), found.end(1)):
            other = {"double": "float", "float": "double", "int": "short"}[size[1]]
            yield size.start(), size.end(), f"sizeof({other})"
    for found in _calls(text, r"ws_copy_to_(device|host)|ws_device_acquire"):
        arguments = _split(found["arguments"])
        at = 0 if found["call"] == "ws_device_acquire" else 2
        for new in (f"({arguments[at]}) / 2", f"({arguments[at]}) - 8"):
            changed = ", ".join([*arguments[:at], new, *arguments[at + 1 :]])
            yield found.start(), found.end(), f"{found['indent']}{found['call']}({changed});\n"
    for found in re.finditer(r"\(\w+ \*\)ws_device_acquire\((\w+), ", text):
        for new in (f"{found[1]} / 2", f"{found[1]} - 8"):
            yield found.start(1), found.end(1), new


def _released(text: str) -> Iterator[Edit]:
    """Memory given back before the last launch in front."""
    for found in _calls(text, "ws_device_release"):
        yield from _earlier(text, found)


CLASSES: dict[str, tuple[bool, Callable[[str], Iterator[Edit]]]] = {
    "kernel": (True, _kernel),
    "host": (False, _host),
    "copies": (False, _copies),
    "extents": (False, _extents),
    "launch": (True, _launch),
    "order": (True, _order),
    "release": (False, _released),
    "types": (True, _types),
}
"""By name: whether its changes are in device text alone, and what finds them."""
