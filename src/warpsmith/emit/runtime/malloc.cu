/* The allocation functions, as weak symbols over the C library's own, which is possible with glibc.

   All or nothing: where one of them is somebody else's (the program has its own malloc, or is linked statically), blocks
   may die unseen, and nothing is known. Then guards fail, and the user's own loops run. */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heap.cu"

#ifdef WS_WITH_GIVEN
static bool ws_is_given(const void *start);
extern "C" int ws_given_end(void *start);
extern "C" void *ws_given_realloc(void *old, size_t bytes);
#endif

#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define WS_SEES_HEAP 1
#if defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#undef WS_SEES_HEAP
#endif
#endif
#endif

#ifdef WS_SEES_HEAP
/* The allocation functions, over the C library's. Weak: where the program has its own, those are the ones to count. */
extern "C" {
void *__libc_calloc(size_t count, size_t bytes) noexcept;
void *__libc_realloc(void *old, size_t bytes) noexcept;
void *__libc_memalign(size_t alignment, size_t bytes) noexcept;
void *__libc_valloc(size_t bytes) noexcept;
void *__libc_pvalloc(size_t bytes) noexcept;
void __libc_free(void *memory) noexcept;
int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *library) noexcept;

static void *ws_heap_malloc(size_t bytes) noexcept
{
    return ws_allocation_record(__libc_malloc(bytes), bytes, false);
}

static void *ws_heap_calloc(size_t count, size_t bytes) noexcept
{
    return ws_allocation_record(__libc_calloc(count, bytes), count * bytes, false);
}

static void *ws_heap_realloc(void *old, size_t bytes) noexcept
{
#ifdef WS_WITH_GIVEN
    if (ws_is_given(old))
        return ws_given_realloc(old, bytes);
#endif
    /* Forgotten first: as soon as the C library has freed it, another thread may be given the same address. */
    ws_allocation_moves(old);
    ws_allocations_enter();
    const ws_allocation *node = ws_allocation_at((uintptr_t)old);
    const bool known = node != nullptr;
    const size_t had = known ? node->bytes : 0;
    ws_allocation_out((uintptr_t)old);
    ws_allocations_leave();
    void *memory = __libc_realloc(old, bytes);
    if (memory == nullptr && bytes != 0 && known)
        ws_allocation_record(old, had, false);
    return ws_allocation_record(memory, bytes, false);
}

static void ws_heap_free(void *memory) noexcept
{
#ifdef WS_WITH_GIVEN
    if (ws_given_end(memory))
        return;
#endif
    ws_allocation_forget(memory);
    __libc_free(memory);
}

static void *ws_heap_memalign(size_t alignment, size_t bytes) noexcept
{
    return ws_allocation_record(__libc_memalign(alignment, bytes), bytes, false);
}

static int ws_heap_posix_memalign(void **result, size_t alignment, size_t bytes) noexcept
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    const int before = errno;
    void *memory = ws_heap_memalign(alignment, bytes);
    errno = before;
    if (memory == nullptr)
        return ENOMEM;
    *result = memory;
    return 0;
}

static void *ws_heap_valloc(size_t bytes) noexcept
{
    return ws_allocation_record(__libc_valloc(bytes), bytes, false);
}

static void *ws_heap_pvalloc(size_t bytes) noexcept
{
    return ws_allocation_record(__libc_pvalloc(bytes), bytes, false);
}

#define WS_WEAK(name) __asm__(#name) __attribute__((weak, alias("ws_heap_" #name)))
void *ws_any_malloc(size_t bytes) noexcept WS_WEAK(malloc);
void *ws_any_calloc(size_t count, size_t bytes) noexcept WS_WEAK(calloc);
void *ws_any_realloc(void *old, size_t bytes) noexcept WS_WEAK(realloc);
void ws_any_free(void *memory) noexcept WS_WEAK(free);
void *ws_any_memalign(size_t alignment, size_t bytes) noexcept WS_WEAK(memalign);
int ws_any_posix_memalign(void **result, size_t alignment, size_t bytes) noexcept WS_WEAK(posix_memalign);
void *ws_any_valloc(size_t bytes) noexcept WS_WEAK(valloc);
void *ws_any_pvalloc(size_t bytes) noexcept WS_WEAK(pvalloc);
void *ws_any_aligned_alloc(size_t alignment, size_t bytes) noexcept __asm__("aligned_alloc")
    __attribute__((weak, alias("ws_heap_memalign")));
}

/* Whether all of the family are the functions above, for the C library as well. */
static bool ws_sees_heap(void)
{
    void *const volatile seen[][2] = {
        {(void *)ws_any_malloc, (void *)ws_heap_malloc},
        {(void *)ws_any_calloc, (void *)ws_heap_calloc},
        {(void *)ws_any_realloc, (void *)ws_heap_realloc},
        {(void *)ws_any_free, (void *)ws_heap_free},
        {(void *)ws_any_memalign, (void *)ws_heap_memalign},
        {(void *)ws_any_aligned_alloc, (void *)ws_heap_memalign},
        {(void *)ws_any_posix_memalign, (void *)ws_heap_posix_memalign},
        {(void *)ws_any_valloc, (void *)ws_heap_valloc},
        {(void *)ws_any_pvalloc, (void *)ws_heap_pvalloc},
    };
    for (const auto &pair : seen)
        if (pair[0] != pair[1])
            return false;
    uintptr_t start;
    size_t bytes;
    /* Through a variable: compilers take it that the strdup that they know changes nothing of ours. */
    char *(*const volatile probe)(const char *) = strdup;
    char *copy = probe("seen");
    const bool known = copy != nullptr && ws_allocation_find(copy, &start, &bytes) && start == (uintptr_t)copy;
    ws_any_free(copy);
    __register_atfork(ws_allocations_enter, ws_allocations_leave, ws_allocations_leave, nullptr);
    return known;
}

static void ws_allocations_settle(void)
{
    static const bool sees = ws_sees_heap();
    ws_allocation_blind = !sees;
}
#else
static void ws_allocations_settle(void) {}
#endif
