"""What an earlier survey found out about a file, kept until anything that it was found from changes.

    KEY.json   (first line: the hash of the rest)
               files    every file that the parser read, with the hash of its content
               exports  what the file tells the others
               found    answers, each under the hash of what the file was told

KEY is made of the file's name, its options, what the survey may do, and warpsmith's own sources. A record that cannot
be read, or is not ours, counts as none. Writing is a rename: who reads at the same time gets the old one or the new.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import warpsmith
from warpsmith.front.inputs import Source
from warpsmith.front.system_headers import system_arguments
from warpsmith.survey.unit import SurveyLimits
from warpsmith.tree.plain import Plain

__all__ = ["Cache", "Record", "default_cache", "fingerprint"]

KEPT = 12
"""So many answers of each kind are kept for one file; more come from branches that somebody switches between."""


def default_cache() -> Path:
    """Return the folder for records of surveys."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "warpsmith" / "survey"


def fingerprint(plain: Plain) -> str:
    """Return the hash of plain data."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=True).encode()).hexdigest()[:32]


@dataclass(slots=True)
class Record:
    """What is known of one file; `changed`: there is something to write, `settled`: and it will still be true."""

    key: str
    files: dict[str, str] = field(default_factory=dict)
    exports: Mapping[str, Plain] | None = None
    found: dict[str, Plain] = field(default_factory=dict)
    changed: bool = False
    settled: bool = True

    def put(self, question: str, answer: Plain) -> None:
        """Keep an answer; the oldest ones go."""
        self.found.pop(question, None)
        self.found[question] = answer
        while len(self.found) > KEPT:
            del self.found[next(iter(self.found))]
        self.changed = True


# what a file tells the others: a record without it was written while the sources of warpsmith were being changed
_EXPORTED = frozenset({
    "files", "loops", "functions", "writes", "named", "outside", "library", "escaped", "main", "references", "seen",
    "shared", "taken", "mentioned", "warnings", "lines",
})  # fmt: skip


class Cache:
    """The records below one folder (None: nothing is kept)."""

    def __init__(self, folder: Path | None, limits: SurveyLimits) -> None:
        self._folder = folder
        self._limits = fingerprint([_limits(limits), own_version(), list(system_arguments())])
        self._hashes: dict[str, str | None] = {}
        self._started = time.time()

    def load(self, source: Source) -> Record:
        """Return what is known of a file: an empty record where that is nothing, or no longer true."""
        key = fingerprint([self._limits, str(Path(source.path).absolute()), list(source.arguments), source.language])
        plain = self._plain(key)
        match plain:
            case {"key": str(own), "files": dict(files), "exports": dict(exports), "found": dict(found)} if own == key:
                named = {str(path): str(content) for path, content in files.items()}
                whole = exports.keys() >= _EXPORTED and bool(named)
                if whole and all(self.content(path) == content for path, content in named.items()):
                    return Record(key, named, exports, cast(dict[str, Plain], found))
            case _:
                pass
        return Record(key)

    def content(self, path: str) -> str | None:
        """Return the hash of a file's content, None where it cannot be read."""
        if path not in self._hashes:
            try:
                self._hashes[path] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            except OSError:
                self._hashes[path] = None
        return self._hashes[path]

    def renew(self, record: Record, exports: Mapping[str, Plain]) -> None:
        """Note what reading a file anew has shown."""
        hashes = {str(path): self.content(str(path)) for path in cast(list[str], exports["files"])}
        # what changes while we read may not be what was read
        record.exports, record.found, record.changed = exports, {}, True
        record.settled = all(map(self._is_settled, hashes))
        record.files = {path: content for path, content in hashes.items() if content is not None}

    def _is_settled(self, path: str) -> bool:
        try:
            return self.content(path) is not None and Path(path).stat().st_mtime < self._started
        except OSError:
            return False

    def save(self, record: Record) -> None:
        """Write a record that has changed; a cache that cannot be written is no error."""
        wanted = record.changed and record.settled and record.exports is not None
        if self._folder is None or not wanted:
            return
        text = json.dumps(
            {"key": record.key, "files": record.files, "exports": record.exports, "found": record.found},
            separators=(",", ":"),
        )
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self._folder, suffix=".new", delete=False) as file:
                file.write(f"{_seal(text)}\n{text}")
            Path(file.name).replace(self._place(record.key))

    def _place(self, key: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{key}.json"

    def _plain(self, key: str) -> object:
        if self._folder is None:
            return None
        try:
            seal, _, text = self._place(key).read_text("utf-8").partition("\n")
            return json.loads(text) if seal == _seal(text) else None
        except (OSError, ValueError, RecursionError):
            return None


def _seal(text: str) -> str:
    """Return what the first line of a record says of the rest, so that a damaged one is known."""
    return hashlib.sha256(text.encode()).hexdigest()


def _limits(limits: SurveyLimits) -> Plain:
    """Return what decides over the answers, as plain data."""
    front, poly = limits.front, limits.poly
    table = sorted(repr(_stable(entry)) for entry in front.effects.functions.values())
    granted: list[Plain] = [[a.text, a.kind] for a in poly.granted]
    tried: Plain = [limits.steps.loops, limits.steps.references]
    others: list[Plain] = [front.node_limit, list(front.arguments), front.language, tried]
    return [others, list(table), poly.guards, granted, poly.max_operations, poly.described, poly.claims]


def _stable(entry: object) -> list[str]:
    """Return a table's entry with its sets in order."""
    values = ((name, getattr(entry, name)) for name in getattr(entry, "__dataclass_fields__", ()))
    return [f"{n}={sorted(map(str, v)) if isinstance(v, frozenset) else v!r}" for n, v in values]


@functools.cache
def own_version() -> str:
    """Return the hash of warpsmith's sources and the versions of what it reasons with."""
    digest = hashlib.sha256()
    root = Path(warpsmith.__file__).parent
    for path in sorted(p for p in root.rglob("*") if p.suffix in (".py", ".toml", ".h") and p.is_file()):
        digest.update(f"{path.relative_to(root)}\0".encode())
        digest.update(path.read_bytes())
    for name in ("islpy", "libclang"):
        digest.update(importlib.metadata.version(name).encode())
    return digest.hexdigest()
