"""Changes of files as a patch series that `git apply` and `git am` take.

    0001-run-time.patch      Subject: [PATCH 1/2] run time of the ported loops
                             diff --git a/warpsmith/runtime.cu b/warpsmith/runtime.cu
                             new file mode 100644 …
    0002-src-solver.c.patch  …

Invariant: applied in order to the tree that they were made from, the patches give the new bytes, whatever the line ends
and the encoding; a file that does not change is not named. Bytes are held one character each (see base/source.py).
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

__all__ = ["FileChange", "Patch", "find_patch_root", "join_patches", "name_content", "patch_name", "series_texts"]


class FileChange(Struct, frozen=True):
    """A file before and after; `path` is relative to the project's root, `before` is None for a new file, `after` for
    one that goes away."""

    path: str
    before: str | None
    after: str | None
    executable: bool = False


class Patch(Struct, frozen=True):
    """One step of a series."""

    subject: str
    body: str
    changes: tuple[FileChange, ...]


def find_patch_root(root: str) -> str:
    """Return the folder that the paths in patches for the project at `root` start from: that of the checkout around it,
    since git passes over, without a word, what it does not find from there; without one, `root`."""
    around = [Path(root), *Path(root).parents]
    return str(next((folder for folder in around if (folder / ".git").exists()), Path(root)))


def series_texts(patches: Sequence[Patch], signature: str, below: str = "") -> list[str]:
    """Return the text of every patch that changes something, as mails that `git am` takes as well; `below` is what
    stands before every path, "" or a folder with its slash."""
    real = [patch for patch in patches if any(c.before != c.after for c in patch.changes)]
    moved = [replace(p, changes=tuple(replace(c, path=f"{below}{c.path}") for c in p.changes)) for p in real]
    return [_mail(patch, number, len(real), signature) for number, patch in enumerate(moved, start=1)]


def join_patches(patches: Sequence[Patch], subject: str) -> Patch:
    """Return one patch that does what a series does, with each file once: `git apply -R` takes back what is changed in
    several steps of one input in the order of the steps, and leaves the first."""
    changes: dict[str, FileChange] = {}
    for change in (change for patch in patches for change in patch.changes):
        first = changes.get(change.path)
        changes[change.path] = change if first is None else replace(first, after=change.after)
    bodies = (f"{patch.subject}\n{patch.body}" for patch in patches)
    return Patch(subject, "\n\n".join(bodies), tuple(changes.values()))


def patch_name(number: int, text: str) -> str:
    """Return the file name of the patch with this number."""
    subject = re.search(r"^Subject: \[PATCH[^]]*\] (.*)$", text, re.MULTILINE)
    words = re.sub(r"[^A-Za-z0-9.]+", "-", subject[1] if subject else "patch").strip("-.")
    return f"{number:04}-{words[:52].rstrip('-.')}.patch"


def _mail(patch: Patch, number: int, count: int, signature: str) -> str:
    lines = [
        f"From {'0' * 40} Mon Sep 17 00:00:00 2001",
        "From: warpsmith <warpsmith@localhost>",
        f"Subject: [PATCH {number}/{count}] {patch.subject}",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=UTF-8",
        "Content-Transfer-Encoding: 8bit",
        "",
        patch.body,
        "---",
    ]
    diffs = "".join(_diff(change) for change in patch.changes if change.before != change.after)
    return "\n".join(lines) + "\n" + diffs + f"--\n{signature}\n"


def _diff(change: FileChange) -> str:
    a, b = _quote(f"a/{change.path}"), _quote(f"b/{change.path}")
    mode = "100755" if change.executable else "100644"
    hashes = f"index {_blob(change.before)}..{_blob(change.after)}"
    head = [f"diff --git {a} {b}"]
    if change.before is None:
        head += [f"new file mode {mode}", hashes]
    elif change.after is None:
        head += [f"deleted file mode {mode}", hashes]
    else:
        head.append(f"{hashes} {mode}")
    if not change.before and not change.after:
        return "\n".join(head) + "\n"
    # a name with a blank ends in a tab, as git writes it
    tab = "\t" if " " in change.path else ""
    names = ["/dev/null" if change.before is None else a + tab, "/dev/null" if change.after is None else b + tab]
    hunks = "".join(_hunks(_lines(change.before or ""), _lines(change.after or "")))
    return "\n".join([*head, f"--- {names[0]}", f"+++ {names[1]}"]) + "\n" + hunks


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    for line in list(difflib.unified_diff(old, new, lineterm="\n"))[2:]:
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    pieces = text.split("\n")
    return [piece + "\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def _blob(text: str | None) -> str:
    return "0" * 40 if text is None else name_content(text)


def name_content(text: str) -> str:
    """Return how git names the content of a file."""
    data = text.encode("latin-1")
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _quote(path: str) -> str:
    if all(c.isprintable() and c not in '"\\' and c.isascii() for c in path):
        return path
    plain = b" !#$%&'()*+,-./:;<=>?@[]^_`{|}~"
    words = (chr(b) if (chr(b).isalnum() and b < 0x80) or b in plain else f"\\{b:03o}" for b in os.fsencode(path))
    return f'"{"".join(words)}"'
