"""The programs that run on the device, each with the options of its port.

What is random has seeds far from those of the tests: each is a program that no test has seen.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.gpu.mappings import variants
from benchmarks.polybench import suite
from msgspec import Struct
from tests.random_programs import construct_survey, constructs
from tests.random_programs.compactions import random_compactions, render_compactions
from tests.random_programs.nests import render_unit
from tests.random_programs.partner_programs import SIZES as PARTNER_SIZES
from tests.random_programs.partner_programs import render_partners
from tests.random_programs.ports import PORT_SIZES as NEST_SIZES
from tests.random_programs.recurrences import random_recurrences, render_recurrences
from tests.random_programs.resident_programs import resident_program
from tests.random_programs.row_programs import row_program
from tests.random_programs.stack_programs import stack_program
from tests.random_programs.stage_programs import StageProgram, c_program, cxx_program
from tests.random_programs.strategies import gather
from tests.random_programs.survey import ROOM
from tests.random_programs.test_whole_programs import HEADERS, csmith_program
from tests.random_programs.tricky import tricky_program
from tests.random_programs.view_programs import NATURAL, render_views
from tests.random_programs.whole_programs import together

from warpsmith.loops.step import Step

__all__ = ["KINDS", "Program", "list_programs"]

ROOT = Path(__file__).parents[2]
SEED = 700_000
"""Random programs start here, plus a number of one's own."""


class Program(Struct, frozen=True):
    """`paths` are its C or C++ files, `arguments` those of the compiler, `run` its own; `transforms` and `precise`: as
    the options of `warpsmith port`; `chosen`: steps in place of those that it looks for; `timed`: it is large, so that
    its time says something; `whole`: compared by what it prints only, since what its regions leave is too much to
    keep."""

    name: str
    kind: str
    paths: tuple[Path, ...]
    arguments: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    transforms: tuple[str, ...] = ()
    chosen: tuple[Step, ...] = ()
    precise: bool = False
    timed: bool = False
    whole: bool = False


def list_programs(kind: str, count: int, scratch: Path) -> Iterator[Program]:
    """Yield the programs of a kind, of random ones `count`; what is generated is written below `scratch`."""
    yield from KINDS[kind](count, scratch)


def _examples(count: int, scratch: Path) -> Iterator[Program]:
    for path in sorted((ROOT / "examples").glob("*.c")):
        yield Program(path.stem, "example", (path,))


# it asks for more memory than a device has, which is a lot of memory on a machine that has one
_TOO_LARGE = ("beyond_device_memory",)
_RUN = re.compile(r"^ \* RUN: port(.*)$", re.MULTILINE)


def _cases(count: int, scratch: Path) -> Iterator[Program]:
    paths = sorted((ROOT / "tests" / "cases").glob("*.c*"))
    for path in (path for path in paths if path.stem not in _TOO_LARGE):
        found = _RUN.search(path.read_text())
        words = found[1].split() if found else []
        transforms = tuple(words[n + 1] for n, word in enumerate(words) if word == "--transform")
        yield Program(path.stem, "case", (path,), transforms=transforms, precise="--precise-fp" in words)


def _polybench(count: int, scratch: Path) -> Iterator[Program]:
    for path in suite.programs():
        odd = tuple(f"-D{name}={size}" for name, size in suite.odd(path).items())
        yield Program(f"{path.stem}-odd", "polybench", (path,), (*odd, "-DSUITE_DUMP"))
        yield Program(f"{path.stem}-small", "polybench", (path,), ("-DSMALL_DATASET", "-DSUITE_DUMP"), whole=True)


def _large(count: int, scratch: Path) -> Iterator[Program]:
    for path in suite.programs():
        yield Program(path.stem, "large", (path,), ("-DLARGE_DATASET",), timed=True, whole=True)


def _mappings(count: int, scratch: Path) -> Iterator[Program]:
    arguments = ("-DLARGE_DATASET",)
    for path in suite.programs():
        for name, steps in variants(path, arguments):
            yield Program(f"{path.stem}-{name}", "mapping", (path,), arguments, chosen=steps, timed=True, whole=True)


def _projects(count: int, scratch: Path) -> Iterator[Program]:
    root = ROOT / "examples" / "projects"
    heat = ("--nx", "24", "--ny", "20", "--steps", "30", "--report", "10", "--dye")
    paths = tuple(sorted((root / "heat" / "src").glob("*.c")))
    for case, method in (("cavity", "redblack"), ("lid", "jacobi"), ("slab", "jacobi"), ("decay", "jacobi")):
        run = ("--case", case, "--method", method, *heat)
        yield Program(f"heat-{case}", "project", paths, ("-std=c11",), run, whole=case != "cavity")
    paths = tuple(sorted((root / "particles" / "src").glob("*.c")))
    options = ("-std=c11", f"-I{root / 'particles' / 'include'}")
    yield Program("particles", "project", paths, options, ("--side", "4", "--steps", "6", "--report", "2", "--rdf"))
    paths = tuple(sorted((root / "pipeline" / "src").glob("*.cpp")))
    yield Program("pipeline", "project", paths, ("-std=c++17",), ("--width", "40", "--height", "24"))


def _written(kind: str, number: int, scratch: Path, files: dict[str, str], run: tuple[str, ...] = ()) -> Program:
    folder = scratch / f"{kind}-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    paths = tuple(folder / name for name in files if name.endswith((".c", ".cpp")))
    return Program(folder.name, kind, paths, run=run)


def _stages(make: Callable[[int], StageProgram], kind: str) -> Callable[[int, Path], Iterator[Program]]:
    def list_them(count: int, scratch: Path) -> Iterator[Program]:
        for number in range(count):
            made = make(SEED + number)
            yield _written(kind, number, scratch, {made.name: made.text})

    return list_them


def _texts(make: Callable[[int], str], kind: str, *run: str) -> Callable[[int, Path], Iterator[Program]]:
    def list_them(count: int, scratch: Path) -> Iterator[Program]:
        for number in range(count):
            yield _written(kind, number, scratch, {f"{kind}.c": make(SEED + number)}, run=run)

    return list_them


def _compactions(seed: int) -> str:
    return render_compactions(random_compactions(seed, 16))


def _recurrences(seed: int) -> str:
    return render_recurrences(random_recurrences(seed, 16))


def _resident(count: int, scratch: Path) -> Iterator[Program]:
    for number in range(count):
        yield _written("resident", number, scratch, resident_program(SEED + number).files)


def _constructs(count: int, scratch: Path) -> Iterator[Program]:
    together_ = 16
    made = construct_survey.batches(SEED, count * together_, together_)
    for number, batch in enumerate(made):
        text = constructs.render(batch, construct_survey.PORT_SIZES)
        yield _written("construct", number, scratch, {"constructs.c": text})


def _nests(count: int, scratch: Path) -> Iterator[Program]:
    together_ = 16
    for number, batch in enumerate(gather(count * together_, together_)):
        yield _written("nest", number, scratch, {"nests.c": render_unit(batch, NEST_SIZES, ROOM)})


def _csmith(count: int, scratch: Path) -> Iterator[Program]:
    if shutil.which("csmith") is None or not Path(HEADERS).is_dir():
        return
    for number in range(count):
        folder = scratch / f"csmith-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        options = ("--max-funcs", "2", "--max-block-depth", "3", "--no-volatiles", "--max-pointer-depth", "1")
        path = together([csmith_program(SEED + number, options, folder)], folder)
        yield Program(folder.name, "csmith", (path,), ("-I", HEADERS))


KINDS: dict[str, Callable[[int, Path], Iterator[Program]]] = {
    "example": _examples,
    "polybench": _polybench,
    "large": _large,
    "mapping": _mappings,
    "project": _projects,
    "case": _cases,
    "stage": _stages(c_program, "stage"),
    "stage++": _stages(cxx_program, "stage++"),
    "stack": _texts(stack_program, "stack"),
    "row": _texts(row_program, "row"),
    "view": _texts(render_views, "view", *NATURAL.split()),
    "tricky": _texts(lambda seed: tricky_program(seed, 12), "tricky"),
    "partner": _texts(render_partners, "partner", *PARTNER_SIZES.split()),
    "compaction": _texts(_compactions, "compaction"),
    "recurrence": _texts(_recurrences, "recurrence"),
    "resident": _resident,
    "construct": _constructs,
    "nest": _nests,
    "csmith": _csmith,
}
"""By kind what lists its programs, given how many random ones are wanted and where to write them."""
