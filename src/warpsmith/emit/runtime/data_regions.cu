/* Data regions: between begin and end, what may be kept on the device is kept; the outermost end copies back. */
#pragma once

#include <mutex>

#include "present.cu"

#ifdef WS_WITH_ALLOCATIONS
#include "watched.cu"
#endif

/* Copy back and forget all ranges without a user. */
static void ws_let_go(const char *file, int line)
{
    for (ws_range *range = ws_ranges; range != nullptr;) {
        ws_range *next = range->next;
        if (range->users == 0)
            ws_hand_over(range, file, line);
        range = next;
    }
}

extern "C" void ws_data_begin(const char *file, int line)
{
    const std::lock_guard<std::mutex> guard(ws_table);
    (void)file;
    (void)line;
    ws_data_regions++;
#ifdef WS_WITH_ALLOCATIONS
    ws_stack_begins();
#endif
}

extern "C" void ws_data_end(const char *file, int line)
{
    const std::lock_guard<std::mutex> guard(ws_table);
#ifdef WS_WITH_ALLOCATIONS
    ws_stack_ends(file, line);
#endif
    if (--ws_data_regions > 0)
        return;
    /* An exception may have left a suspension on its way here. */
    ws_data_suspended = 0;
    ws_let_go(file, line);
}

extern "C" void ws_data_suspend(const char *file, int line)
{
    const std::lock_guard<std::mutex> guard(ws_table);
    ws_let_go(file, line);
    ws_data_suspended++;
}

/* What follows runs on the host alone: all comes back, and is copied anew where a kernel needs it. */
extern "C" void ws_data_to_host(const char *file, int line)
{
    const std::lock_guard<std::mutex> guard(ws_table);
    for (const ws_range *range = ws_ranges; range != nullptr; range = range->next)
        ws_to_host(range->host, range->host + range->bytes, file, line);
    ws_let_go(file, line);
}

extern "C" void ws_data_resume(const char *file, int line)
{
    const std::lock_guard<std::mutex> guard(ws_table);
    (void)file;
    (void)line;
    ws_data_suspended--;
}
