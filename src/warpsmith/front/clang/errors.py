"""What clang says is wrong with a text that it has parsed."""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.front.clang.kinds import SEVERITY_ERROR
from warpsmith.front.clang.libclang import Library
from warpsmith.front.clang.wire import Diagnostic

__all__ = ["find_errors"]


def find_errors(library: Library, unit: int, *, notes: bool = False) -> list[Diagnostic]:
    """Return the errors of a parsed text, each with its notes where they are asked for."""
    found: list[Diagnostic] = []
    for number in range(library.getNumDiagnostics(unit)):
        diagnostic = library.getDiagnostic(unit, number)
        severity = library.getDiagnosticSeverity(diagnostic)
        if severity >= SEVERITY_ERROR:
            handle, line, offset = library.place(library.getDiagnosticLocation(diagnostic))
            file = library.path(handle) if handle else ""
            message = library.text(library.getDiagnosticSpelling(diagnostic))
            lines = [message, *(_notes(library, diagnostic) if notes else ())]
            found.append((severity, "\n".join(lines), file, line, offset))
        library.disposeDiagnostic(diagnostic)
    return found


def _notes(library: Library, diagnostic: int) -> Iterator[str]:
    """Yield what clang adds to a diagnostic, each with the file that it is about."""
    notes = library.getChildDiagnostics(diagnostic)
    for number in range(library.getNumDiagnosticsInSet(notes)):
        note = library.getDiagnosticInSet(notes, number)
        handle, line, _ = library.place(library.getDiagnosticLocation(note))
        yield f"{library.path(handle) if handle else ''}:{line}: {library.text(library.getDiagnosticSpelling(note))}"
        library.disposeDiagnostic(note)
