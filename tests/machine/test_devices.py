import tomllib
from pathlib import Path

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.machine import devices
from warpsmith.machine.devices import device, load_devices, load_host


def test_every_device_has_a_source_for_every_number() -> None:
    devices = load_devices()
    assert len({d.name for d in devices}) == len(devices) >= 15
    for d in devices:
        assert {"units", "clock_mhz", "registers", "warps_per_unit"} <= set(d.sources)
        assert set(d.sources.values()) <= {"vendor", "public", "header", "fitted", "memory"}
        assert d.warp_width in (32, 64)


@pytest.mark.parametrize(
    ("name", "units", "confirmed"),
    [
        ("gts250", 16, {"units", "clock_mhz", "bandwidth_gb_s", "registers", "shared_per_block_kib"}),
        ("c2075", 14, {"units", "clock_mhz", "bandwidth_gb_s", "l2_mib", "registers", "warps_per_unit"}),
        ("caicos", 2, {"units", "clock_mhz", "bandwidth_gb_s"}),
        ("hd3870", 4, {"units", "clock_mhz", "bandwidth_gb_s"}),
    ],
)
def test_devices_of_the_papers_have_sources_for_their_peaks(name: str, units: int, confirmed: set[str]) -> None:
    row = device(name)
    assert row.units == units
    assert {number for number, source in row.sources.items() if source == "public"} >= confirmed
    # what nobody has published stays marked: what copies and launches cost there
    assert {row.sources[number] for number in ("copy_ns", "launch_ns", "latency_cycles")} == {"memory"}


def test_the_host_is_no_device_and_says_where_its_numbers_are_from() -> None:
    host = load_host()
    assert "host" not in {d.name for d in load_devices()}
    assert set(host.sources.values()) <= {"fitted", "memory"}
    assert host.sources["cores"] == "memory" and host.sources["operation_ps"] == "fitted"


@pytest.mark.parametrize(
    ("name", "found"),
    [("sm_80", "a100"), ("sm_90", "h100"), ("H200", "h200"), ("gfx90a", "mi250x"), ("gfx942", "mi300x")],
)
def test_devices_are_found_by_name_and_architecture(name: str, found: str) -> None:
    assert device(name).name == found


def test_an_unknown_device_is_answered_with_near_names() -> None:
    with pytest.raises(UsageError) as caught:
        device("h10")
    assert "did you mean" in str(caught.value)
    assert "h100" in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("arch", "sm_90a"),
        ("arch", "hopper"),
        ("vendor", "intel"),
        ("clock_mhz", "1980"),
        ("clock_ghz", 2),
        ("source", {"clock": "header"}),
        ("source", {"clock_mhz": "hearsay"}),
    ],
)
def test_a_mistake_in_a_row_is_refused(key: str, value: object) -> None:
    table = tomllib.loads(Path(devices.__file__).with_name("devices.toml").read_text())
    row = table["h100"]
    assert devices._device("h100", row) == device("h100")
    with pytest.raises(ValueError, match="h100"):
        devices._device("h100", {**row, key: value})
    with pytest.raises(ValueError, match="h100"):
        devices._device("h100", {k: v for k, v in row.items() if k != "l2_mib"})
