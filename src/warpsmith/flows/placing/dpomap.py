"""PORT by DPoMAP: the default port's mapping, and in shared memory what the algorithm puts there.

port ── its nests, their access matrices ──► offload/dpomap.py ──► steps ──► port by them, as by a recipe ──► verified
                                                                └── what no step can do is told, with the reason

Limits: a nest that steps of the user's place stays as these say; so do launches of several iterations. Steps put tiles
in shared memory, never whole rows, and only of what the kernel does not write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.verdict import Proved
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.front.inputs import Source
from warpsmith.loops.step import Step, step_text
from warpsmith.loops.steps.data.scalar_replace import ScalarReplace
from warpsmith.machine.devices import device
from warpsmith.offload.dpomap import AccessedArray, Location, PlacedArray, find_walk, place_arrays
from warpsmith.offload.mapping.profile import size_of
from warpsmith.offload.mapping.ranges import trip_count
from warpsmith.offload.plan import Fragment, OffloadOptions, Plan
from warpsmith.offload.port import plan_function
from warpsmith.offload.steps.map import Map
from warpsmith.offload.steps.register_tile import RegisterTile
from warpsmith.offload.steps.shared_tile import SharedTile
from warpsmith.poly.patterns.model import ArrayReference, Space
from warpsmith.poly.patterns.nest import nest_accesses
from warpsmith.recipes.placement import placing_steps, recorded_steps
from warpsmith.report.placed import ArrayRow, NestPlacement, PolicyReport, PortedPlace
from warpsmith.tree.nodes import For, Index
from warpsmith.tree.program import Program
from warpsmith.tree.walk import loop_names, loops, root_symbol, walk

__all__ = ["port_by_dpomap"]

_WIDTH: Final = 16
"""Iterations of a tile."""
_WIDEST: Final = 8
"""Bytes of an element of which nothing is known."""

_AGREEING: Final[Mapping[Location, tuple[PortedPlace, ...]]] = MappingProxyType(
    {
        "global": ("global",),
        "register": ("register", "private"),
        "shared row": ("shared tile",),
        "shared column": ("shared tile",),
    }
)
"""Where the port has what is there by the algorithm."""


class _Wanted(Struct, frozen=True):
    """A nest: the run of its loops that the matrices are of, one reference an array, where each array goes, the steps
    that do it, and why some cannot, by array."""

    fragment: Fragment
    space: Space
    references: tuple[ArrayReference, ...]
    placed: tuple[PlacedArray, ...]
    steps: tuple[Step, ...]
    refused: Mapping[str, str]


def port_by_dpomap(paths: Sequence[str | Source], options: PortOptions) -> PortResult:
    """Port the loops of the C files `paths` with arrays where DPoMAP puts them on the GPU of the options.

    Raises InputError and UsageError as `port` does.
    """
    # What `port` makes of them, not run: which loops are threads.
    start = port(paths, replace(options, verify=False))
    if start.ported is None or start.plan is None:
        return port(paths, options) if options.verify else start
    # Where each nest's arrays go, and the steps that put them there, each proved.
    gpu, search = device(options.offload.device), _Search(start, options.offload)
    wanted, placing = search.place_nests(start.plan)
    other = recorded_steps([one.step for one in start.prepared.applied], replace(start.plan, fragments=()))
    # The port of it, built, run and compared like any other.
    made = port(paths, replace(options, transforms=(), chosen=(*other, *placing)))
    nests = tuple(_report(made.plan, one) for one in wanted)
    capacity = gpu.shared_per_block_kib * 1024
    told = PolicyReport("dpomap", gpu.vendor, gpu.title, capacity, nests, tuple(map(step_text, placing)))
    return replace(made, placement=told)


class _Search(Struct, frozen=True):
    """A default port, of whose nests the arrays are placed."""

    start: PortResult
    options: OffloadOptions

    @property
    def program(self) -> Program:
        """The program after the steps that change its text."""
        return self.start.prepared.program

    def place_nests(self, plan: Plan) -> tuple[list[_Wanted], list[Step]]:
        """Return the nests that the algorithm places, and the steps that place all nests."""
        fixed = [decision.loop for decision in self.program.decisions]
        wanted: list[_Wanted] = []
        placing: list[Step] = []
        for fragment in (one for one in plan.fragments if one.kind == "nest"):
            own = placing_steps(replace(plan, fragments=(fragment,)))
            free = not any(_is_inside(loop, fragment.region) for loop in fixed) and not fragment.iterations
            found = self.place(fragment, own) if free else None
            wanted += [] if found is None else [found]
            placing += own if found is None else found.steps
        return wanted, placing

    def place(self, fragment: Fragment, own: tuple[Step, ...]) -> _Wanted | None:
        """Return where the arrays of a nest go; None where it has none. `own`: the steps of the default port."""
        names = loop_names(fragment.function)
        head = next((one for one, name in names.items() if name == fragment.region and isinstance(one, For)), None)
        spaces = () if head is None else nest_accesses(self.start.prepared.facts, head).spaces
        if head is None or not spaces:
            return None
        # the deepest run of loops is what the paper calls the nest
        space = max(spaces, key=lambda one: one.depth)
        references = tuple(_first_references(space))
        arrays = self.read_arrays(head, space, references)
        gpu = device(self.options.device)
        placed = place_arrays(gpu.vendor, arrays, gpu.shared_per_block_kib * 1024)
        inside = [name for name in names.values() if name.startswith(f"{fragment.kernel.mapped[-1].id}/")]
        walked = space.counters[-1].loop
        shared = [one.array.name for one in placed if one.location in ("shared row", "shared column")]
        if walked not in inside or fragment.kernel.reductions or fragment.kernel.scans:
            why = "its threads combine values" if walked in inside else "no thread goes through a loop"
            refused = dict.fromkeys(shared, f"{why}, so that there are no tiles to go through one by one")
            return _Wanted(fragment, space, references, placed, own, refused)
        steps, refused = self.choose_steps(fragment, walked, inside, shared)
        refused |= self.refuse_registers(walked, references, placed)
        return _Wanted(fragment, space, references, placed, steps, refused)

    def read_arrays(self, head: For, space: Space, references: Sequence[ArrayReference]) -> tuple[AccessedArray, ...]:
        """Return the arrays as the algorithm asks for them: a row or column is as long as the loop that walks it."""
        facts = self.start.prepared.facts
        known = facts.loop(head)
        bytes = {one.base.name: size_of(one.element) for one in known.accesses}
        names = {name: loop for loop, name in loop_names(known.function).items()}
        innermost = names.get(space.counters[-1].loop)
        trips = trip_count(innermost, self.options.sizes or {}) if isinstance(innermost, For) else None
        return tuple(
            AccessedArray(
                one.array, space.depth, one.rank, find_walk(space, one),
                None if trips is None else trips * bytes.get(one.array, _WIDEST),
            )
            for one in references
        )  # fmt: skip

    def choose_steps(
        self, fragment: Fragment, walked: str, inside: Sequence[str], shared: Sequence[str]
    ) -> tuple[tuple[Step, ...], dict[str, str]]:
        """Return the steps that put the arrays `shared` into tiles of the loop `walked`, and nothing else into any; and
        why some cannot go there."""
        place = Map(fragment.region, tuple(one.axis for one in fragment.kernel.mapped))

        def placing(arrays: Sequence[str]) -> tuple[Step, ...]:
            none = (SharedTile(loop, 0) for loop in inside if loop != walked or not arrays)
            tiles = (SharedTile(walked, _WIDTH, tuple(arrays)), RegisterTile(walked, 1, 1)) if arrays else ()
            return (place, *none, *tiles)

        kept: list[str] = []
        refused: dict[str, str] = {}
        for array in shared:
            why = self.find_obstacle(fragment, placing([*kept, array]))
            if why:
                refused[array] = why
            else:
                kept.append(array)
        return placing(kept), refused

    def find_obstacle(self, fragment: Fragment, steps: Sequence[Step]) -> str:
        """Return why a nest is no kernel after these steps, "" where it is one."""
        program, facts = self.program, self.start.prepared.facts
        for step in steps:
            verdict = step.check(program, facts)
            if not isinstance(verdict, Proved):
                return verdict.reasons[0].text
            program = step.apply(program)
            facts = self.start.prepared.facts.after(program)
        # a step is proved where any kernel has its loop: here it must be that of the nest
        options = replace(self.options, decided_only=True, selected=None)
        planned = plan_function(program, facts, fragment.function, options)
        if any(one.region == fragment.region and one.kind == "nest" for one in planned.fragments):
            return ""
        return next(
            (r.reason.text for r in planned.refusals if r.loop == fragment.region), "the nest stays on the host"
        )

    def refuse_registers(
        self, walked: str, references: Sequence[ArrayReference], placed: Sequence[PlacedArray]
    ) -> Iterator[tuple[str, str]]:
        """Yield the arrays whose elements cannot be in registers, and why."""
        for reference, one in zip(references, placed, strict=True):
            if one.location == "register":
                verdict = ScalarReplace(walked, reference.text).check(self.program, self.start.prepared.facts)
                if not isinstance(verdict, Proved):
                    yield reference.array, verdict.reasons[0].text


def _first_references(space: Space) -> Iterator[ArrayReference]:
    """Yield the first reference to each array, in order: the paper has one matrix an array."""
    seen: set[str] = set()
    for reference in space.references:
        if reference.array not in seen:
            seen.add(reference.array)
            yield reference


def _is_inside(address: str, region: str) -> bool:
    return address == region or address.startswith(f"{region}/")


def _report(plan: Plan | None, wanted: _Wanted) -> NestPlacement:
    """Return where the arrays of a nest are in the port."""
    fragments = [] if plan is None else plan.fragments
    made = next((f for f in fragments if f.region == wanted.fragment.region and f.kind == "nest"), None)
    return NestPlacement(
        kernel="" if made is None else made.kernel.name,
        loop=wanted.fragment.region,
        span=wanted.fragment.kernel.span,
        counters=tuple(counter.name for counter in wanted.space.counters),
        rows=tuple(
            _row(made, wanted, reference, placed)
            for reference, placed in zip(wanted.references, wanted.placed, strict=True)
        ),
    )


def _row(made: Fragment | None, wanted: _Wanted, reference: ArrayReference, placed: PlacedArray) -> ArrayRow:
    where = "host" if made is None else _find_place(made, reference.array)
    why = (
        ""
        if where in _AGREEING[placed.location]
        else wanted.refused.get(reference.array) or "the port as a whole keeps it there"
    )
    more = sum(one.array == reference.array for one in wanted.space.references) - 1
    return ArrayRow(reference.text or reference.array, reference.classes, placed, where, more, why)


def _find_place(made: Fragment, array: str) -> PortedPlace:
    """Return where a kernel has an array while its threads go through their loops."""
    if any(array in tiles.arrays for tiles in made.tiles):
        return "shared tile"
    symbols = {one.symbol for one in made.kernel.parameters if one.host.name == array}
    if not symbols:
        return "private"
    inner = [loop for loop, _ in loops(made.kernel.body)]
    touched = [part for loop in inner for part in walk(loop.body) if isinstance(part, Index)]
    return "register" if inner and not any(root_symbol(part) in symbols for part in touched) else "global"
