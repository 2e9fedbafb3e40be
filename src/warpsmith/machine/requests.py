"""The cost of one warp request in the memories of a GPU, given the address of each lane: arithmetic on numbers.

    sectors     32-byte sectors that the addresses touch                                global memory, caches
    bank_ways   passes through 32 banks of 4 bytes: the most different words of a bank   shared memory
    words       different words, fetched one after the other                            constant memory

A request of 8 bytes a lane goes in two phases, of half a warp each, one of 16 bytes in four, of a quarter: banks are
counted in each phase alone, and the worst phase counts. Lanes that ask for one word share it. Not measured on a GPU.
    16 bytes   conflicts are between threads of one phase, 0-7, 8-15 …: NVIDIA, "cuTENSOR: High-performance tensor
               operations in CUDA", GTC 2019, S9593. They take 4 passes, or 2 where pairs of lanes share an address:
               NVIDIA developer forum, "Unexpected shared memory bank conflict", 77228
    8 bytes    the same with halves, which is our reading of "one register a cycle" in the answer named above; what
               `conflicts_however_split` confirms holds for any other way of splitting it as well
A word of constant memory that several lanes ask for is fetched once (CUDA C++ Best Practices Guide, constant memory).
Local memory is interleaved: the word at one offset of all lanes of a warp is one run of 128 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = [
    "BANKS", "SECTOR", "WORD", "bank_ways", "conflicts_however_split", "loads", "local_sectors", "phases", "sectors",
    "words",
]  # fmt: skip

SECTOR: Final = 32
BANKS: Final = 32
WORD: Final = 4

Addresses = Mapping[int, int]
"""Lane → the address of its first byte."""


def sectors(addresses: Addresses, size: int) -> int:
    """Return how many sectors `size` bytes a lane touch.

    >>> sectors({lane: 4 * lane for lane in range(32)}, 4), sectors({0: 30}, 4)
    (4, 2)
    """
    return len({s for a in addresses.values() for s in range(a // SECTOR, (a + size - 1) // SECTOR + 1)})


def words(addresses: Addresses, size: int) -> int:
    """Return how many different words lanes ask for; what is wider than a word comes at once.

    >>> words({lane: 4 * (lane // 8) for lane in range(32)}, 4), words({lane: 64 for lane in range(32)}, 8)
    (4, 1)
    """
    return len({a // max(size, WORD) for a in addresses.values()})


def bank_ways(addresses: Addresses, size: int) -> int:
    """Return how many passes the worst phase of a request needs.

    >>> bank_ways({lane: 8 * lane for lane in range(32)}, 4), bank_ways({lane: 8 * lane for lane in range(32)}, 8)
    (2, 1)
    """
    return max((max(loads(part, size)) for part in phases(addresses, size)), default=0)


def phases(addresses: Addresses, size: int) -> list[Addresses]:
    """Return the parts in which a request goes to the banks."""
    lanes = 32 if size <= WORD else 16 if size <= 2 * WORD else 8
    parts: dict[int, dict[int, int]] = {}
    for lane, address in addresses.items():
        parts.setdefault(lane // lanes, {})[lane] = address
    return list(parts.values())


def loads(addresses: Addresses, size: int) -> list[int]:
    """Return how many different words are asked of each bank."""
    touched = {w for a in addresses.values() for w in range(a // WORD, (a + size - 1) // WORD + 1)}
    count = [0] * BANKS
    for word in touched:
        count[word % BANKS] += 1
    return count


def conflicts_however_split(addresses: Addresses, size: int) -> bool:
    """Whether a bank is asked for more words than there would be passes without conflicts, in whatever order lanes are
    served.

    >>> dense, apart = {n: 8 * n for n in range(32)}, {n: 16 * n for n in range(32)}
    >>> conflicts_however_split(dense, 8), conflicts_however_split(apart, 8)
    (False, True)
    """
    found = loads(addresses, size)
    return max(found) > -(-sum(found) // BANKS)


def local_sectors(addresses: Addresses, size: int) -> int:
    """Return how many sectors of interleaved local memory the lanes touch, each at its own offset."""
    per_sector = SECTOR // WORD
    touched = set()
    for lane, address in addresses.items():
        for word in range(address // WORD, (address + size - 1) // WORD + 1):
            touched.add((word, lane // per_sector))
    return len(touched)
