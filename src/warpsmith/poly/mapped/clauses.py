"""The data clauses of OpenMP and OpenACC in one form: what comes to the device with a construct, and what goes back.

map(tofrom: a[0:n])  copy(a[0:n])        to, from      copied when it comes, if it is not there, and when it goes
map(alloc: a[0:n])   create(a[0:n])      neither
target update from(a)  update host(a)    from          copied now, if it is there
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct

from warpsmith.tree.text.directives import Clause, Directive, ListItem

__all__ = [
    "Construct",
    "MappedItem",
    "construct_of",
    "device_addresses",
    "is_data_directive",
    "is_mapping",
    "mappings",
    "own_names",
    "unread",
]

Construct = Literal["compute", "data", "enter", "exit", "update", "wait", ""]

# what clauses copy when data come, and when they go
_OMP_MAPS: Final[Mapping[str, tuple[bool, bool]]] = {
    "to": (True, False), "from": (False, True), "tofrom": (True, True), "": (True, True), "alloc": (False, False),
    "release": (False, False), "delete": (False, False),
}  # fmt: skip
_ACC_CLAUSES: Final[Mapping[str, tuple[bool, bool]]] = {
    "copy": (True, True), "copyin": (True, False), "copyout": (False, True), "create": (False, False),
    "no_create": (False, False), "present": (False, False), "delete": (False, False),
}  # fmt: skip
_ACC_COMPUTE: Final = frozenset({"parallel", "kernels", "serial"})
_MODIFIERS: Final = frozenset({"always", "close", "present"})
_ADDRESSES: Final = (
    "is_device_ptr", "has_device_addr", "use_device_ptr", "use_device_addr", "deviceptr", "use_device",
    "attach", "detach",
)  # fmt: skip
_OWN_MEMORY: Final = ("is_device_ptr", "deviceptr")
_NOT_READ: Final = ("if", "link")
_NEEDS_PRESENT: Final = "present"


class MappedItem(Struct, frozen=True):
    """One item of a data clause: whether it is copied `to` the device and `back`, `always` or only where it comes or
    goes; `gone`: no count keeps it; `needed`: it must be there already."""

    item: ListItem
    clause: Clause
    to: bool
    back: bool
    always: bool = False
    gone: bool = False
    needed: bool = False


def construct_of(directive: Directive) -> Construct:
    """Return what a directive does with device data, or nothing."""
    words = directive.words
    if directive.family == "omp":
        if words[:1] in (("taskwait",), ("barrier",)):
            return "wait"
        if words[:1] != ("target",):
            return ""
        known: Mapping[str, Construct] = {"data": "data", "enter": "enter", "exit": "exit", "update": "update"}
        return known.get(words[1] if len(words) > 1 else "", "compute")
    if words[:1] == ("wait",):
        return "wait"
    if words[:1] in (("enter",), ("exit",)):
        return "enter" if words[0] == "enter" else "exit"
    if words[:1] in (("data",), ("update",)):
        return "data" if words[0] == "data" else "update"
    return "compute" if _ACC_COMPUTE.intersection(words) else ""


def is_data_directive(directive: Directive) -> bool:
    """Whether a directive sends work or data to a device, or declares or names what is there."""
    return construct_of(directive) not in ("", "wait") or (
        directive.words[:1] in (("host_data",), ("declare",)) or directive.words[:2] == ("declare", "target")
    )


def mappings(directive: Directive) -> Iterator[MappedItem]:
    """Yield the items of all data clauses, in their order."""
    kind = construct_of(directive)
    for clause in directive.clauses:
        found = _of_clause(directive, clause, kind)
        if found is not None:
            for item in clause.variables:
                yield MappedItem(item, clause, *found)


def _of_clause(directive: Directive, clause: Clause, kind: Construct) -> tuple[bool, bool, bool, bool, bool] | None:
    name = clause.name
    if directive.family == "omp":
        if kind == "update" and name in ("to", "from"):
            return name == "to", name == "from", True, False, False
        if name != "map":
            return None
        words = [word.strip() for word in clause.argument.split(",")]
        type = next((word for word in words if word not in _MODIFIERS), "")
        if type not in _OMP_MAPS:
            return None
        return (*_OMP_MAPS[type], "always" in words, type == "delete", _NEEDS_PRESENT in words)
    if kind == "update":
        to = name == "device"
        return (to, not to, True, False, False) if name in ("device", "host", "self") else None
    bare = name.removeprefix("present_or_")
    bare = bare[1:] if bare.startswith("pc") else bare
    if bare not in _ACC_CLAUSES:
        return None
    gone = name == "delete" and directive.has("finalize")
    return (*_ACC_CLAUSES[bare], False, gone, name == "present")


def is_mapping(directive: Directive, clause: Clause) -> bool:
    """Whether a clause names data that a construct needs on a device."""
    if directive.family == "omp":
        return clause.name == "map" or clause.name in _ADDRESSES
    return clause.name in _ADDRESSES or _of_clause(directive, clause, construct_of(directive)) is not None


def unread(directive: Directive) -> Iterator[str]:
    """Yield what of a directive is not modelled, in words."""
    kind = construct_of(directive)
    yield from (f"the clause {text} is not understood" for text in directive.unknown)
    if directive.words[:1] == ("host_data",):
        yield f"{directive.title} hands out device addresses"
    for clause in directive.clauses:
        if clause.name in _OWN_MEMORY and kind == "compute":
            continue  # judged by where each address comes from
        if clause.name in _ADDRESSES:
            yield f"{clause.text} names addresses in the device's own memory, which a port has no counterpart of"
        elif clause.name in _NOT_READ or (clause.name == "self" and kind == "compute"):
            yield f"{clause.text} makes it depend on a value what runs where"
        elif clause.name == "map" and _of_clause(directive, clause, kind) is None:
            yield f"the clause {clause.text} is not understood"
        elif clause.name == "async" or (clause.name == "wait" and directive.family == "acc"):
            yield f"{clause.text} lets it run beside the host"


def device_addresses(directive: Directive) -> frozenset[str]:
    """Return the variables that hold, or have, addresses in the device's own memory."""
    return frozenset(v.name for clause in directive.clauses if clause.name in _ADDRESSES for v in clause.variables)


def own_names(directive: Directive) -> frozenset[str]:
    """Return the variables of which every thread, or the construct, has a copy of its own that nobody else sees."""
    return frozenset(directive.list_variables("private", "firstprivate", "linear"))
