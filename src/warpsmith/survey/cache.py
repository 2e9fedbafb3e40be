"""The cache of surveys: earlier answers about a file, kept until anything that they were found from changes.

    KEY.json   the hash of the rest
               files    every file that the parser read, with the hash of its content
               exports  what the file tells the others; its functions and what they write: a line of texts each
               found    the questions: hashes of what the file was given; then a line for each answer

KEY is made of the file's name, its options, what the survey may do, and warpsmith's own sources. A record that cannot
be read, or is not ours, counts as none. Of lines that nobody asks for nothing is read. Writing is a rename: who reads
at the same time gets the old one or the new.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from msgspec import Struct, field

import warpsmith
from warpsmith.base.cache import cache_folder
from warpsmith.base.records import field_names
from warpsmith.front.clang.system_headers import system_arguments
from warpsmith.front.inputs import Source
from warpsmith.survey.limits import SurveyLimits
from warpsmith.survey.texts import Texts, compact, fingerprint, join_texts, plain_of, split_texts
from warpsmith.tree.plain import Plain

__all__ = ["Cache", "FileRecord", "default_cache"]

KEPT = 12
"""So many answers of each kind are kept for one file; more come from branches that somebody switches between."""


def default_cache() -> Path:
    """Return the folder for records of surveys."""
    return cache_folder() / "survey"


class FileRecord(Struct):
    """What is known of one file; `found`: lines by questions. `changed`: there is something to write, `settled`: and it
    will still be true."""

    key: str
    files: dict[str, str] = field(default_factory=dict)
    exports: Mapping[str, Plain] | None = None
    found: dict[str, str] = field(default_factory=dict)
    changed: bool = False
    settled: bool = True

    def get(self, question: str) -> Plain | None:
        """Return what was answered; None where nothing is remembered."""
        line = self.found.get(question)
        try:
            return None if line is None else _answer(question, line)
        except (ValueError, RecursionError):
            return None

    def put(self, question: str, answer: Plain) -> None:
        """Keep an answer; the oldest ones go."""
        self.found.pop(question, None)
        match answer:
            case {"functions": dict(functions)}:
                self.found[question] = join_texts(cast(Texts, functions))
            case _:
                self.found[question] = compact(answer)
        while len(self.found) > KEPT:
            del self.found[next(iter(self.found))]
        self.changed = True


# what a file tells the others: a record without it was written while the sources of warpsmith were being changed
_EXPORTED = frozenset({
    "files", "loops", "functions", "writes", "named", "outside", "library", "escaped", "main", "seen",
    "shared", "taken", "mentioned", "warnings", "lines",
})  # fmt: skip


_TABLES = ("functions", "writes")


class Cache:
    """The records below one folder (None: nothing is kept)."""

    def __init__(self, folder: Path | None, limits: SurveyLimits) -> None:
        self._folder = folder
        self._limits = fingerprint([_limits(limits), own_version(), list(system_arguments())])
        self._hashes: dict[str, str | None] = {}
        self._started = time.time()

    def load(self, source: Source) -> FileRecord:
        """Return what is known of a file: an empty record where that is nothing, or no longer true."""
        key = fingerprint([self._limits, str(Path(source.path).absolute()), list(source.arguments), source.language])
        try:
            head, *lines = self._lines(key)
            match plain_of(head):
                case {"key": str(own), "files": dict(files), "exports": dict(exports), "found": list(found)}:
                    named = {str(path): str(content) for path, content in files.items()}
                    whole = own == key and bool(named) and exports.keys() | set(_TABLES) >= _EXPORTED
                    if whole and all(self.content(path) == content for path, content in named.items()):
                        tables = {name: cast(Plain, split_texts(lines.pop(0))) for name in _TABLES}
                        return FileRecord(
                            key, named, {**exports, **tables}, dict(zip(map(str, found), lines, strict=True))
                        )
                case _:
                    pass
        except (OSError, ValueError, IndexError, RecursionError):
            pass
        return FileRecord(key)

    def content(self, path: str) -> str | None:
        """Return the hash of a file's content, None where it cannot be read."""
        if path not in self._hashes:
            try:
                self._hashes[path] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            except OSError:
                self._hashes[path] = None
        return self._hashes[path]

    def renew(self, record: FileRecord, exports: Mapping[str, Plain]) -> None:
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

    def save(self, record: FileRecord) -> None:
        """Write a record that has changed; a cache that cannot be written is no error."""
        exports = record.exports
        if self._folder is None or exports is None or not (record.changed and record.settled):
            return
        rest = {name: plain for name, plain in exports.items() if name not in _TABLES}
        tables = [join_texts(cast(Texts, exports[name])) for name in _TABLES]
        head = compact({"key": record.key, "files": dict(record.files), "exports": rest, "found": list(record.found)})
        text = "\n".join([head, *tables, *record.found.values()])
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self._folder, suffix=".new", delete=False) as file:
                file.write(f"{_seal(text.encode())}\n{text}")
            Path(file.name).replace(self._place(record.key))

    def _place(self, key: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{key}.json"

    def _lines(self, key: str) -> list[str]:
        """Return the lines of a record below its seal; OSError, ValueError: none is whole."""
        if self._folder is None:
            raise ValueError("nothing is kept")
        seal, _, text = self._place(key).read_bytes().partition(b"\n")
        if seal.decode() != _seal(text):
            raise ValueError("a damaged record")
        return text.decode().split("\n")


def _answer(question: str, line: str) -> Plain:
    return {"functions": cast(Plain, split_texts(line))} if question.startswith("summaries ") else plain_of(line)


def _seal(text: bytes) -> str:
    """Return what the first line of a record says of the rest, so that a damaged one is known."""
    return hashlib.sha256(text).hexdigest()


def _limits(limits: SurveyLimits) -> Plain:
    """Return what decides over the answers, as plain data."""
    front, poly = limits.front, limits.poly
    table = sorted(repr(_stable(entry)) for entry in front.effects.functions.values())
    granted: list[Plain] = [[a.text, a.kind] for a in poly.granted]
    others: list[Plain] = [front.node_limit, list(front.arguments), front.language]
    most: list[Plain] = [poly.max_operations, poly.loop_operations]
    return [others, list(table), poly.guards, granted, most, poly.described, poly.claims]


def _stable(entry: object) -> list[str]:
    """Return a table's entry with its sets in order."""
    values = ((name, getattr(entry, name)) for name in field_names(entry))
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
