"""Random loops that reduce: operation × type × form × condition × nesting, as one C program that prints all results."""

from __future__ import annotations

import random

from msgspec import Struct

__all__ = ["ReductionLoop", "random_loops", "render"]

SIZES = (0, 1, 31, 32, 33, 1000)
MOST = 100_003
_TYPES = {
    "signed char": "%d", "short": "%d", "int": "%d", "long long": "%lld", "unsigned char": "%u",
    "unsigned int": "%u", "unsigned long": "%lu", "float": "%.6g", "double": "%.14g",
}  # fmt: skip
_FLOATS = ("float", "double")
_WIDE = ("int", "unsigned int", "long long", "unsigned long", "float", "double")
_SHAPES = ("plain", "plain", "two loops", "inside", "shared", "two at once", "backwards")


class ReductionLoop(Struct, frozen=True):
    """One function: its name, its text, and how its result is printed."""

    name: str
    text: str
    format: str
    big: bool


def random_loops(seed: int, count: int) -> list[ReductionLoop]:
    """Return `count` functions `T name(int n)`."""
    source = random.Random(seed)
    return [_loop(source, number) for number in range(count)]


def render(loops: list[ReductionLoop]) -> str:
    """Return the program that calls every function with every size."""
    data = "".join(f"static {type} a_{_word(type)}[{MOST}];\n" for type in _TYPES)
    fill = "".join(
        f"        a_{_word(type)}[i] = ({type})((i * 7919L + {7 * number}) % 41 - {0 if 'unsigned' in type else 20})"
        f"{' * 0.37f' if type in _FLOATS else ''};\n"
        for number, type in enumerate(_TYPES)
    )
    calls = ""
    for loop in loops:
        for size in (*SIZES, *([MOST] if loop.big else [])):
            calls += f'    printf("{loop.name} {loop.format}\\n", {loop.name}({size}));\n'
    functions = "\n".join(loop.text for loop in loops)
    return (
        f"#include <math.h>\n#include <stdio.h>\n{data}static int key[{MOST}];\n\n{functions}\n"
        f"int main(void)\n{{\n    for (int i = 0; i < {MOST}; i++) {{\n        key[i] = (int)((i * 31L) % 97);\n{fill}"
        f"    }}\n{calls}    return 0;\n}}\n"
    )


def _word(type: str) -> str:
    return type.replace(" ", "_")


def _loop(source: random.Random, number: int) -> ReductionLoop:
    name, big = f"f{number}", source.random() < 0.15
    shape = source.choice(_SHAPES)
    kind = source.choice(("sum", "sum", "product", "extreme", "bits", "truth", "place"))
    if shape == "shared" and kind in ("truth", "place"):
        kind = "sum"
    types = list(_TYPES) if shape != "shared" else list(_WIDE)
    if kind == "bits":
        types = [t for t in types if t not in _FLOATS]
    type = source.choice(types) if kind != "truth" else "int"
    index = {"two loops": "(r * n + i) % n", "inside": "(i + r) % n"}.get(shape, "i")
    value = f"a_{_word(type)}[{index}]"
    if shape == "shared":
        return ReductionLoop(name, _shared(source, name, (kind, type, value)), _TYPES[type].replace("14", "6"), big)
    update = _update(source, kind, ("s", type, value), index)
    start = {"product": "1", "truth": str(source.randrange(2))}.get(kind, "3")
    body = _nest(shape, update, f"s2 {'+=' if type in _FLOATS else '^='} key[i];")
    result = "s + s2" if shape == "two at once" else "s"
    place = "    int at = -1;\n" if kind == "place" else ""
    result = f"({type})(({result}) * 2 + at)" if kind == "place" else f"({type})({result})"
    text = (
        f"static {type} {name}(int n)\n{{\n    {type} s = {start};\n"
        + (f"    {type} s2 = 1;\n" if shape == "two at once" else "")
        + f"{place}{body}    return {result};\n}}\n"
    )
    return ReductionLoop(name, text, _TYPES[type], big and shape != "two loops")


def _nest(shape: str, update: str, second: str) -> str:
    match shape:
        case "two loops":
            return f"    for (int r = 0; r < 5; r++)\n        for (int i = 0; i < n; i++)\n            {update}\n"
        case "inside":
            return (
                "    for (int i = 0; i < n; i++) {\n        if (key[i] == 13)\n            continue;\n"
                f"        for (int r = 0; r < 3; r++)\n            {update}\n    }}\n"
            )
        case "two at once":
            return f"    for (int i = 0; i < n; i++) {{\n        {update}\n        {second}\n    }}\n"
        case "backwards":
            return f"    for (int i = n - 1; i >= 0; i -= 2)\n        {update}\n"
        case _:
            return f"    for (int i = 0; i < n; i++)\n        {update}\n"


def _update(source: random.Random, kind: str, what: tuple[str, str, str], index: str) -> str:
    target, type, value = what
    condition = source.choice((f"key[{index}] % 3 == 0", f"key[{index}] > 50"))
    match kind:
        case "sum":
            forms = [f"{target} += {value};", f"{target} = {value} + {target};", f"{target} -= {value};"]
            forms += [f"if ({condition})\n                {target} += {value};", f"{target}++;"]
        case "product":
            forms = [f"{target} *= {value} > 0 ? 1 : -1;", f"{target} = {target} * ({condition} ? 1 : 3 - 2);"]
            forms += [f"{target} *= 3;"] if "unsigned" in type else []
        case "extreme":
            forms = [
                f"if ({value} > {target}) {target} = {value};",
                f"{target} = {value} < {target} ? {value} : {target};",
            ]
            forms += [f"{target} = {target} > {value} ? {target} : {value};"]
            if type in _FLOATS:
                function = "fmin" if type == "double" else "fmaxf"
                forms.append(f"{target} = {function}({target}, {value});")
        case "bits":
            forms = [f"{target} {op}= {value};" for op in "&|^"] + [f"{target} = {target} ^ {value};"]
        case "place":
            sign = source.choice(("<", ">", "<=", ">="))
            forms = [f"if ({value} {sign} {target}) {{ {target} = {value}; at = i; }}"]
        case _:
            forms = [f"{target} = {target} || {condition};", f"{target} = {target} && !({condition});"]
    return source.choice(forms)


def _shared(source: random.Random, name: str, what: tuple[str, str, str]) -> str:
    """A histogram: which element an iteration updates is data."""
    kind, type, value = what
    update = _update(source, kind, ("h[key[i] & 15]", type, value), "i")
    return (
        f"static {type} {name}(int n)\n{{\n    {type} h[16], s = 0;\n"
        "    for (int j = 0; j < 16; j++)\n        h[j] = 1;\n"
        f"    for (int i = 0; i < n; i++)\n        {update}\n"
        "    for (int j = 0; j < 16; j++) {\n        s = s * 3 + h[j];\n"
        "        if (s > 1000)\n            s = s / 7;\n    }\n"
        "    return s;\n}\n"
    )
