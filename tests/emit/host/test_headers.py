"""Text that several functions share: a job for each file that launches kernels, and one version of an instance."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import msgspec.structs
import pytest

from tests.emit.examples import saxpy
from warpsmith.emit.carried import RuntimeNeeds
from warpsmith.emit.host.cuda import UnitJob
from warpsmith.emit.host.headers import by_file, once
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.expressions import TemplateArgument
from warpsmith.tree.in_place.versioned import Versioned
from warpsmith.tree.nodes import Launch, replace
from warpsmith.tree.program import Kernel, Program

HEADER = "static void zero(int n, int *a)\n{\n    for (int i = 0; i < n; i++) a[i] = 0;\n}\n"
MAIN = '#include "zero.h"\nvoid f(int n, int *a)\n{\n    for (int i = 0; i < n; i++) a[i] = 1;\n    zero(n, a);\n}\n'


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("headers")
    (folder / "zero.h").write_text(HEADER)
    for name in ("main.c", "other.c"):
        (folder / name).write_text(MAIN.replace("void f", f"void {name[0]}"))
    return load_program([str(folder / name) for name in ("main.c", "other.c")], FrontOptions()).program


def _job(program: Program, launching: dict[str, str]) -> UnitJob:
    """Return the job of main.c, whose functions launch the kernels given by their names."""
    unit = program.units[0]
    ready = saxpy().ported.kernels[0]
    kernels: tuple[Kernel, ...] = tuple(msgspec.structs.replace(ready, name=name) for name in launching.values())
    changed = []
    for function in unit.functions:
        name = launching.get(function.symbol.name)
        if name is not None:
            launch = Launch(span=function.body.span, kernel=name, arguments=(), region="f")
            function = replace(function, body=replace(function.body, statements=(launch,)))
        changed.append(function)
    rewritten = msgspec.structs.replace(unit, functions=tuple(changed))
    return UnitJob(unit, rewritten, kernels, PurePosixPath("main.c"), "main", pool=True, needs=RuntimeNeeds())


def test_a_kernel_belongs_to_the_file_that_launches_it(program: Program) -> None:
    own, header = by_file(_job(program, {"m": "k1", "zero": "k2"}))
    assert [k.name for k in own.kernels] == ["k1"] and own.pool and own.original is program.units[0]
    assert [k.name for k in header.kernels] == ["k2"] and not header.pool
    assert (str(header.path), Path(header.original.file.path).name) == ("zero.h", "zero.h")
    assert [f.symbol.name for f in header.original.functions if f in header.original.items] == ["zero"]
    assert header.stem != own.stem


def test_the_units_own_file_has_a_job_even_without_a_kernel(program: Program) -> None:
    own, header = by_file(_job(program, {"zero": "k2"}))
    assert own.kernels == () and [k.name for k in header.kernels] == ["k2"]
    (alone,) = by_file(_job(program, {"m": "k1"}))
    assert [k.name for k in alone.kernels] == ["k1"]


def test_shared_text_has_one_version(program: Program) -> None:
    def version(unit: int, name: str, instance: tuple[TemplateArgument, ...] | None = None) -> Versioned:
        function = next(f for f in program.units[unit].functions if f.symbol.name == name)
        function = msgspec.structs.replace(function, instance=instance)
        return Versioned(function, function.body.statements[:1], function.body.statements[:1], None)

    own, twice = version(0, "m"), [version(0, "zero"), version(1, "zero")]
    assert len(once(program, [own])) == 1
    assert once(program, []) == []
    found = once(program, [own, own, version(1, "o")])
    assert [v.function.symbol.name for v in found] in (["m", "o"], ["m"])
    shared = once(program, twice)
    assert shared and shared[0].function is twice[0].function
