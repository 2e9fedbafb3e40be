"""The outcomes of many programs: counted, and kept in a file so that a run that was stopped goes on where it was.

{"kind": "csmith", "seed": 10012, "word": "same", "kernels": 3, "seconds": 4.1, ...}        a line a program
"""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import asdict

from tests.random_programs.whole_programs import BAD, Outcome

__all__ = ["Outcomes"]


class Outcomes(Struct, frozen=True):
    """What came out for each seed of each kind of program; `path`: where it is kept, if it is."""

    path: Path | None = None
    known: dict[tuple[str, int], Outcome] = field(default_factory=dict)

    @classmethod
    def of(cls, path: str | None) -> Outcomes:
        """Return what the file `path` has, which need not exist; None: it is kept nowhere."""
        known: dict[tuple[str, int], Outcome] = {}
        if path is not None and Path(path).exists():
            for line in Path(path).read_text().splitlines():
                row = json.loads(line)
                key = row.pop("kind"), row.pop("seed")
                known[key] = Outcome(**row)
        return cls(Path(path) if path is not None else None, known)

    def collect(self, kind: str, seeds: Iterable[int], judged: Callable[[int], Outcome]) -> list[str]:
        """Judge the seeds that are not known yet; return in words what is bad among all of them."""
        bad: list[str] = []
        for seed in seeds:
            if (kind, seed) not in self.known:
                self.known[kind, seed] = outcome = judged(seed)
                self._keep(kind, seed, outcome)
            if self.known[kind, seed].word in BAD:
                bad.append(f"{kind} {seed}: {self.known[kind, seed]}")
        return bad

    def summary(self, kind: str) -> str:
        """Return how many programs ended in which way, and how long they took."""
        found = [outcome for (one, _), outcome in self.known.items() if one == kind]
        words = dict(Counter(outcome.word for outcome in found).most_common())
        verdicts = dict(Counter(outcome.verdict for outcome in found if outcome.verdict).most_common())
        seconds = [outcome.seconds for outcome in found] or [0.0]
        times = f"median {statistics.median(seconds):.1f} s, longest {max(seconds):.1f} s"
        return f"{kind}: {len(found)} programs {words}, referee {verdicts}, {times}"

    def _keep(self, kind: str, seed: int, outcome: Outcome) -> None:
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps({"kind": kind, "seed": seed, **asdict(outcome)}) + "\n")
