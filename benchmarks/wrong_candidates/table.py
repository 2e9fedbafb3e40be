"""The table of a campaign, by class, and what judge and referee do not agree on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.wrong_candidates.campaign import CORRECT, Result
from benchmarks.wrong_candidates.changes import CLASSES

__all__ = ["disagreements", "table"]

_WRONG = ("differs", "crashes", "hangs")
_RIGHT = ("same", "rounding")


def table(results: Sequence[Result]) -> Iterator[str]:
    """Yield the lines: of the mutants that differ, and of those that do not, what the referee says of them."""
    yield f"{'':10}{'':7}{'':7}  {'differ':>30}  {'do not differ':>30}"
    yield f"{'class':10}{'made':>7}{'built':>7}  {_head('rejected', 'accepted')}  {_head('accepted', 'rejected')}"
    for kind in [*CLASSES, "mutants", CORRECT]:
        rows = [r for r in results if r.kind == kind or (kind == "mutants" and r.kind != CORRECT)]
        built = [r for r in rows if r.fate in (*_WRONG, *_RIGHT)]
        wrong = _words([r for r in built if r.fate in _WRONG], ("fail", "pass"))
        right = _words([r for r in built if r.fate in _RIGHT], ("pass", "fail"))
        yield f"{kind:10}{len(rows):>7}{len(built):>7}  {wrong}  {right}"


def _head(first: str, last: str) -> str:
    return f"{'all':>5}{first:>9}{'open':>6}{last:>10}"


def _words(rows: Sequence[Result], ends: tuple[str, str]) -> str:
    counts = Counter(r.word for r in rows)
    first, last = (counts[end] for end in ends)
    return f"{len(rows):>5}{first:>9}{len(rows) - first - last:>6}{last:>10}"


def disagreements(results: Sequence[Result]) -> Iterator[str]:
    """Yield what is accepted though it differs, rejected though it does not, and why words stay open."""
    for title, fates, word in (("accepted, differs", _WRONG, "pass"), ("rejected, does not differ", _RIGHT, "fail")):
        for r in results:
            if r.fate in fates and r.word == word:
                yield f"{title}: {r.program} | {r.key}"
                shown = "shown" if r.shows else "memory"
                yield f"    judge: {r.fate} {r.where} ({shown}); referee: {r.reason}"
    reasons = Counter((r.fate in _WRONG, r.reason.split(" ")[0]) for r in results if r.word not in ("pass", "fail", ""))
    for (wrong, reason), count in sorted(reasons.items()):
        yield f"open, {'differs' if wrong else 'does not differ'}: {count} by {reason or 'time'}"
    for r in results:
        if r.fate == "unjudged":
            yield f"not judged: {r.program}: {r.where}"
