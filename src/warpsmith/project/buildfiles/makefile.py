"""Telling a Makefile about ported files, and trying it before anybody else does.

    Makefile                   include warpsmith/rules.mk           one line, at the end
    warpsmith/rules.mk         ifeq ($(WARPSMITH),1)
                               …libwarpsmith.so: the kernels        by nvcc
                               override CFLAGS += -DWARPSMITH       the variables that this Makefile's own recipes use
                               heat: …libwarpsmith.so
                               endif
                               where the last make was of the other kind: what that made of ported files goes

Which variables those are is not guessed: every candidate is tried in a copy of the project, `make -n` without and with
WARPSMITH=1. It is taken where the first prints what it printed before, and where in the second each ported file is
compiled with -DWARPSMITH and each program that holds it is linked with the library.

Limits: GNU make; a build whose recipes are not shown by `make -n` is not understood.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct, field

from warpsmith.project.command_line import commands_of, read_call
from warpsmith.project.model import LinkCommand

__all__ = ["LIBRARY", "MAKEFILES", "MakeEdit", "Runner", "edit_makefiles", "makefile_in"]

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
LIBRARY = "libwarpsmith.so"

Runner = Callable[[Sequence[str], Path], tuple[int, str]]
"""Runs a command in a folder: (exit code, standard output)."""

_Variables = tuple[tuple[str, ...], str]
"""Those that take -DWARPSMITH, and the one that takes the library ("": none has to)."""

_SAME = "="
"""In place of the latter: those that take -DWARPSMITH take the library as well, in the words of the linker, which a
compiler that does not link leaves alone."""

_ENTER = re.compile(r"^make(?:\[\d+\])?: (Entering|Leaving) directory '([^']*)'$")
_VARIABLE = re.compile(r"\$[({]([A-Za-z_][\w.]*)[)}]")
_TOOL = re.compile(r"^\t[@+-]*\$[({]([A-Za-z_][\w.]*)[)}]", re.MULTILINE)
_PLAIN_NAME = re.compile(r"[\w.+/@-]+")
_NO_PROGRAM = re.compile(r"clean|install|dist|help|format|lint|tidy|doc|^FORCE$")
_LINKING = ("LDLIBS", "LIBS", "LOADLIBES", "LDFLAGS", "LFLAGS", "LINKFLAGS")


class MakeEdit(Struct, frozen=True):
    """New texts by path below the root: the Makefiles' and that of their rules."""

    texts: dict[str, str]


class _Made(Struct):
    """What the Makefile of a folder makes of the ported files: programs, and objects of theirs; `goals`: targets of
    other names that shall wait for the library."""

    programs: list[str] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    goals: list[str] = field(default_factory=list)


class _Build(Struct, frozen=True):
    """What `make -n` says. `compiled`: object by source, with the options; `linked`: what each link puts together."""

    compiled: dict[str, list[tuple[str, tuple[str, ...], str]]]
    linked: tuple[LinkCommand, ...]
    words: tuple[tuple[str, ...], ...]


def makefile_in(folder: Path) -> Path | None:
    """Return the Makefile that `make` would read in `folder`."""
    return next((folder / name for name in MAKEFILES if (folder / name).is_file()), None)


def edit_makefiles(copy: Path, sources: Sequence[str], rules_folder: str, run: Runner) -> MakeEdit | None:
    """Return how the build of the project in `copy` learns of the ported `sources` (paths below it); None where its
    Makefile is not understood. `copy` is a throw-away; the folder `rules_folder` in it holds the kernels."""
    top = makefile_in(copy)
    if top is None:
        return None
    before = _dry_run(copy, run, "0")
    files = {os.path.realpath(copy / source) for source in sources}
    if before is None or not files <= set(before.compiled):
        return None
    folders = sorted({folder for file in files for _, _, folder in before.compiled[file]})
    original = {str(m): m.read_bytes().decode("latin-1") for f in folders if (m := makefile_in(Path(f))) is not None}
    if len(original) != len(folders):
        return None
    made = _find_made(before, files)
    candidates = [*_candidates(list(original.values()))]
    # a target that has another name than the program which it makes needs the library by that name
    for variables, named in [(one, named) for named in (False, True) for one in candidates]:
        for folder in folders if named else ():
            made.setdefault(folder, _Made()).goals = _goals(Path(folder))
        texts = _texts(copy, original, made, rules_folder, variables)
        for path, text in texts.items():
            (copy / path).write_bytes(text.encode("latin-1"))
        after, ported = _dry_run(copy, run, "0"), _dry_run(copy, run, "1")
        if after is not None and ported is not None and after.words == before.words and _is_right(ported, files):
            return MakeEdit(texts)
    for path, text in original.items():
        Path(path).write_bytes(text.encode("latin-1"))
    return None


# --- candidates


def _candidates(texts: Sequence[str]) -> Iterator[_Variables]:
    """Yield what may be tried, the plainest first."""
    recipes = [line for text in texts for line in text.split("\n") if line.startswith("\t")]
    used = [name for line in recipes for name in _VARIABLE.findall(line)]
    compiling = [("CPPFLAGS",), ("CFLAGS",), ("CXXFLAGS",), ("CFLAGS", "CXXFLAGS")]
    compiling += [(name,) for name in dict.fromkeys(used) if _takes_options(name) and (name,) not in compiling]
    objects = [n for n in dict.fromkeys(used) if re.search(r"OBJ|LIB", n) and n not in _LINKING]
    tools = [(name,) for name in dict.fromkeys(_TOOL.findall("\n".join(recipes)))]
    for link in ("", *_LINKING, *objects, _SAME):
        for variables in compiling:
            if link not in variables and (not used or {*variables} & {*used} or variables[0] == "CPPFLAGS"):
                yield variables, link
    yield from ((tool, link) for link in (*_LINKING, *objects, _SAME) for tool in tools)


def _takes_options(name: str) -> bool:
    return re.search(r"FLAG|OPT|WARN|DEF|INC|STD", name) is not None


def _texts(
    copy: Path, original: dict[str, str], made: dict[str, _Made], rules_folder: str, variables: _Variables
) -> dict[str, str]:
    """Return the Makefiles with a line each, and the rules; `made` is what each folder's Makefile makes."""
    texts: dict[str, str] = {}
    for path, text in original.items():
        folder = Path(path).parent
        relative = os.path.relpath(folder, copy)
        below = "" if relative == "." else f"-{relative.replace('/', '-')}"
        name = f"rules{below}.mk"
        one = made.get(str(folder), _Made())
        programs, objects = ([os.path.relpath(path, folder) for path in paths] for paths in (one.programs, one.objects))
        mine = _Made(programs, objects, one.goals)
        texts[f"{rules_folder}/{name}"] = _rules(mine, f".on{below}", *variables)
        end = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
        gap = "" if not text or text.endswith("\n") else end
        include = os.path.relpath(copy / rules_folder / name, folder)
        texts[os.path.relpath(path, copy)] = f"{text}{gap}include {include}{end}"
    return texts


def _rules(made: _Made, mark: str, compiling: Sequence[str], linking: str) -> str:
    library = f"$(WARPSMITH_DIR)/{LIBRARY}"
    # what stands before the objects that need it would not be kept as needed
    linked = f" -Wl,--no-as-needed,{library}" if linking == _SAME else ""
    # what stays of the other kind of build would run on the host beside kernels, and see old data
    stale = dict.fromkeys(name for name in (*made.programs, *made.objects) if _PLAIN_NAME.fullmatch(name))
    lines = [
        "# `make WARPSMITH=1` builds the program with its ported loops on the GPU, plain `make` as before; each makes",
        "# anew what the other has made of ported files. The program finds the library where it was built.",
        "WARPSMITH_DIR := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))",
        f"WARPSMITH_ON := $(WARPSMITH_DIR)/{mark}",
        f"WARPSMITH_MADE := {' '.join(stale)}",
        "WARPSMITH_LAST := $(if $(wildcard $(WARPSMITH_ON)),1)",
        "ifneq ($(WARPSMITH_LAST),$(filter 1,$(WARPSMITH)))",
        "ifeq ($(findstring n,$(firstword -$(MAKEFLAGS))),)",
        'WARPSMITH_GONE := $(shell rm -f $(WARPSMITH_MADE) "$(WARPSMITH_ON)")',
        "ifeq ($(WARPSMITH),1)",
        'WARPSMITH_GONE := $(shell touch "$(WARPSMITH_ON)")',
        "endif",
        "endif",
        "endif",
        "ifeq ($(WARPSMITH),1)",
        "NVCC ?= nvcc",
        "NVCCFLAGS ?= -O3",
        *(f"override {name} += -DWARPSMITH{linked}" for name in compiling),
        *([f"override {linking} += {library}"] if linking not in ("", _SAME) else []),
        "",
        f"{library}: $(wildcard $(WARPSMITH_DIR)/*.cu)",
        "\t$(NVCC) $(NVCCFLAGS) -shared -Xcompiler -fPIC -o $@ $^",
        "",
        *([f"{' '.join(made.programs)}: {library}"] if made.programs else []),
        *([f"{' '.join(made.goals)}: | {library}"] if made.goals else []),
        "endif",
    ]
    return "\n".join(lines) + "\n"


# --- what make would do


def _dry_run(copy: Path, run: Runner, switch: str) -> _Build | None:
    dry = ["make", "-n", "-B", "-w", f"WARPSMITH={switch}"]
    code, output = run(dry, copy)
    if code != 0:
        return None
    goals = _goals(copy)
    # what else can be made: programs that only `make check` builds need the library as well
    output += run([*dry, "-k", *goals], copy)[1] if goals else ""
    compiled: dict[str, list[tuple[str, tuple[str, ...], str]]] = {}
    linked: list[LinkCommand] = []
    words: list[tuple[str, ...]] = []
    for folder, command in _commands(output, str(copy)):
        words.append((folder, *command))
        call = read_call(command, folder)
        if call is None:
            archive = _archive(command, folder)
            linked += [archive] if archive else []
            continue
        made, link = commands_of(call)
        for one in made:
            found = (one.output or one.file, one.arguments, folder)
            compiled.setdefault(os.path.realpath(one.file), []).append(found)
        linked += [link] if link else []
    return _Build(compiled, tuple(linked), tuple(words))


def _goals(copy: Path) -> list[str]:
    """Return the targets that the Makefile names in plain words."""
    makefile = makefile_in(copy)
    text = makefile.read_bytes().decode("latin-1") if makefile else ""
    named = re.findall(r"^([A-Za-z0-9_][\w./ -]*?)[ \t]*::?(?![=:])", text, re.MULTILINE)
    words = dict.fromkeys(word for line in named for word in line.split())
    return [word for word in words if not _NO_PROGRAM.search(word)]


def _commands(output: str, folder: str) -> Iterator[tuple[str, list[str]]]:
    """Yield every simple command with the folder in which it would run."""
    folders = [folder]
    for line in output.replace("\\\n", " ").split("\n"):
        moved = _ENTER.match(line)
        if moved:
            folders = [*folders, moved[2]] if moved[1] == "Entering" else folders[:-1] or [folder]
            continue
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
        lexer.whitespace_split = True
        lexer.commenters = ""
        try:
            words = list(lexer)
        except ValueError:
            continue
        here, command = folders[-1], list[str]()
        for word in [*words, ";"]:
            if word not in (";", "&&", "||", "|", "&"):
                command.append(word)
                continue
            if command[:1] == ["cd"] and len(command) == 2:
                here = os.path.normpath(Path(here, command[1]))
            elif command:
                yield here, command
            command = []


def _archive(command: Sequence[str], folder: str) -> LinkCommand | None:
    """Return what an archiver's command puts together."""
    if not re.search(r"(^|[/-])ar$", command[0]) or len(command) < 4:
        return None
    paths = [os.path.normpath(Path(folder, word)) for word in command[2:]]
    return LinkCommand(paths[0], tuple(paths[1:]), folder, command[0])


def _programs(build: _Build, files: set[str]) -> list[str]:
    """Return the programs and shared libraries that hold an object of `files`, through archives as well."""
    inside = {output for file in files for output, _, _ in build.compiled.get(file, ())} | files
    archives = [link for link in build.linked if link.output.endswith(".a")]
    for link in [*archives, *archives]:
        if inside & set(link.inputs):
            inside.add(link.output)
    others = [link for link in build.linked if not link.output.endswith(".a")]
    found = [link.output for link in others if inside & {link.output, *link.inputs, *_libraries(link)}]
    return list(dict.fromkeys(found))


def _find_made(build: _Build, files: set[str]) -> dict[str, _Made]:
    """Return what is made of `files`, by the folder in which it is."""
    made: dict[str, _Made] = {}
    for program in _programs(build, files):
        made.setdefault(_folder(build, program), _Made()).programs.append(program)
    for file in sorted(files):
        for output, _, folder in build.compiled[file]:
            if output.endswith((".o", ".lo", ".obj")):
                made.setdefault(folder, _Made()).objects.append(output)
    return made


def _libraries(link: LinkCommand) -> Iterator[str]:
    """Yield the archives that `-Lfolder -lname` may mean."""
    folders = [a[2:] for a in link.arguments if a.startswith("-L")]
    names = [a[2:] for a in link.arguments if a.startswith("-l")]
    for folder in folders:
        yield from (os.path.normpath(Path(link.directory, folder, f"lib{name}.a")) for name in names)


def _folder(build: _Build, program: str) -> str:
    return next(link.directory for link in build.linked if link.output == program)


def _is_right(build: _Build, files: set[str]) -> bool:
    """Whether the ported build compiles every ported file for it and links what holds it with the library."""
    if not files <= set(build.compiled):
        return False
    defined = all("-DWARPSMITH" in arguments for file in files for _, arguments, _ in build.compiled[file])
    holders = set(_programs(build, files))
    linked = all(
        any(Path(i).name == LIBRARY for i in (*link.inputs, *link.arguments))
        for link in build.linked
        if link.output in holders
    )
    made = any(LIBRARY in word for words in build.words for word in words if words[1].endswith("nvcc"))
    return defined and linked and (made or not holders)
