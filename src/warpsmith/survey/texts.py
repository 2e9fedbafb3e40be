"""Records of functions as text: one JSON text a function, read only by who needs that function.

    {"f": '[["f", …], …]', "g": '[["g", …], …]'}    ◄──►    ["f","g"] TAB [["f", …], …] TAB [["g", …], …]

A compact JSON text holds neither a tab nor the end of a line, so that a whole table is one line. Two functions are the
same where their texts are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import cast

from warpsmith.tree.plain import Plain

__all__ = ["Texts", "compact", "fingerprint", "join_texts", "plain_of", "split_texts"]

Texts = Mapping[str, str]


def compact(plain: Plain) -> str:
    """Return plain data as one line."""
    return json.dumps(plain, separators=(",", ":"))


def plain_of(text: str) -> Plain:
    """Return the plain data of a line; raises ValueError where it is none."""
    return cast(Plain, json.loads(text))


def fingerprint(plain: Plain) -> str:
    """Return the hash of plain data."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=True).encode()).hexdigest()[:32]


def join_texts(texts: Texts) -> str:
    """Return a table of functions as one line."""
    return "\t".join([compact(list(texts)), *texts.values()])


def split_texts(line: str) -> dict[str, str]:
    """Return the table of a line; raises ValueError where it is none of ours."""
    first, *rest = line.split("\t")
    match plain_of(first):
        case list(keys):
            return dict(zip(map(str, keys), rest, strict=True))
        case _:
            raise ValueError("not a table of ours")
