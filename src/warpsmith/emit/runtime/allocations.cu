/* Questions about the block of memory that holds an address: a block of the heap, or a variable of static storage.

       p = malloc(4000)
       ws_allocation_bytes(p + 100)    3900: from there to the end of the block        ws_allocation_bytes(&local)   0: not known

   Invariant: a block of the heap is known only while it lives, and only where its death would be seen.
   After Jablin et al., Automatic CPU-GPU Communication Management and Optimization (PLDI 2011). */
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include "variables.cu"

/* Bytes from `at` to the end of the block that holds it; 0 where none is known. */
extern "C" WS_WEAK_ALLOCATIONS size_t ws_allocation_bytes(const void *at)
{
    uintptr_t start = 0;
    size_t bytes = 0;
    return ws_allocation_of(at, &start, &bytes) ? start + bytes - (uintptr_t)at : 0;
}

/* The first element of the block that holds `at`, counted from there (so never more than 0), and the one past its last:
   only those that lie in it as a whole. */
extern "C" WS_WEAK_ALLOCATIONS long long ws_allocation_lower(const void *at, size_t element)
{
    uintptr_t start = 0;
    size_t bytes = 0;
    return ws_allocation_of(at, &start, &bytes) ? -(long long)(((uintptr_t)at - start) / element) : 0;
}

extern "C" WS_WEAK_ALLOCATIONS long long ws_allocation_upper(const void *at, size_t element)
{
    return (long long)(ws_allocation_bytes(at) / element);
}

/* The bytes of all these elements. */
extern "C" WS_WEAK_ALLOCATIONS long long ws_allocation_size(const void *at, size_t element)
{
    return (ws_allocation_upper(at, element) - ws_allocation_lower(at, element)) * (long long)element;
}

/* Whether one of two pointers points into a known block, or one past its end, and the other does not point there. */
extern "C" WS_WEAK_ALLOCATIONS int ws_allocations_apart(const void *one, const void *other)
{
    uintptr_t start = 0, other_start = 0;
    size_t bytes = 0, other_bytes = 0;
    const bool known = ws_allocation_of(one, &start, &bytes);
    const bool other_known = ws_allocation_of(other, &other_start, &other_bytes);
    if (!known || !other_known)
        return known || other_known;
    return start + bytes <= other_start || other_start + other_bytes <= start;
}
