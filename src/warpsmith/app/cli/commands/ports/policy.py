"""`port --policy`: arrays where an algorithm puts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import click

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.port import PortOptions, PortResult

__all__ = ["check_policy", "policy_options", "port_by_policy"]

C = TypeVar("C", bound=Callable[..., object])


def policy_options(command: C) -> C:
    """Add the option to a command."""
    return click.option(
        "--policy",
        type=click.Choice(["dpomap"]),
        help="What goes to shared memory: by DPoMAP's rules for the vendor of --device; else by sectors counted.",
    )(command)


def check_policy(given: Mapping[str, object], *, project: bool) -> None:
    """Raise UsageError where other options place arrays as well, or nothing is ported."""
    if given["policy"] is None:
        return
    policy = f"--policy {given['policy']}"
    if project:
        raise _usage(f"{policy} places the arrays of files, not of projects", "name the C files to port")
    clashes = {name: f"--{name}" for name in ("optimize", "recipe", "survey")}
    for name, option in clashes.items():
        if given[name]:
            raise _usage(f"{policy} says where arrays are, and {option} does not ask", f"leave out {option}")
    if given["model"] == "time":
        raise _usage(f"{policy} and --model time both choose the steps of a port", "leave out one of them")


def port_by_policy(paths: Sequence[str], options: PortOptions) -> PortResult:
    """Return the port of files with arrays where the policy puts them."""
    # loaded where it is wanted
    from warpsmith.flows.placing.dpomap import port_by_dpomap

    return port_by_dpomap(paths, options)


def _usage(message: str, help: str) -> UsageError:
    return UsageError(Finding("INP000", "error", message, help=(help,)))
