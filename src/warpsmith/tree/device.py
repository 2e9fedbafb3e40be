"""The device traits of a function: whether it is a kernel, and what it promises about its launches."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["DeviceTraits"]


class DeviceTraits(Struct, frozen=True):
    """`host`: host code may call it as well. `max_threads`, `min_blocks`: of `__launch_bounds__`; `max_registers`: of
    `__maxnreg__`; `block`: what every launch must use (`reqd_work_group_size`); `hint`: what launches are expected to
    use. None and "" where nothing is said. `ours`: its text is in a header of ours and not in the user's files."""

    kernel: bool
    host: bool = False
    max_threads: int | None = None
    min_blocks: int | None = None
    max_registers: int | None = None
    block: tuple[int, int, int] | None = None
    hint: tuple[int, int, int] | None = None
    ours: bool = False
