"""`warpsmith devices`: the GPU models that we know, and their limits."""

from __future__ import annotations

import click

from warpsmith.app.cli.command import Command
from warpsmith.app.cli.global_options import global_options
from warpsmith.machine.devices import Device, device, load_devices
from warpsmith.report.model import Report
from warpsmith.report.port.json import report_json
from warpsmith.report.port.text import table_text

__all__ = ["command"]

HEADER = ("id", "model", "arch", "units", "MHz", "GB/s", "L2 MiB", "warp", "warps/unit", "shared/block KiB")


@click.command("devices", cls=Command)
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """List the GPU models that `--device` takes. A number with a ~ is from memory and not confirmed."""
    devices = load_devices()
    if name is not None:
        from_name = [entry for entry in devices if name.lower() in (entry.name, entry.arch)]
        devices = tuple(from_name) or (device(name),)
    if global_options().json:
        click.echo(report_json(Report("devices", (), "ok", devices=devices)))
    else:
        click.echo(table_text([_row(entry) for entry in devices], header=HEADER))
    return 0


def _row(entry: Device) -> tuple[str, ...]:
    numbers = ("units", "clock_mhz", "bandwidth_gb_s", "l2_mib", "warp_width", "warps_per_unit", "shared_per_block_kib")
    return entry.name, entry.title, entry.arch, *(_number(entry, field) for field in numbers)


def _number(entry: Device, field: str) -> str:
    value = getattr(entry, field)
    return f"~{value}" if entry.sources.get(field) == "memory" else str(value)
