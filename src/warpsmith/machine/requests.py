"""What one warp request costs the memories of a GPU, given the address of each lane: arithmetic on numbers.

    sectors     32-byte sectors that the addresses touch                                global memory, caches
    bank_ways   passes through 32 banks of 4 bytes: the most different words of a bank   shared memory
    words       different words, fetched one after the other                            constant memory

Accesses of 8 bytes a lane go in two phases, of half a warp each, of 16 bytes in four, of a quarter: banks are counted
in each phase alone, and the worst phase counts. Lanes that ask for one word share it. (CUDA C++ Programming Guide,
compute capability 5.x and later; how wide accesses are split is in its chapter on 2.x. Not measured on a GPU.)
Local memory is interleaved: the word at one offset of all lanes of a warp is one run of 128 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["BANKS", "SECTOR", "WORD", "bank_ways", "local_sectors", "sectors", "words"]

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
    """Return how many different words `size` bytes a lane touch."""
    return len({w for a in addresses.values() for w in range(a // WORD, (a + size - 1) // WORD + 1)})


def bank_ways(addresses: Addresses, size: int) -> int:
    """Return how many passes the worst phase of a request needs.

    >>> bank_ways({lane: 8 * lane for lane in range(32)}, 4), bank_ways({lane: 8 * lane for lane in range(32)}, 8)
    (2, 1)
    """
    lanes = 32 if size <= WORD else 16 if size <= 2 * WORD else 8
    phases: dict[int, set[int]] = {}
    for lane, address in addresses.items():
        touched = range(address // WORD, (address + size - 1) // WORD + 1)
        phases.setdefault(lane // lanes, set()).update(touched)
    return max((_worst(found) for found in phases.values()), default=0)


def _worst(touched: set[int]) -> int:
    count = [0] * BANKS
    for word in touched:
        count[word % BANKS] += 1
    return max(count)


def local_sectors(addresses: Addresses, size: int) -> int:
    """Return how many sectors of interleaved local memory the lanes touch, each at its own offset."""
    per_sector = SECTOR // WORD
    touched = set()
    for lane, address in addresses.items():
        for word in range(address // WORD, (address + size - 1) // WORD + 1):
            touched.add((word, lane // per_sector))
    return len(touched)
