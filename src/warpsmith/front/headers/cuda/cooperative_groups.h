#pragma GCC system_header
/* Cooperative groups, written in terms of the intrinsics that they stand for. */
#ifndef WARPSMITH_COOPERATIVE_GROUPS_H
#define WARPSMITH_COOPERATIVE_GROUPS_H
#include "mini_cuda.h"

namespace cooperative_groups {

__device__ inline unsigned ws_thread_rank(void)
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ inline unsigned ws_block_size(void) { return blockDim.x * blockDim.y * blockDim.z; }

class thread_group {
public:
    unsigned count, rank, kind, lanes;
    __device__ thread_group() {}
    __device__ thread_group(unsigned c, unsigned r, unsigned k, unsigned m = 0xffffffffu)
        : count(c), rank(r), kind(k), lanes(m) {}
    __device__ unsigned size() const { return count; }
    __device__ unsigned num_threads() const { return count; }
    __device__ unsigned thread_rank() const { return rank; }
    __device__ void sync() const
    {
        if (kind == 0)
            __syncthreads();
        else if (kind == 1)
            __syncwarp(lanes);
        else
            ws_grid_sync();
    }
};

class thread_block : public thread_group {
public:
    __device__ thread_block() : thread_group(ws_block_size(), ws_thread_rank(), 0) {}
    __device__ void sync() const { __syncthreads(); }
    __device__ static unsigned size() { return ws_block_size(); }
    __device__ static unsigned num_threads() { return ws_block_size(); }
    __device__ static unsigned thread_rank() { return ws_thread_rank(); }
    __device__ static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    __device__ static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    __device__ static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    __device__ static dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
};
__device__ inline thread_block this_thread_block() { return thread_block(); }

class grid_group : public thread_group {
public:
    __device__ grid_group() : thread_group(0, 0, 2) {}
    __device__ void sync() const { ws_grid_sync(); }
    __device__ bool is_valid() const { return true; }
    __device__ static unsigned long long size()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * ws_block_size();
    }
    __device__ static unsigned long long num_threads() { return size(); }
    __device__ static unsigned long long block_rank()
    {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    __device__ static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    __device__ static unsigned long long thread_rank() { return block_rank() * ws_block_size() + ws_thread_rank(); }
    __device__ static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    __device__ static dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    __device__ static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};
__device__ inline grid_group this_grid() { return grid_group(); }

class multi_grid_group : public thread_group {
public:
    __device__ multi_grid_group() : thread_group(0, 0, 2) {}
    __device__ void sync() const { ws_grid_sync(); }
    __device__ unsigned grid_rank() const;
    __device__ unsigned num_grids() const;
    __device__ unsigned long long thread_rank() const;
    __device__ unsigned long long size() const;
};
__device__ multi_grid_group this_multi_grid();

template <unsigned N> struct ws_tile_mask {
    __device__ static unsigned here() { return ((1u << N) - 1u) << ((ws_thread_rank() & 31u) & ~(N - 1u)); }
};
template <> struct ws_tile_mask<32> {
    __device__ static unsigned here() { return 0xffffffffu; }
};

template <unsigned N, class Parent = thread_block> class thread_block_tile : public thread_group {
public:
    __device__ void sync() const { __syncwarp(ws_tile_mask<N>::here()); }
    __device__ static constexpr unsigned size() { return N; }
    __device__ static constexpr unsigned num_threads() { return N; }
    __device__ static unsigned thread_rank() { return ws_thread_rank() & (N - 1u); }
    __device__ static unsigned meta_group_rank() { return ws_thread_rank() / N; }
    __device__ static unsigned meta_group_size() { return (ws_block_size() + N - 1u) / N; }
    template <class T> __device__ T shfl(T value, int lane) const
    {
        return __shfl_sync(ws_tile_mask<N>::here(), value, lane, N);
    }
    template <class T> __device__ T shfl_down(T value, unsigned delta) const
    {
        return __shfl_down_sync(ws_tile_mask<N>::here(), value, delta, N);
    }
    template <class T> __device__ T shfl_up(T value, unsigned delta) const
    {
        return __shfl_up_sync(ws_tile_mask<N>::here(), value, delta, N);
    }
    template <class T> __device__ T shfl_xor(T value, unsigned lanes) const
    {
        return __shfl_xor_sync(ws_tile_mask<N>::here(), value, lanes, N);
    }
    __device__ int any(int predicate) const { return __any_sync(ws_tile_mask<N>::here(), predicate); }
    __device__ int all(int predicate) const { return __all_sync(ws_tile_mask<N>::here(), predicate); }
    template <class T> __device__ unsigned match_any(T value) const
    {
        return __match_any_sync(ws_tile_mask<N>::here(), value) >> ((ws_thread_rank() & 31u) & ~(N - 1u));
    }
    __device__ unsigned ballot(int predicate) const
    {
        unsigned votes = __ballot_sync(ws_tile_mask<N>::here(), predicate) & ws_tile_mask<N>::here();
        return votes >> ((ws_thread_rank() & 31u) & ~(N - 1u));
    }
};
template <unsigned N, class Parent> __device__ inline thread_block_tile<N, Parent> tiled_partition(const Parent &)
{
    thread_block_tile<N, Parent> tile;
    tile.count = N;
    tile.rank = ws_thread_rank() & (N - 1u);
    tile.kind = 1;
    tile.lanes = ws_tile_mask<N>::here();
    return tile;
}

/* the lane that has so many lanes of a set below it */
__device__ inline unsigned ws_lane_of(unsigned lanes, unsigned rank)
{
    unsigned lane = 0;
    for (unsigned step = 16; step > 0; step /= 2)
        lane += __popc(lanes & ((1u << (lane + step)) - 1u)) <= (int)rank ? step : 0u;
    return lane;
}
/* the bits of the lanes of a set, side by side */
__device__ inline unsigned ws_pack(unsigned lanes, unsigned bits)
{
    unsigned packed = 0;
    unsigned rank = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        packed |= (bits >> lane & lanes >> lane & 1u) << (rank & 31u);
        rank += lanes >> lane & 1u;
    }
    return packed;
}

class coalesced_group : public thread_group {
public:
    __device__ coalesced_group(unsigned m)
        : thread_group(__popc(m), __popc(m & ((1u << (ws_thread_rank() & 31u)) - 1u)), 1, m) {}
    __device__ void sync() const { __syncwarp(lanes); }
    __device__ int any(int predicate) const { return __any_sync(lanes, predicate); }
    __device__ int all(int predicate) const { return __all_sync(lanes, predicate); }
    __device__ unsigned ballot(int predicate) const { return ws_pack(lanes, __ballot_sync(lanes, predicate)); }
    template <class T> __device__ unsigned match_any(T value) const
    {
        return ws_pack(lanes, __match_any_sync(lanes, value));
    }
    template <class T> __device__ T shfl(T value, int lane) const
    {
        return __shfl_sync(lanes, value, ws_lane_of(lanes, (unsigned)lane % count));
    }
    template <class T> __device__ T shfl_down(T value, unsigned delta) const
    {
        return __shfl_sync(lanes, value, ws_lane_of(lanes, rank + delta < count ? rank + delta : rank));
    }
    template <class T> __device__ T shfl_up(T value, unsigned delta) const
    {
        return __shfl_sync(lanes, value, ws_lane_of(lanes, rank >= delta ? rank - delta : rank));
    }
    __device__ unsigned meta_group_rank() const;
    __device__ unsigned meta_group_size() const;
};
__device__ inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }
/* a part of a block or of a tile; its size is a power of two, a warp at most */
__device__ inline thread_group tiled_partition(const thread_group &, unsigned size)
{
    unsigned lane = ws_thread_rank() & 31u;
    unsigned tile = size < 32u ? ((1u << size) - 1u) << (lane & ~(size - 1u)) : 0xffffffffu;
    return thread_group(size, lane & (size - 1u), 1, tile);
}
template <class Group> __device__ inline coalesced_group binary_partition(const Group &group, bool predicate)
{
    unsigned votes = __ballot_sync(group.lanes, predicate) & group.lanes;
    return coalesced_group(predicate ? votes : group.lanes & ~votes);
}
template <class Group> __device__ inline coalesced_group labeled_partition(const Group &group, int label)
{
    return coalesced_group(__match_any_sync(group.lanes, label) & group.lanes);
}
template <class Group> __device__ inline void sync(const Group &group) { group.sync(); }
template <class Group> __device__ inline unsigned thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> __device__ inline unsigned group_size(const Group &group) { return group.size(); }

template <class T> struct plus {
    __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less {
    __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater {
    __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T> struct bit_and {
    __device__ T operator()(T a, T b) const { return a & b; }
};
template <class T> struct bit_or {
    __device__ T operator()(T a, T b) const { return a | b; }
};
template <class T> struct bit_xor {
    __device__ T operator()(T a, T b) const { return a ^ b; }
};
template <unsigned N, class Parent, class T, class Op>
__device__ inline T reduce(const thread_block_tile<N, Parent> &tile, T value, Op op)
{
    for (unsigned lanes = N / 2; lanes > 0; lanes /= 2)
        value = op(value, tile.shfl_xor(value, lanes));
    return value;
}
template <class T, class Op> __device__ inline T reduce(const coalesced_group &group, T value, Op op)
{
    T total = group.shfl(value, 0);
    for (unsigned rank = 1; rank < group.count; rank++)
        total = op(total, group.shfl(value, rank));
    return total;
}
template <class Group, class T, class Op> __device__ inline T inclusive_scan(const Group &group, T value, Op op)
{
    for (unsigned delta = 1; delta < group.size(); delta *= 2) {
        T before = group.shfl_up(value, delta);
        if (group.thread_rank() >= delta)
            value = op(before, value);
    }
    return value;
}
template <class Group, class T> __device__ inline T inclusive_scan(const Group &group, T value)
{
    return inclusive_scan(group, value, plus<T>());
}
/* of the first thread, for which there is no value with another operator than plus */
template <class Group, class T, class Op> __device__ T exclusive_scan(const Group &, T value, Op op);
template <class Group, class T> __device__ inline T exclusive_scan(const Group &group, T value, plus<T> op)
{
    T before = group.shfl_up(inclusive_scan(group, value, op), 1);
    return group.thread_rank() > 0 ? before : T(0);
}
template <class Group, class T> __device__ inline T exclusive_scan(const Group &group, T value)
{
    return exclusive_scan(group, value, plus<T>());
}
/* the copy is made at once */
template <class Group, class T, class Size>
__device__ inline void memcpy_async(const Group &group, T *to, const T *from, Size bytes)
{
    ws_asynchronous();
    for (unsigned long n = group.thread_rank(); n < (unsigned long)bytes / sizeof(T); n += group.size())
        to[n] = from[n];
}
template <class Group> __device__ inline void wait(const Group &group) { group.sync(); }
template <unsigned N, class Group> __device__ inline void wait_prior(const Group &group) { group.sync(); }

}

#endif
