"""What LLVM's back ends call things."""

from __future__ import annotations

from tests.targets.llvm.texts import ir_of
from warpsmith.targets.llvm.machines import Amd, Nvidia

BALLOT = "__global__ void k(unsigned *a) { a[threadIdx.x] = __ballot_sync(~0u, threadIdx.x & 1); }"


def test_a_warp_is_all_of_wave32_and_a_half_of_wave64() -> None:
    wide, narrow = ir_of(BALLOT, Amd(64)), ir_of(BALLOT, Amd(32))
    assert '@"llvm.amdgcn.ballot.i64"' in wide
    assert "lshr i64" in wide
    assert '@"llvm.amdgcn.ballot.i32"' in narrow
    assert "mbcnt.hi" not in narrow


def test_the_size_of_a_launch_is_in_the_packet_of_the_dispatch() -> None:
    ir = ir_of("__global__ void k(int *a) { a[0] = gridDim.y * blockDim.x; }")
    assert '@"llvm.amdgcn.dispatch.ptr"' in ir
    assert ", i64 16" in ir
    assert ", i64 4" in ir


def test_names_of_ptx_have_no_other_signs() -> None:
    assert Nvidia().symbol("tile.1") == "tile$2e$1"
    assert Amd(64).symbol("tile.1") == "tile.1"


def test_a_kernel_says_how_many_threads_a_block_has() -> None:
    assert Amd(64).attributes(256)[0] == '"amdgpu-flat-work-group-size"="256,256"'
    assert Amd(64).attributes(None)[0] == '"amdgpu-flat-work-group-size"="1,1024"'
    assert Nvidia().attributes(256) == ()
