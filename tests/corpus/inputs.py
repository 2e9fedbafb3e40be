"""The inputs of one run of a kernel."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from warpsmith.simt.launch import Dim

__all__ = ["ANYTHING", "Inputs"]

ANYTHING = "what is read here may be anything"
"""Why a run has ended that counts as far as it went."""


class Inputs(Struct, frozen=True):
    """A `seed`, from which everything is made up, but for these `arguments`, for what memory holds at these addresses
    (`words`), and for the `grid`, of which some `blocks` are run, and of these some `lanes`. `patience`: how many times
    as many steps as others the run may take. `kinds`: how the words of an array are made, where that is not drawn."""

    seed: int
    arguments: Mapping[str, bytes] = field(default_factory=dict)
    words: Mapping[int, bytes] = field(default_factory=dict)
    grid: Dim | None = None
    blocks: tuple[int, ...] | None = None
    lanes: tuple[int, ...] | None = None
    patience: int = 1
    kinds: Mapping[int, str] = field(default_factory=dict)

    def instead(self, arguments: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return arguments with those changed that are given here; a key is a parameter and an offset into it."""
        found = dict(arguments)
        for key, word in self.arguments.items():
            name, _, offset = key.rpartition("+")
            old, at = found[name], int(offset)
            found[name] = old[:at] + word + old[at + len(word) :]
        return found
