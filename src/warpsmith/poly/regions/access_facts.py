"""The stride of each array reference of a loop along every counter, for the cost model."""

from __future__ import annotations

from warpsmith.poly.facts import ReferenceFact
from warpsmith.poly.isl.polynomial import ONE, ZERO, Polynomial
from warpsmith.poly.regions.region import ROW_STEP, Access, Region, Statement, Subscript
from warpsmith.tree.types import Record, Scalar, Symbol, Type

__all__ = ["access_facts"]

# elements from one row to the next where nobody knows how far it is
_ROW = 1 << 20


def access_facts(region: Region) -> tuple[ReferenceFact, ...]:
    """Return one fact for each array reference of the region, in order of appearance."""
    found: list[ReferenceFact] = []
    for statement in region.statements:
        for access in statement.accesses:
            if not access.known:
                found.append(ReferenceFact(access.expr, access.base, access.element, access.write, {}, False))
            elif any(isinstance(step, Subscript) for step in access.path):
                found.append(_fact(region, statement, access))
    return tuple(found)


def _fact(region: Region, statement: Statement, access: Access) -> ReferenceFact:
    loops = [*region.outer, *zip(statement.loops, statement.counters, strict=True)]
    address = _address(access)
    unit = _unit(access)
    strides: dict[Symbol, int | None] = {}
    for loop, counter in loops:
        stride = None if address is None else address.coefficient(counter)
        number = None if stride is None else stride.number
        if stride is not None and not stride.terms and address is not None and not _is_hidden(region, address, counter):
            continue
        exact = number is not None and unit is not None and address is not None
        moved = number * loop.step * unit if exact and number is not None and unit is not None else None
        strides[loop.variable] = moved if moved or moved is None else None
    linear = address is not None and all(
        not isinstance(s, Subscript) or (s.value is not None and _affine(region, s.value)) for s in access.path
    )
    return ReferenceFact(access.expr, access.base, access.element, access.write, strides, linear)


def _affine(region: Region, value: Polynomial) -> bool:
    """Whether no term multiplies two counters of the scope."""
    moving = {n for n in value.atoms() if not region.vocabulary.invariant(n)}
    return all(sum(n in moving for n in monomial) <= 1 for monomial in value.terms)


def _is_hidden(region: Region, address: Polynomial, counter: str) -> bool:
    """Whether a counter moves the address only through a quotient."""
    quotients, definitions = region.vocabulary.definitions(address.atoms())
    if not quotients:
        return False
    return any(counter in repr(d) for d in definitions)


def _address(access: Access) -> Polynomial | None:
    """Return the element number along the subscripts; None where one is not known."""
    total = ZERO
    for step in access.path:
        if not isinstance(step, Subscript):
            # rows lie anywhere, and far apart
            total = total.scale(_ROW) if step == ROW_STEP else total
            continue
        if step.value is None:
            return None
        total = total * (ONE if step.extent is None else step.extent) + step.value
    return total


def _unit(access: Access) -> int | None:
    """Return how many elements of the reference's type one element of the array is (a member of a struct: several)."""
    if all(isinstance(step, Subscript) for step in access.path):
        return 1
    size = _bytes(access.element)
    owner = _record(access)
    return owner // size if owner and size and owner % size == 0 else None


def _bytes(type: Type) -> int:
    return type.bits // 8 if isinstance(type, Scalar) else type.bytes if isinstance(type, Record) else 0


def _record(access: Access) -> int:
    type = access.base.type
    while not isinstance(type, Record | Scalar):
        inner = getattr(type, "to", None) or getattr(type, "of", None)
        if inner is None:
            return 0
        type = inner
    return _bytes(type)
