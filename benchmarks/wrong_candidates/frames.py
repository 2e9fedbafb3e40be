"""Arrays that lie in the frame of a function, written down where the function ends: text put into host code.

    int main() { double b[9]; … return 0; }  ->  int main() { double b[9]; … { JUDGE_STACK("main_b", b); } return 0; }

Only arrays declared at the outermost level of a function are seen, and only its last statement.
"""

from __future__ import annotations

import re

__all__ = ["with_frames"]

_HEAD = re.compile(r"^[A-Za-z_][\w \t*]*?\b(\w+)\s*\([^;{}()]*\)\s*\{", re.M)
_ARRAY = re.compile(
    r"(?:^|[;{}])\s*(?:const |static |unsigned )*(?:double|float|int|long|char|short)\s+([^;={}()]*\[[^;{}()]*\])"
)
_NAME = re.compile(r"(\w+)\s*\[")
_SKIP = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)


def with_frames(text: str) -> str:
    """Return host text in which functions tell their arrays at their end."""
    plain = _SKIP.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    pieces, at = [], 0
    for head in _HEAD.finditer(plain):
        if head.start() < at:
            continue
        close, outer = _body(plain, head.end() - 1)
        names = [name for found in _ARRAY.finditer(outer) for name in _NAME.findall(found[1])]
        place = _place(outer, plain, head.end(), close)
        if not names:
            continue
        told = "".join(f' JUDGE_STACK("{head[1]}_{name}", {name});' for name in dict.fromkeys(names))
        pieces += [text[at:place], "{", told, " } "]
        at = place
    return "".join([*pieces, text[at:]])


def _body(plain: str, start: int) -> tuple[int, str]:
    """Return where the body that starts at `start` ends, and its text with all that is nested blanked out."""
    depth, letters = 0, list[str]()
    for at in range(start, len(plain)):
        depth += {"{": 1, "}": -1}.get(plain[at], 0)
        if depth == 0:
            return at, "".join(letters)
        letters.append(
            plain[at] if depth == 1 and at > start and plain[at] != "}" else ";" if plain[at] == "}" else " "
        )
    return len(plain), "".join(letters)


def _place(outer: str, plain: str, start: int, close: int) -> int:
    """Return where to tell: before the last statement, if it is a return, else before the end."""
    last = outer.rfind("return")
    at = start - 1 + last
    return at if last >= 0 and not plain[plain.find(";", at) + 1 : close].strip() else close
