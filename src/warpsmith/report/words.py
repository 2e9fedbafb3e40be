"""Words for one thing in several vocabularies: `--words nvidia|amd|intel|001`, and what `explain` says of each of them.

The table is vocabulary.toml. Texts are made with these words, not changed afterwards; a text asks for a thing by its
name in the table: `words.one("warp")`, `words.many("lane")`, `words.count(3, "block")`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final, Literal, get_args

from msgspec import Struct

__all__ = [
    "DOCUMENT",
    "NVIDIA",
    "VOCABULARIES",
    "Speech",
    "Thing",
    "Vocabulary",
    "called",
    "load_things",
    "thing_text",
]

Vocabulary = Literal["nvidia", "amd", "intel", "001"]
VOCABULARIES: Final[tuple[Vocabulary, ...]] = get_args(Vocabulary)
_TITLES: Final[Mapping[Vocabulary, str]] = {
    "nvidia": "NVIDIA", "amd": "AMD", "intel": "Intel", "001": "document 001",
}  # fmt: skip


class Thing(Struct, frozen=True):
    """A thing: what it is; the word and its plural in each vocabulary that has one, and others that mean the same."""

    name: str
    what: str
    words: Mapping[Vocabulary, tuple[str, str]]
    also: Mapping[Vocabulary, tuple[str, ...]]

    def called(self, vocabulary: Vocabulary) -> tuple[str, ...]:
        """Return all words for it in a vocabulary."""
        return (*self.words.get(vocabulary, ("",))[:1], *self.also.get(vocabulary, ()))


class Speech(Struct, frozen=True):
    """A vocabulary; what it has no word for is called as NVIDIA calls it."""

    vocabulary: Vocabulary

    def one(self, thing: str) -> str:
        """Return the word for a thing."""
        return self._pair(thing)[0]

    def many(self, thing: str) -> str:
        """Return the word for several."""
        return self._pair(thing)[1]

    def count(self, number: int, thing: str) -> str:
        """Return a number of things, in words."""
        return f"{number:,} {self._pair(thing)[number != 1]}"

    def _pair(self, thing: str) -> tuple[str, str]:
        words = load_things()[thing].words
        return words.get(self.vocabulary) or words["nvidia"]


NVIDIA: Final = Speech("nvidia")
DOCUMENT: Final = Speech("001")


@cache
def load_things() -> dict[str, Thing]:
    """Return every thing that has words, by its name."""
    rows = tomllib.loads(resources.files("warpsmith.report").joinpath("vocabulary.toml").read_text("utf-8"))
    found = {}
    for name, row in rows.items():
        words = {one: (row[one][0], row[one][1]) for one in VOCABULARIES if one in row}
        also = row.get("also", {})
        found[name] = Thing(name, row["what"], words, {one: tuple(also[one]) for one in VOCABULARIES if one in also})
    return found


def called(word: str) -> tuple[Thing, ...]:
    """Return the things that a word means, in one vocabulary or another."""
    asked = _plain(word)
    return tuple(
        thing
        for thing in load_things().values()
        if asked in {_plain(thing.name), *(_plain(p) for pair in thing.words.values() for p in pair)}
        or any(asked == _plain(other) for others in thing.also.values() for other in others)
    )


def _plain(word: str) -> str:
    return " ".join(word.lower().replace("-", " ").replace("_", " ").split())


def thing_text(thing: Thing) -> str:
    """Return what a thing is called, vocabulary by vocabulary."""
    parts = [f"{_TITLES[one]}: {', '.join(word for word in thing.called(one) if word)}" for one in VOCABULARIES
             if one in thing.words]  # fmt: skip
    return ". ".join(parts) + "."
