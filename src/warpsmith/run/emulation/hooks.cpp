/* What instrumented device code calls. The compiler emits these calls for -fsanitize=thread; host code of the same file
   calls them too, so each returns at once while no kernel runs. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <new>

#include "include/ws_atomics.h"
#include "shadow.h"

namespace ws {
void *take_heap(size_t n);
void give_heap(void *p);
} // namespace ws
using namespace ws;

static inline void host_touch(const void *p, size_t bytes, bool write, const void *pc) {
    const Device &d = device;
    if (d.unsynchronized && (Address)p < d.watch_high && (Address)p + bytes > d.watch_low)
        host_access((Address)p, bytes, write, offset_of(pc));
    if (!touches_variable((Address)p)) return;
    report_bad_access("host_touches_device_variable", (Address)p, 1, "access", offset_of(pc), region_at(p));
    stop(134);
}

template <Mode M> static inline void access(const void *p, size_t bytes, const void *pc) {
    if (__builtin_expect(!in_kernel(), 0)) return host_touch(p, bytes, M != Mode::read, pc);
    touch<M>((Address)p, bytes, offset_of(pc));
}

/* A plain access must be aligned to its size, as on the device. */
template <Mode M, size_t N> static inline void aligned(const void *p, const void *pc) {
    if (N > 1 && __builtin_expect(((Address)p & (N - 1)) != 0 && in_kernel() && N <= 8, 0)) {
        report_bad_access("misaligned", (Address)p, N, M == Mode::read ? "read" : "write", offset_of(pc), region_at(p));
        abort_launch(cudaErrorMisalignedAddress);
    }
    access<M>(p, N, pc);
}

#define PC __builtin_return_address(0)
extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}

#define PLAIN(N) \
    void __tsan_read##N(void *p) { aligned<Mode::read, N>(p, PC); } \
    void __tsan_write##N(void *p) { aligned<Mode::write, N>(p, PC); } \
    void __tsan_read_write##N(void *p) { aligned<Mode::read, N>(p, PC); aligned<Mode::write, N>(p, PC); } \
    void __tsan_volatile_read##N(void *p) { aligned<Mode::read, N>(p, PC); } \
    void __tsan_volatile_write##N(void *p) { aligned<Mode::write, N>(p, PC); } \
    void __tsan_unaligned_read##N(void *p) { access<Mode::read>(p, N, PC); } \
    void __tsan_unaligned_write##N(void *p) { access<Mode::write>(p, N, PC); } \
    void __tsan_unaligned_read_write##N(void *p) { access<Mode::read>(p, N, PC); access<Mode::write>(p, N, PC); } \
    void __tsan_unaligned_volatile_read##N(void *p) { access<Mode::read>(p, N, PC); } \
    void __tsan_unaligned_volatile_write##N(void *p) { access<Mode::write>(p, N, PC); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)
#undef PLAIN

void __tsan_read_range(void *p, size_t n) { if (n) access<Mode::read>(p, n, PC); }
void __tsan_write_range(void *p, size_t n) { if (n) access<Mode::write>(p, n, PC); }

/* Calls of the C library's functions by files with device code (see ws_instrumented.h). */
void *ws_memcpy(void *to, const void *from, size_t n) {
    if (n) {
        access<Mode::read>(from, n, PC);
        access<Mode::write>(to, n, PC);
    }
    return memcpy(to, from, n);
}
void *ws_memmove(void *to, const void *from, size_t n) {
    if (n) {
        access<Mode::read>(from, n, PC);
        access<Mode::write>(to, n, PC);
    }
    return memmove(to, from, n);
}
void *ws_memset(void *to, int value, size_t n) {
    if (n) access<Mode::write>(to, n, PC);
    return memset(to, value, n);
}
void *__tsan_memcpy(void *to, const void *from, size_t n) { return ws_memcpy(to, from, n); }
void *__tsan_memmove(void *to, const void *from, size_t n) { return ws_memmove(to, from, n); }
void *__tsan_memset(void *to, int value, size_t n) { return ws_memset(to, value, n); }

/* malloc in a kernel gives device memory, as the device heap does. */
void *ws_heap_take(size_t n) {
    if (!in_kernel()) return malloc(n);
    Region *region = acquire(n ? n : 1, Space::global, "the device heap", WS_CALLER);
    return region ? (void *)region->base : nullptr;
}
void ws_heap_give(void *p) {
    if (p && (Address)p - device.arena < device.arena_bytes) {
        if (!release((Address)p, Space::global))
            report_bad_access("bad_free", (Address)p, 1, "free", WS_CALLER, region_at(p));
        return;
    }
    free(p);
}
void ws_assert_fail(const char *text, const char *file, unsigned int line, const char *function) {
    if (!in_kernel()) __assert_fail(text, file, line, function);
    fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line, function,
            blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, text);
    report_event("assert", text, WS_CALLER, 0);
    abort_launch(cudaErrorAssert);
}
}

/* new and delete in files with device code. */
void *ws::take_heap(size_t n) { return in_kernel() ? ws_heap_take(n) : operator new(n); }
void ws::give_heap(void *p) {
    if ((Address)p - device.arena < device.arena_bytes) ws_heap_give(p);
    else operator delete(p);
}

/* A fence and then an atomic publish what came before; an atomic takes up what others published at its address. */
static void publish_and_take(Address address) {
    Device &d = device;
    if (!d.thread->fenced && d.released.empty()) return;
    Slot &slot = *d.slot;
    auto &published = d.released[address];
    for (const auto &[block, release] : published)
        if (block != d.block) {
            const auto found = slot.acquired.find(block);
            if (found == slot.acquired.end() || found->second.release.stamp < release.stamp ||
                (found->second.release.stamp == release.stamp && found->second.release.step < release.step))
                slot.acquired[block] = Acquired{release, d.now.stamp, d.now.thread()};
        }
    if (!d.thread->fenced) return;
    for (const auto &[block, acquired] : slot.acquired)
        if (acquired.stamp != d.now.stamp || acquired.thread == d.now.thread()) published[block] = acquired.release;
    const uint32_t after = ++d.thread->step;
    d.now.who = (d.now.who & 2047u) | after << 11;
    published[d.block] = Release{d.now.stamp, d.now.thread(), d.thread->fenced, after};
}

template <class T, class Signed> static T combine(T old, T value, T compare, int operation) {
    switch (operation) {
    case op_add: return (T)(old + value);
    case op_sub: return (T)(old - value);
    case op_exchange: return value;
    case op_min: return (Signed)value < (Signed)old ? value : old;
    case op_max: return (Signed)old < (Signed)value ? value : old;
    case op_and: return (T)(old & value);
    case op_or: return (T)(old | value);
    case op_xor: return (T)(old ^ value);
    case op_inc: return old >= value ? (T)0 : (T)(old + 1);
    case op_dec: return old == 0 || old > value ? value : (T)(old - 1);
    default: return old == compare ? value : old;
    }
}

/* Floating point: addition and extrema are arithmetic, the rest works on bits. */
template <class F, class T> static T combine_float(T old, T value, T compare, int operation) {
    F a, b;
    __builtin_memcpy(&a, &old, sizeof a);
    __builtin_memcpy(&b, &value, sizeof b);
    switch (operation) {
    case op_add: a = a + b; break;
    case op_sub: a = a - b; break;
    case op_min: a = b < a ? b : a; break;
    case op_max: a = a < b ? b : a; break;
    default: return combine<T, T>(old, value, compare, operation);
    }
    __builtin_memcpy(&old, &a, sizeof a);
    return old;
}

template <class T, class S, class F>
static uint64_t atomic_on(void *p, uint64_t value, uint64_t compare, int operation, int kind) {
    T *cell = static_cast<T *>(p);
    const T old = *cell;
    if (kind == 2) *cell = combine_float<F, T>(old, (T)value, (T)compare, operation);
    else if (kind == 1) *cell = combine<T, T>(old, (T)value, (T)compare, operation);
    else *cell = combine<T, S>(old, (T)value, (T)compare, operation);
    return old;
}

static uint64_t atomic_at(void *p, uint64_t value, uint64_t compare, int operation, int what, const void *pc) {
    const int bytes = what >> 2, kind = what & 3;
    if (in_kernel()) {
        access<Mode::atomic>(p, (size_t)bytes, pc);
        /* A thread that waits for another does it by atomics: it shall give way sooner than one that works. */
        device.fuel -= device.fuel > 64 ? 63 : 0;
        if (device.slot) publish_and_take((Address)p);
    }
    switch (bytes) {
    case 1: return atomic_on<uint8_t, int8_t, float>(p, value, compare, operation, kind == 2 ? 1 : kind);
    case 2: return atomic_on<uint16_t, int16_t, float>(p, value, compare, operation, kind == 2 ? 1 : kind);
    case 4: return atomic_on<uint32_t, int32_t, float>(p, value, compare, operation, kind);
    default: return atomic_on<uint64_t, int64_t, double>(p, value, compare, operation, kind);
    }
}

extern "C" uint64_t ws_atomic(void *p, uint64_t value, uint64_t compare, int operation, int what) {
    return atomic_at(p, value, compare, operation, what, PC);
}

/* The compiler's own atomics (std::atomic, guards of static variables). */
#define ATOMICS(BITS, T) \
    extern "C" T __tsan_atomic##BITS##_load(const volatile T *p, int) { \
        if (in_kernel()) return (T)atomic_at((void *)p, 0, 0, op_or, (BITS / 8) * 4 + 1, PC); \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST); \
    } \
    extern "C" void __tsan_atomic##BITS##_store(volatile T *p, T v, int) { \
        if (in_kernel()) atomic_at((void *)p, v, 0, op_exchange, (BITS / 8) * 4 + 1, PC); \
        else __atomic_store_n(p, v, __ATOMIC_SEQ_CST); \
    } \
    extern "C" T __tsan_atomic##BITS##_exchange(volatile T *p, T v, int) { \
        if (in_kernel()) return (T)atomic_at((void *)p, v, 0, op_exchange, (BITS / 8) * 4 + 1, PC); \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST); \
    } \
    extern "C" int __tsan_atomic##BITS##_compare_exchange_strong(volatile T *p, T *expected, T v, int, int) { \
        if (!in_kernel()) \
            return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        const T old = (T)atomic_at((void *)p, v, *expected, op_compare, (BITS / 8) * 4 + 1, PC); \
        const bool same = old == *expected; \
        *expected = old; \
        return same; \
    } \
    extern "C" int __tsan_atomic##BITS##_compare_exchange_weak(volatile T *p, T *expected, T v, int a, int b) { \
        return __tsan_atomic##BITS##_compare_exchange_strong(p, expected, v, a, b); \
    } \
    extern "C" T __tsan_atomic##BITS##_compare_exchange_val(volatile T *p, T expected, T v, int a, int b) { \
        __tsan_atomic##BITS##_compare_exchange_strong(p, &expected, v, a, b); \
        return expected; \
    }
#define FETCH(BITS, T, name, operation) \
    extern "C" T __tsan_atomic##BITS##_fetch_##name(volatile T *p, T v, int) { \
        if (in_kernel()) return (T)atomic_at((void *)p, v, 0, operation, (BITS / 8) * 4 + 1, PC); \
        return __atomic_fetch_##name(p, v, __ATOMIC_SEQ_CST); \
    }
#define ALL_ATOMICS(BITS, T) \
    ATOMICS(BITS, T) \
    FETCH(BITS, T, add, op_add) \
    FETCH(BITS, T, sub, op_sub) \
    FETCH(BITS, T, and, op_and) \
    FETCH(BITS, T, or, op_or) \
    FETCH(BITS, T, xor, op_xor)
ALL_ATOMICS(8, uint8_t)
ALL_ATOMICS(16, uint16_t)
ALL_ATOMICS(32, uint32_t)
ALL_ATOMICS(64, uint64_t)
extern "C" void __tsan_atomic_thread_fence(int) { if (in_kernel()) ws_fence(1); }
extern "C" void __tsan_atomic_signal_fence(int) {}
