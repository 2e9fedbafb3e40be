"""Bundles and fetches of a thread become cycles and threads a second, as Stream KernelAnalyzer counted.

    cycles      of 16 threads' worth of units: bundles · 16 / units, or fetches · 16 / texture units, whichever is more
    threads/s   16 · clock / cycles

Limits: no memory, no latency, no registers: what the units could do at best.
"""

from __future__ import annotations

from fractions import Fraction

__all__ = ["cycles_of", "mega_threads"]


def cycles_of(bundles: int, fetches: int, units: int, texture_units: int) -> Fraction:
    """Return the cycles of a thread.

    >>> cycles_of(10, 2, 64, 16), cycles_of(2, 3, 64, 16)
    (Fraction(5, 2), Fraction(3, 1))
    """
    return max(Fraction(16 * bundles, units), Fraction(16 * fetches, texture_units))


def mega_threads(cycles: Fraction, clock_mhz: int) -> float:
    """Return millions of threads a second.

    >>> mega_threads(Fraction(5, 2), 775), round(mega_threads(Fraction(11, 2), 775))
    (4960.0, 2255)
    """
    return float(16 * clock_mhz / cycles) if cycles else 0.0
