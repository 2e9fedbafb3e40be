"""Generated files as the last port wrote them, which is what an edit by hand is compared with.

    port.toml     "warpsmith/solve_kernels.cu" = "3b18e512…"        git's own name of the content
    git           cat-file blob 3b18e512…                           wherever the file was committed as it was written
    port.base     the texts, compressed                             without git; or into which edits were merged

Invariant: a text is the one that was written, or is not known: its name is compared.
"""

from __future__ import annotations

import base64
import binascii
import json
import textwrap
import tomllib
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from warpsmith.emit.host.in_place import FOLDER
from warpsmith.project.buildfiles.makefile import Runner
from warpsmith.project.patches import find_patch_root, name_content

__all__ = ["ARCHIVE", "GeneratedFiles", "read_archive", "write_archive"]

ARCHIVE: Final = f"{FOLDER}/port.base"
"""Where the texts are that git does not have."""

_HEAD: Final = "What warpsmith has generated, compressed: it compares with this at the next port.\n"


class GeneratedFiles(Struct, frozen=True):
    """What the last port has written below `root`: `names` are those of the contents, by path."""

    root: str
    names: Mapping[str, str]
    run: Runner

    @classmethod
    def of(cls, root: str, state: str, run: Runner) -> GeneratedFiles:
        """Return what the record at `state` says; nothing where there is none."""
        try:
            said = tomllib.loads(Path(root, state).read_bytes().decode("utf-8", "surrogateescape"))
        except (OSError, ValueError):
            return cls(root, {}, run)
        return cls(root, {path: name for path, name in said.get("generated", {}).items() if isinstance(name, str)}, run)

    @property
    def in_git(self) -> bool:
        """Whether the project is in a checkout of git's."""
        return Path(find_patch_root(self.root), ".git").exists()

    def is_edited(self, path: str, current: str) -> bool:
        """Whether a file is not what the last port wrote."""
        return self.names.get(path) != name_content(current)

    def text(self, path: str, current: str, read: Callable[[str], str | None]) -> str | None:
        """Return what the last port wrote at `path`, where `current` stands now; None where that is not known."""
        name = self.names.get(path)
        if name is None or name == name_content(current):
            return None if name is None else current
        code, found = self.run(["git", "cat-file", "blob", name], Path(self.root)) if self.in_git else (1, "")
        candidates = (found if code == 0 else None, read_archive(read(ARCHIVE)).get(path))
        return next((text for text in candidates if text is not None and name_content(text) == name), None)


def write_archive(texts: Mapping[str, str]) -> str:
    """Return texts, by path, as the text of a small file."""
    packed = base64.b64encode(zlib.compress(json.dumps(texts, sort_keys=True).encode(), 9)).decode()
    return _HEAD + "".join(f"{line}\n" for line in textwrap.wrap(packed, 120))


def read_archive(text: str | None) -> Mapping[str, str]:
    """Return the texts of such a file, by path; none where it is none."""
    if text is None or not text.startswith(_HEAD):
        return {}
    try:
        said = json.loads(zlib.decompress(base64.b64decode("".join(text[len(_HEAD) :].split()), validate=True)))
    except (binascii.Error, zlib.error, ValueError):
        return {}
    return {path: one for path, one in said.items() if isinstance(one, str)} if isinstance(said, dict) else {}
