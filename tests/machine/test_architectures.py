"""The table of architectures."""

from __future__ import annotations

import pytest

from warpsmith.machine import architectures
from warpsmith.machine.architectures import architecture
from warpsmith.machine.devices import load_devices


def test_every_nvidia_device_has_an_architecture() -> None:
    for device in load_devices():
        found = architecture(device.arch)
        assert (found is not None) == (device.vendor == "nvidia")
        if found is not None:
            assert found.issue and found.lanes.single >= found.lanes.double and found.latency.memory > found.latency.l1
            assert set(found.source.values()) <= {"vendor", "public"}


def test_a_mistake_in_the_table_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = architectures._table()
    monkeypatch.setattr(architectures, "_table", lambda: {**table, "sm_80": {"issue": "four"}})
    architecture.cache_clear()
    with pytest.raises(ValueError, match="int"):
        architecture("sm_80")
    architecture.cache_clear()
