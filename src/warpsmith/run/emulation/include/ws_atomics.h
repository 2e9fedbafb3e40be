/* Atomic operations. The emulator does them, so that the shadow memory knows them from plain accesses. C++ only. */
#ifndef WARPSMITH_WS_ATOMICS_H
#define WARPSMITH_WS_ATOMICS_H

#include "ws_launch.h"

extern "C" {
/* operation on `bytes` at `p`; kind: 0 signed, 1 unsigned, 2 floating point. Returns the old bits. */
uint64_t ws_atomic(void *p, uint64_t value, uint64_t compare, int operation, int bytes_and_kind);
}

namespace ws {
enum { op_add, op_sub, op_exchange, op_min, op_max, op_and, op_or, op_xor, op_inc, op_dec, op_compare };
template <class T> struct Same { typedef T type; };
template <class T> constexpr int kind_of() {
    return (int)sizeof(T) * 4 + (std::is_floating_point<T>::value ? 2 : std::is_unsigned<T>::value ? 1 : 0);
}
template <class T> __forceinline__ T atomic(T *p, T value, int operation) {
    uint64_t word = 0;
    __builtin_memcpy(&word, &value, sizeof value);
    word = ws_atomic((void *)p, word, 0, operation, kind_of<T>());
    T old;
    __builtin_memcpy(&old, &word, sizeof old);
    return old;
}
} // namespace ws

#define WS_ATOMIC(name, operation) \
    template <class T> __forceinline__ T name(T *p, typename ws::Same<T>::type v) { \
        return ws::atomic<T>(p, v, ws::operation); \
    } \
    template <class T> __forceinline__ T name(volatile T *p, typename ws::Same<T>::type v) { \
        return ws::atomic<T>((T *)p, v, ws::operation); \
    } \
    template <class T> __forceinline__ T name##_block(T *p, typename ws::Same<T>::type v) { \
        return ws::atomic<T>(p, v, ws::operation); \
    } \
    template <class T> __forceinline__ T name##_system(T *p, typename ws::Same<T>::type v) { \
        return ws::atomic<T>(p, v, ws::operation); \
    }
WS_ATOMIC(atomicAdd, op_add)
WS_ATOMIC(atomicSub, op_sub)
WS_ATOMIC(atomicExch, op_exchange)
WS_ATOMIC(atomicMin, op_min)
WS_ATOMIC(atomicMax, op_max)
WS_ATOMIC(atomicAnd, op_and)
WS_ATOMIC(atomicOr, op_or)
WS_ATOMIC(atomicXor, op_xor)
WS_ATOMIC(atomicInc, op_inc)
WS_ATOMIC(atomicDec, op_dec)
#undef WS_ATOMIC

#define WS_COMPARE(name) \
    template <class T> \
    __forceinline__ T name(T *p, typename ws::Same<T>::type compare, typename ws::Same<T>::type v) { \
        uint64_t expected = 0, word = 0; \
        __builtin_memcpy(&expected, &compare, sizeof compare); \
        __builtin_memcpy(&word, &v, sizeof v); \
        word = ws_atomic((void *)p, word, expected, ws::op_compare, ws::kind_of<T>()); \
        T old; \
        __builtin_memcpy(&old, &word, sizeof old); \
        return old; \
    }
WS_COMPARE(atomicCAS)
WS_COMPARE(atomicCAS_block)
WS_COMPARE(atomicCAS_system)
#undef WS_COMPARE

#endif
