"""Fingerprints of findings that do not depend on lines: rule, kernel, subject, and a number among equal ones."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from warpsmith.analysis.rules.finding import KernelFinding

__all__ = ["fingerprints"]

_REGISTER: Final = re.compile(r"%[a-z]+\d+|\$L\w+")


def fingerprints(signature: str, findings: Iterable[KernelFinding]) -> list[str]:
    """Return the fingerprint of each finding of one kernel.

    Registers and labels of PTX are numbered anew by every compilation: their names do not count.
    """
    seen: Counter[tuple[str, str]] = Counter()
    result: list[str] = []
    for finding in findings:
        subject = _REGISTER.sub("%", " ".join(finding.subject.split()))
        seen[finding.rule, subject] += 1
        words = "\0".join((finding.rule, signature, subject, str(seen[finding.rule, subject])))
        result.append(hashlib.sha256(words.encode("utf-8", "surrogateescape")).hexdigest()[:20])
    return result
