"""A port inside a project becomes a series of patches; the project itself is only read.

    0001  run time, rules, one line in the build file         builds as before, with WARPSMITH=1 as well
    0002  src/solver.c and its kernels                         likewise, after every further patch
    0003  …

`warpsmith/port.toml` says what was ported, what was added, and what the generated files were as they were written, so
that a later port can merge what was edited by hand since.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from warpsmith import __version__
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span, decode_text
from warpsmith.emit.file_names import in_comment
from warpsmith.emit.host.in_place import FOLDER, InPlace
from warpsmith.flows.porting.generated import ARCHIVE, GeneratedFiles, read_archive, write_archive
from warpsmith.project.buildfiles.buildfile import edit_build, lines_to_add
from warpsmith.project.buildfiles.merging import MergeConflict, merge_texts
from warpsmith.project.includes import find_concerned
from warpsmith.project.patches import FileChange, Patch, find_patch_root, join_patches, name_content, series_texts
from warpsmith.project.tree import copy_of
from warpsmith.run.native.tools import RunLimits, run_limited
from warpsmith.tree.text.additions import additions, remove_additions

__all__ = ["Earlier", "ProjectBuild", "Series", "earlier_port", "make_series"]

_STATE = f"{FOLDER}/port.toml"
_INCLUDED = re.compile(rf"^include[ (](?:\.\./)*{FOLDER}/(?:rules[\w.-]*\.mk|targets\.cmake\))\r?\n?", re.MULTILINE)
_LIMITS = RunLimits(seconds=120.0)


class Series(Struct, frozen=True):
    """The patches, in order; `whole` is one that does what all of them do, with each file once, so that it can be taken
    back as it is applied; `findings` are conflicts with what was edited by hand (then there are no patches), and what
    the user has to do himself."""

    root: str
    patches: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    whole: str = ""


class ProjectBuild(Struct, frozen=True):
    """How the project is built, in paths below its root: the files that are compiled, of which some may include a
    header that changes, the folder with the build file, and others that it ran compilers in, whose build files are
    asked where that one does not show what it does (`cd src; make`)."""

    files: tuple[str, ...] = ()
    folder: str = "."
    inner: tuple[str, ...] = ()


_NOT_KNOWN = ProjectBuild()


class Earlier(Struct, frozen=True):
    """What an earlier port has left: by file, the addresses of its loops and the hashes of what was added to it."""

    loops: Mapping[str, tuple[str, ...]]
    added: Mapping[str, tuple[str, ...]]


def earlier_port(root: str) -> Earlier:
    """Return what `warpsmith/port.toml` below `root` says; nothing where there is none."""
    try:
        said = tomllib.loads(Path(root, _STATE).read_bytes().decode("utf-8", "surrogateescape"))
    except (OSError, ValueError):
        return Earlier({}, {})
    files = {entry["path"]: entry for entry in said.get("file", [])}
    loops = {path: tuple(entry["loops"]) for path, entry in files.items()}
    return Earlier(loops, {path: tuple(entry["added"]) for path, entry in files.items()})


def make_series(
    root: str, made: InPlace, loops: Mapping[str, tuple[str, ...]], built: ProjectBuild = _NOT_KNOWN
) -> Series:
    """Return the patches that turn the project at `root` into the port `made`; `loops`: the ported ones by file."""
    tree = _Tree(root)
    edited = tuple(_edited_additions(tree, earlier_port(root)))
    new = {file.path: file.text for file in made.files}
    sources = find_concerned([file.path for file in made.changed], built.files, tree.read)
    tries = (_build(tree, made, sources, folder) for folder in dict.fromkeys((built.folder, *built.inner)))
    build = next((found for found in tries if found is not None), None)
    if build is not None:
        new |= build
    generated = [path for path in new if path.startswith(f"{FOLDER}/")]
    conflicts = _merge_generated(tree, {path: new[path] for path in generated})
    problems = [*edited, *(_conflict_finding(tree, conflict) for conflict in conflicts)]
    if problems:
        return Series(root, (), tuple(problems))
    tree.final |= {path: text for path, text in new.items() if path not in generated}
    tree.final |= dict(_find_left_over(tree))
    _keep_texts(tree)
    below = os.path.relpath(root, find_patch_root(root))
    steps = list(_patches(tree, made, build, loops))
    whole = join_patches(steps, "Loops on the GPU")
    patches, one = (
        series_texts(mails, f"warpsmith {__version__}", "" if below == "." else f"{below}/")
        for mails in (steps, [whole])
    )
    findings = () if build is not None or not made.changed else (_build_finding(sources),)
    return Series(root, tuple(patches), findings, "".join(one))


def _find_left_over(tree: _Tree) -> Iterator[tuple[str, str | None]]:
    """Yield what an earlier port has made and this one does not: it goes, unless somebody has edited it."""
    for path in earlier_port(tree.root).added:
        text = tree.read(path)
        if path not in tree.final and text is not None:
            yield path, remove_additions(text)
    for path in sorted(tree.last.names):
        text = tree.read(path)
        if path not in tree.final and (text is None or not tree.last.is_edited(path, text)):
            yield path, None


def _merge_generated(tree: _Tree, new: Mapping[str, str]) -> list[MergeConflict]:
    """Note what shall stand in generated files; return what conflicts with edits by hand."""
    conflicts: list[MergeConflict] = []
    for path, text in new.items():
        current = tree.read(path)
        base = None if current is None else tree.last.text(path, current, tree.read)
        outcome = text if current is None else merge_texts(path, base, current, text, _run)
        if isinstance(outcome, str):
            tree.final[path], tree.written[path] = outcome, text
        else:
            conflicts += outcome
    return conflicts


def _keep_texts(tree: _Tree) -> None:
    """Keep what is written as far as git will not: that is what has been merged, all where there is no git."""
    known = read_archive(tree.read(ARCHIVE))
    texts = {path: text for path, text in known.items() if path in tree.last.names and path not in tree.final}
    texts |= {path: text for path, text in tree.written.items() if not tree.last.in_git or tree.final[path] != text}
    if texts != known:
        tree.final[ARCHIVE] = write_archive(texts) if texts else None


class _Tree:
    """The project's files as they are, and `final`, as they shall be; `last`: what the last port wrote, `written`: what
    this one does, edits by hand left out."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.last = GeneratedFiles.of(root, _STATE, _run)
        self.final: dict[str, str | None] = {}
        self.written: dict[str, str] = {}

    def read(self, path: str) -> str | None:
        try:
            return Path(self.root, path).read_bytes().decode("latin-1")
        except OSError:
            return None

    def change(self, path: str, final: str | None) -> FileChange:
        executable = os.access(Path(self.root, path), os.X_OK)
        return FileChange(path, self.read(path), final, executable)


def _run(command: Sequence[str], folder: Path) -> tuple[int, str]:
    """Run a tool of the build; one that is missing is one that fails."""
    try:
        ran = run_limited(
            command, folder, environment={"LC_ALL": "C", "MAKEFLAGS": "", "CLICOLOR": "0"}, limits=_LIMITS
        )
    except OSError:
        return 127, ""
    return ran.exit_code, ran.stdout.decode("latin-1")


# --- the build file


def _build(tree: _Tree, made: InPlace, sources: Sequence[str], folder: str) -> dict[str, str] | None:
    """Return the new texts of build files and rules, tried in a copy; None where the build is not understood.
    `sources`: the files that must be compiled for the port; `folder`: where the build file is."""
    if not made.changed:
        return {}
    changes: dict[str, str | None] = {file.path: file.text for file in made.files}
    for path in _build_files(tree.root):
        text = tree.read(path)
        if text is not None and _INCLUDED.search(text):
            changes[path] = _INCLUDED.sub("", text)
    with copy_of(tree.root, changes) as copy:
        below = [os.path.relpath(source, folder) for source in sources]
        edit = edit_build(copy / folder, below, os.path.relpath(FOLDER, folder), _run)
    return None if edit is None else {os.path.normpath(Path(folder, path)): text for path, text in edit.texts.items()}


def _build_files(root: str) -> Iterator[str]:
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if not name.startswith(".")]
        for file in files:
            if file in ("GNUmakefile", "makefile", "Makefile", "CMakeLists.txt"):
                yield os.path.relpath(Path(folder, file), root)


def _build_finding(sources: Sequence[str]) -> Finding:
    message = "the project's build file is not understood: it is left as it is, and the port is not built by it yet"
    return Finding("PRJ012", "warning", message, help=lines_to_add(sources, FOLDER))


# --- the patches


def _patches(
    tree: _Tree, made: InPlace, build: Mapping[str, str] | None, loops: Mapping[str, tuple[str, ...]]
) -> Iterator[Patch]:
    """Yield the series; the record of what was ported grows with every patch of it."""
    with_file = {f.path for files in made.kernels.values() for f in files}
    mine = with_file | {file.path for file in made.changed}
    first = [path for path in tree.final if path not in mine]
    now = {file.path for file in made.changed}
    known = earlier_port(tree.root)
    recorded = {p: _record(p, known.loops[p], a) for p, a in known.added.items() if p in now}
    state = _State(tree.read(_STATE), recorded, dict(tree.last.names))
    body = "Device memory, copies, and how the build makes them. Nothing calls them yet."
    yield _patch(tree, state, ("Run time of the ported loops", body), first)
    last = [file.path for file in made.changed if file.path in made.with_data_regions]
    for ported in [*([f.path] for f in made.changed if f.path not in last), *([last] if last else [])]:
        paths = [*ported]
        for path in ported:
            paths += [f.path for f in made.kernels.get(path, ())]
        said = [name for path in ported for name in loops.get(path, ())]
        body = f"Ported: {', '.join(said)}.\n" if said else ""
        body += "Keeps data on the device between calls.\n" if ported == last else ""
        body += "WARPSMITH_OFF=1 runs the original loops."
        for path in ported:
            added = [_hash(text) for _, text in additions(tree.final[path] or "")]
            state.recorded[path] = _record(path, loops.get(path, ()), added)
        yield _patch(tree, state, (f"{in_comment(', '.join(ported))}: loops on the GPU", body), paths)


class _State(Struct):
    """The record of what was ported, as the last patch has left it."""

    text: str | None
    recorded: dict[str, str] = field(default_factory=dict)
    generated: dict[str, str] = field(default_factory=dict)


def _patch(tree: _Tree, state: _State, words: tuple[str, str], paths: Sequence[str]) -> Patch:
    before = state.text
    state.generated |= {path: name_content(tree.written[path]) for path in paths if path in tree.written}
    for path in paths:
        if tree.final[path] is None:
            state.generated.pop(path, None)
    names = [f"{_quote(decode_text(path))} = {_quote(name)}\n" for path, name in sorted(state.generated.items())]
    record = "".join(text for _, text in sorted(state.recorded.items()))
    state.text = _HEAD + record + "".join(["\n[generated]\n", *names] if names else [])
    changes = [tree.change(path, tree.final[path]) for path in sorted(paths)]
    return Patch(*words, (*changes, FileChange(_STATE, before, state.text)))


_HEAD = "# What warpsmith has ported in this project; it reads this file at the next port.\n"


def _record(path: str, loops: Sequence[str], added: Sequence[str]) -> str:
    lists = {"loops": loops, "added": added}
    lines = ["", "[[file]]", f"path = {_quote(decode_text(path))}"]
    lines += [f"{key} = [{', '.join(map(_quote, values))}]" for key, values in lists.items()]
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    # a basic string of TOML is one of JSON
    return json.dumps(text, ensure_ascii=False)


def _hash(text: str) -> str:
    return hashlib.sha256(text.replace("\r\n", "\n").encode("latin-1")).hexdigest()[:16]


# --- edits by hand


def _edited_additions(tree: _Tree, earlier: Earlier) -> Iterator[Finding]:
    """Yield what was edited by hand inside the additions to the user's files: it would be lost."""
    for path, known in earlier.added.items():
        text = tree.read(path)
        if text is None or remove_additions(text) == text:
            continue
        for offset, added in additions(text):
            if _hash(added) not in known:
                file = SourceFile(str(Path(tree.root, path)), text)
                message = "this was added by a port and edited by hand since: a new port would undo the edit"
                remedy = "move the edit out of what the port added, or into the kernel; or take the port out first"
                yield Finding("PRJ013", "error", message, Span(file, offset, offset + len(added)), (remedy,))


def _conflict_finding(tree: _Tree, conflict: MergeConflict) -> Finding:
    text = Path(tree.root, conflict.path).read_bytes().decode("latin-1")
    file = SourceFile(str(Path(tree.root, conflict.path)), text)
    start = file.offset(conflict.line)
    message = f"this was edited by hand, and the new port changes it as well: {conflict.text}"
    span = Span(file, start, start + len(file.line(conflict.line)))
    name = tree.last.names.get(conflict.path)
    compare = f"compare with `git show {name}`, which the last port wrote; " if name and tree.last.in_git else ""
    return Finding("PRJ013", "error", message, span, (f"{compare}undo the edit, or keep the last port",))
