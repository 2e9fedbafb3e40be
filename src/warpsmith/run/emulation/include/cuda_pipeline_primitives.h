/* Asynchronous copies to shared memory: memory gets something else when a copy begins, and the bytes where its thread waits
   for it, so that what is read too early is wrong. C++ only. */
#ifndef WARPSMITH_CUDA_PIPELINE_PRIMITIVES_H
#define WARPSMITH_CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_runtime.h"

namespace ws {
template <class Word> __forceinline__ void spoil(void *to, size_t bytes) {
    for (size_t n = 0; n < bytes / sizeof(Word); ++n) ((Word *)to)[n] = (Word)0xbadc0ffee0ddf00dull;
}
template <class Word> __forceinline__ void copy_now(const ws_copy_t &copy) {
    for (size_t n = 0; n < copy.bytes / sizeof(Word); ++n)
        ((Word *)copy.to)[n] = n * sizeof(Word) < copy.bytes - copy.zeros ? ((const Word *)copy.from)[n] : (Word)0;
}
} // namespace ws

__forceinline__ void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0) {
    /* the device takes these sizes, at addresses that are multiples of them */
    if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes || ((size_t)to | (size_t)from) % bytes) __trap();
    if (bytes == 4)
        ws::spoil<uint32_t>(to, bytes);
    else
        ws::spoil<uint64_t>(to, bytes);
    ws_copy_later(to, from, bytes, zeros);
}
__forceinline__ void __pipeline_commit(void) { ws_copies_commit(); }
__forceinline__ void __pipeline_wait_prior(size_t prior) {
    ws_copy_t next;
    while (ws_copy_due(prior, &next)) {
        if (next.bytes == 4 || next.zeros % 8)
            ws::copy_now<uint32_t>(next);
        else
            ws::copy_now<uint64_t>(next);
    }
}

#endif
