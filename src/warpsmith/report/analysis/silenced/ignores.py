"""Comments that silence the findings that there are, each with a reason still to be written.

// warpsmith: ignore[MEM010] TODO: say why
out[i] = tile[threadIdx.x][threadIdx.y];
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warpsmith.base.source import Edit, SourceFile, Span
from warpsmith.report.analysis.model import Reported
from warpsmith.report.analysis.silenced.suppressions import PLACEHOLDER

__all__ = ["can_ignore", "ignores"]


def ignores(file: SourceFile, findings: Iterable[Reported]) -> Iterator[Edit]:
    """Yield a comment above every line of `file` that some findings are on."""
    lines: dict[int, set[str]] = {}
    for one in findings:
        span = one.finding.span
        if span is not None and can_ignore(file, one):
            lines.setdefault(span.line, set()).add(one.finding.rule)
    end = "\r\n" if "\r\n" in file.text else "\n"
    for line, codes in sorted(lines.items()):
        text = file.line(line)
        indent = text[: len(text) - len(text.lstrip())]
        start = file.offset(line)
        comment = f"{indent}// warpsmith: ignore[{', '.join(sorted(codes))}] {PLACEHOLDER}{end}"
        yield Edit(Span(file, start, start), comment)


def can_ignore(file: SourceFile, one: Reported) -> bool:
    """Whether a line above a finding may be a comment: it has a place in the file, not below a line that goes on."""
    span = one.finding.span
    if span is None or span.file.path != file.path or span.line > file.line_count:
        return False
    return span.line == 1 or not file.line(span.line - 1).rstrip().endswith("\\")
