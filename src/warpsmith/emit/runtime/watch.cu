/* Whether the death of memory is seen. */
#pragma once

#include <stdint.h>

#include "heap.cu"
#include "variables.cu"

#ifndef WS_WITH_OTHER_ALLOCATIONS
/* Whether the death of the block that holds `at` is seen; from now on the present table is notified of it. */
WS_UNCHECKED static bool ws_block_watch(const void *at)
{
    ws_allocations_settle();
    ws_allocations_enter();
    ws_allocation *found = ws_allocation_before(at);
    const bool inside = found != nullptr && (uintptr_t)at - found->start < found->bytes;
    if (inside)
        found->watched = true;
    ws_allocations_leave();
    return inside;
}
#endif

/* Whether memory may be kept: it lives for ever, or its death is seen. */
static bool ws_allocation_watch(const void *at)
{
    uintptr_t start = 0;
    size_t bytes = 0;
#ifndef WS_WITH_OTHER_ALLOCATIONS
    if (ws_block_watch(at))
        return true;
#endif
    return ws_variable_find(at, &start, &bytes);
}
