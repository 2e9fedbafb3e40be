"""All machines, in the order of the report: what each is called, and which target's text it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from warpsmith.flows.journey.machines.avx512 import run_avx512_natively
from warpsmith.flows.journey.machines.brook import run_brook
from warpsmith.flows.journey.machines.gcn import run_as_gcn
from warpsmith.flows.journey.machines.il import run_il
from warpsmith.flows.journey.machines.kernel_ir import run_compiled, run_interpreted
from warpsmith.flows.journey.machines.mask import run_as_masks
from warpsmith.flows.journey.machines.ptx import run_ptx
from warpsmith.flows.journey.machines.work import MachineWork
from warpsmith.kernels.arguments import Array

__all__ = ["MACHINES", "TravelMachine"]


class TravelMachine(Struct, frozen=True):
    """`target`: the one whose text it runs, "" for the kernel IR; `run` leaves arrays, or raises UnableError or a
    WarpsmithError."""

    name: str
    target: str
    run: Callable[[MachineWork], Mapping[str, Array]]


MACHINES: Final = (
    TravelMachine("interpreter", "", run_interpreted),
    TravelMachine("compiled machine", "", run_compiled),
    TravelMachine("PTX, read back", "ptx", run_ptx),
    TravelMachine("GCN machine", "gcn", run_as_gcn),
    TravelMachine("AVX-512, natively", "avx512", run_avx512_natively),
    TravelMachine("mask machine", "mask", run_as_masks),
    TravelMachine("AMD IL, read back", "il", run_il),
    TravelMachine("Brook+, read back", "brook", run_brook),
)
