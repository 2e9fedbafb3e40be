"""What statements write of the user's variables: by name, through buffers, and through addresses."""

from __future__ import annotations

from pathlib import Path

from tests.emit.examples import saxpy
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.memory.device_writes import find_exposed, find_hosts, find_written

_TEXT = """
int shared;
void take(int *);
void f(int n, int own, int *a)
{
    int local = n;
    local = 2;
    a[n] = own;
    take(&own);
    for (int i = 0; i < n; i++)
        shared++;
}
"""


def test_buffers_have_a_variable_of_the_users_that_copies_write() -> None:
    (function,) = saxpy().ported.units[0].functions
    run = function.body.statements
    hosts = find_hosts(function)
    assert {buffer.name: host.name for buffer, host in hosts.items()} == {"x_gpu": "x", "y_gpu": "y"}
    assert {symbol.name for symbol in find_written(run, hosts)} == {"x", "y"}
    assert not find_written(run, {})


def test_what_is_written_by_name_and_what_others_may_write(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(_TEXT)
    (unit,) = load_program([str(path)], FrontOptions()).program.units
    function = unit.functions[-1]
    written = {symbol.name for symbol in find_written(function.body.statements, {})}
    assert written == {"local", "own", "i", "shared"}
    exposed = {symbol.name for symbol in find_exposed(function)}
    assert {"own", "shared"} <= exposed and not {"n", "local", "a", "i"} & exposed
