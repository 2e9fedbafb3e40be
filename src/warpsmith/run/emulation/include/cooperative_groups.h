/* Cooperative groups: this_thread_block, this_grid, tiled_partition, coalesced_threads, and reduce over tiles. C++ only. */
#ifndef WARPSMITH_COOPERATIVE_GROUPS_H
#define WARPSMITH_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

namespace cooperative_groups {

namespace detail {
__forceinline__ unsigned int rank_in_block() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__forceinline__ unsigned int block_threads() {
    return blockDim.x * blockDim.y * blockDim.z;
}
__forceinline__ unsigned int block_rank() {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}
} // namespace detail

class thread_block {
public:
    __forceinline__ static void sync() { (__syncthreads)(); }
    __forceinline__ static unsigned int thread_rank() { return detail::rank_in_block(); }
    __forceinline__ static unsigned int size() { return detail::block_threads(); }
    __forceinline__ static unsigned int num_threads() { return detail::block_threads(); }
    __forceinline__ static dim3 group_index() { return dim3(blockIdx); }
    __forceinline__ static dim3 thread_index() { return dim3(threadIdx); }
    __forceinline__ static dim3 group_dim() { return dim3(blockDim); }
    __forceinline__ static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return thread_block(); }

class grid_group {
public:
    __forceinline__ static bool is_valid() { return true; }
    __forceinline__ static void sync() { ws_grid_barrier(); }
    __forceinline__ static unsigned long long thread_rank() {
        return (unsigned long long)detail::block_rank() * detail::block_threads() + detail::rank_in_block();
    }
    __forceinline__ static unsigned long long size() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * detail::block_threads();
    }
    __forceinline__ static unsigned long long num_threads() { return size(); }
    __forceinline__ static unsigned int block_rank() { return detail::block_rank(); }
    __forceinline__ static dim3 group_dim() { return gridDim; }
};
inline grid_group this_grid() { return grid_group(); }

/* Lanes of one warp: a tile of them, or those that were together. */
class lane_group {
public:
    __forceinline__ lane_group(unsigned int mask, unsigned int base, unsigned int count)
        : mask_(mask), base_(base), count_(count) {}
    __forceinline__ void sync() const { __syncwarp(mask_); }
    __forceinline__ unsigned int thread_rank() const { return __popc(mask_ & ((1u << ws::lane()) - 1u)); }
    __forceinline__ unsigned int size() const { return count_; }
    __forceinline__ unsigned int num_threads() const { return count_; }
    __forceinline__ unsigned int meta_group_rank() const { return detail::rank_in_block() / count_; }
    __forceinline__ unsigned int meta_group_size() const { return (detail::block_threads() + count_ - 1) / count_; }
    template <class T> __forceinline__ T shfl(T v, int from) const { return ws::shuffle(mask_, v, lane_of(from)); }
    template <class T> __forceinline__ T shfl_down(T v, unsigned int by) const { return shifted(v, (int)by); }
    template <class T> __forceinline__ T shfl_up(T v, unsigned int by) const { return shifted(v, -(int)by); }
    template <class T> __forceinline__ T shfl_xor(T v, unsigned int by) const {
        return ws::shuffle(mask_, v, lane_of((int)(thread_rank() ^ by)));
    }
    __forceinline__ int any(int p) const { return __any_sync(mask_, p); }
    __forceinline__ int all(int p) const { return __all_sync(mask_, p); }
    __forceinline__ unsigned int ballot(int p) const { return __ballot_sync(mask_, p) >> base_; }
    __forceinline__ unsigned int mask() const { return mask_; }

private:
    /* The lane whose rank in the group is `rank`; one beyond the group gives the thread's own. */
    __forceinline__ int lane_of(int rank) const {
        if (rank < 0 || rank >= (int)count_) return (int)ws::lane();
        unsigned int rest = mask_;
        for (int i = 0; i < rank; ++i) rest &= rest - 1;
        return __ffs((int)rest) - 1;
    }
    template <class T> __forceinline__ T shifted(T v, int by) const {
        return ws::shuffle(mask_, v, lane_of((int)thread_rank() + by));
    }
    unsigned int mask_, base_, count_;
};

template <unsigned int Size, class Parent = thread_block> class thread_block_tile : public lane_group {
public:
    __forceinline__ thread_block_tile() : lane_group(all_of() << start(), start(), Size) {}
    __forceinline__ static constexpr unsigned int size() { return Size; }
    __forceinline__ static constexpr unsigned int num_threads() { return Size; }

private:
    static constexpr unsigned int all_of() { return Size == 32 ? 0xffffffffu : (1u << (Size & 31)) - 1u; }
    __forceinline__ static unsigned int start() { return ws::lane() / Size * Size; }
};

class coalesced_group : public lane_group {
public:
    __forceinline__ explicit coalesced_group(unsigned int mask) : lane_group(mask, 0, (unsigned int)__popc(mask)) {}
};
__forceinline__ coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/* Any of the groups above, as a parameter of a function. */
class thread_group {
public:
    __forceinline__ thread_group(const thread_block &) : lanes_(ws::all, 0, detail::block_threads()), block_(true) {}
    __forceinline__ thread_group(const lane_group &lanes) : lanes_(lanes), block_(false) {}
    __forceinline__ void sync() const {
        if (block_) (__syncthreads)();
        else lanes_.sync();
    }
    __forceinline__ unsigned int thread_rank() const { return block_ ? detail::rank_in_block() : lanes_.thread_rank(); }
    __forceinline__ unsigned int size() const { return lanes_.size(); }
    __forceinline__ unsigned int num_threads() const { return lanes_.size(); }

private:
    lane_group lanes_;
    bool block_;
};

template <unsigned int Size, class Group> __forceinline__ thread_block_tile<Size, Group> tiled_partition(const Group &) {
    static_assert(Size <= 32 && (Size & (Size - 1)) == 0, "a tile has a power of two of at most 32 threads");
    return thread_block_tile<Size, Group>();
}
template <class Group> __forceinline__ lane_group tiled_partition(const Group &, unsigned int size) {
    const unsigned int base = ws::lane() / size * size;
    return lane_group((size == 32 ? 0xffffffffu : (1u << size) - 1u) << base, base, size);
}

/* The lanes of a group that have the same label. */
template <class Group, class Label>
__forceinline__ coalesced_group labeled_partition(const Group &group, Label label) {
    return coalesced_group(__match_any_sync(group.mask(), label));
}
template <class Group> __forceinline__ coalesced_group binary_partition(const Group &group, bool side) {
    return labeled_partition(group, (int)side);
}

template <class Group> __forceinline__ void sync(const Group &group) { group.sync(); }

template <class T> struct plus {
    __forceinline__ T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less {
    __forceinline__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater {
    __forceinline__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class Group, class T, class F> __forceinline__ T reduce(const Group &group, T value, F combine) {
    return ws::reduce(group.mask(), value, combine);
}

} // namespace cooperative_groups

#endif
