"""The table of GPU models."""

from __future__ import annotations

from collections.abc import Mapping

from generated.markdown import code, prose, table
from warpsmith.machine.devices import Device, load_devices

__all__ = ["pages"]

_COLUMNS = {
    "arch": "architecture",
    "units": "multiprocessors",
    "clock_mhz": "MHz",
    "bandwidth_gb_s": "GB/s",
    "l2_mib": "L2, MiB",
    "warp_width": "lanes a warp",
    "warps_per_unit": "warps a multiprocessor",
    "shared_per_block_kib": "shared memory a block, KiB",
}


def pages() -> Mapping[str, str]:
    """Return the page of the devices."""
    lines = ["# GPU models", "", "What `--device` takes. A number with a tilde (~) has no confirmed source.", ""]
    rows = [(code(d.name), prose(d.title), *(_number(d, field) for field in _COLUMNS)) for d in load_devices()]
    return {"devices.md": "\n".join([*lines, table(("id", "model", *_COLUMNS.values()), rows), ""])}


def _number(device: Device, field: str) -> str:
    value = prose(str(getattr(device, field)))
    return rf"\~{value}" if device.sources.get(field) == "memory" else value
