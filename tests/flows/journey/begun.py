"""A small kernel on its way, which every target can express, made once for all tests of a process."""

from __future__ import annotations

from functools import cache

from warpsmith.flows.journey.machines.work import MachineWork
from warpsmith.flows.journey.origin import Begun, begin
from warpsmith.flows.journey.ran import Expected, find_reference
from warpsmith.flows.journey.subjects import HandLaunch, Subject, users_subject
from warpsmith.flows.journey.written import Texts, write_targets
from warpsmith.kernels.units import KernelFile
from warpsmith.report.journey.model import TargetStage
from warpsmith.settings.model import Settings
from warpsmith.settings.read import Wanted, read_settings
from warpsmith.simt.launch import Dim

__all__ = [
    "STEP",
    "begun_step",
    "begun_with",
    "reference_of_step",
    "settings",
    "step_subject",
    "work_of",
    "written_step",
]

STEP = """__global__ void step(int *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] = v[i] * 5 - n;
}
"""
_VALUES = ("n=60", "v=rand:i32[n]:seed=1:below=1000")


@cache
def settings() -> Settings:
    """Return the settings that nobody has changed."""
    return read_settings(Wanted({}, None, False, False))


def begun_with(text: str, values: tuple[str, ...], block: Dim = (32, 1, 1), blocks: int = 2) -> Begun:
    """Return a kernel of CUDA as one of the user's."""
    launch = HandLaunch(KernelFile("k.cu", text=text), "", block, (blocks, 1, 1))
    return begin(users_subject(launch, values))[1]


def step_subject() -> Subject:
    """Return the small kernel as one of the user's."""
    return users_subject(HandLaunch(KernelFile("step.cu", text=STEP), "step", (32, 1, 1), (2, 1, 1)), _VALUES)


@cache
def begun_step() -> Begun:
    """Return the small kernel, read."""
    return begin(step_subject())[1]


@cache
def written_step() -> tuple[TargetStage, dict[str, Texts]]:
    """Return its texts."""
    texts: dict[str, Texts] = {}
    return write_targets(begun_step(), texts), texts


@cache
def reference_of_step() -> Expected:
    """Return what it computes."""
    return find_reference(begun_step())


def work_of(begun: Begun) -> MachineWork:
    """Return the launches of the first version, with its texts."""
    texts: dict[str, Texts] = {}
    if begun is begun_step():
        texts = written_step()[1]
    else:
        write_targets(begun, texts)
    (version, *_) = begun.versions
    return MachineWork(version, begun.inputs.arrays, texts[version.name])
