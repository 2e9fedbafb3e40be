"""What directives say of a kernel, and data behind names."""

from __future__ import annotations

import pytest

from tests.simt.gcn.programs import program
from warpsmith.base.errors import InputError

KERNEL = """
    .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
    .text
k:  s_endpgm
    .section .rodata,"a",@progbits
    .amdhsa_kernel k
        .amdhsa_user_sgpr_count 8
        .amdhsa_next_free_vgpr max(1, 2)
    .end_amdhsa_kernel
table:
    .long 3, 0x10
    .byte -1
    .zero 3
    .quad 7
    .amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .address_space:  global
        .name:           'out'
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .name:           n
        .offset:         8
        .size:           4
        .value_kind:     by_value
      - .offset:         16
        .size:           4
        .value_kind:     hidden_block_count_x
    .name:           k
...
    .end_amdgpu_metadata
"""


def test_a_kernel_is_described() -> None:
    made = program(KERNEL)
    (kernel,) = made.kernels
    assert made.architecture == "gfx90a"
    assert kernel.name == "k"
    assert kernel.settings == {"user_sgpr_count": 8}
    assert [(one.name, one.offset, one.size) for one in kernel.arguments] == [("out", 0, 8), ("n", 8, 4)]


def test_data_are_bytes() -> None:
    data = program(KERNEL).data["table"]
    assert data == bytes.fromhex("0300000010000000ff0000000700000000000000")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (".amdhsa_next_free_vgpr 3", "outside of .amdhsa_kernel"),
        (".data\nx: .long y", "is no datum"),
        (".data\nx: .zero 999999999", "too many"),
        (".comm x", "expected"),
        (".comm x, y", "expected"),
        ('.amdgcn_target "x86"', "no architecture"),
    ],
)
def test_what_is_wrong_is_told(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        program(f"{text}\n.text\ns_endpgm")
