/* Memory that dies while a data region lasts: the present table keeps only what is seen to die, or to outlive it.

       free(p), realloc(p, n)      the table of blocks tells: what the device has of it is forgotten, or comes back before

       higher addresses   main's frame          -+ callers of the function that begins it: they wait for it,
                          solve's arguments     -+ so that nothing of theirs ends before the data region does
       WS_FRAME --------> solve's frame            has what solve declared before it, named, beside what its
                                                   inner blocks and what is inlined declare: that dies
       lower addresses    step's frame             called in it: its memory is another object's a moment later

   Invariant: every region that is registered (`ws_lastings`) belongs to objects that live until the outermost data region
   of the thread that began it ends. Then the list is emptied, and nothing that meets it stays on the device, whoever else
   holds.

   Limits: one thread's data region at a time; callers only where the frame is known to lie above the function's own
   objects, and the end of the thread's stack is known (x86-64 with glibc). What is not known is not kept. */
#pragma once

#include <mutex>
#include <stdlib.h>

#include "present.cu"

#if defined __GLIBC__ && defined __x86_64__
#include <pthread.h>
#endif

/* A block of memory dies: what the device has of it is nobody's any more. It moves: the host has all of it before. */
extern "C" void ws_data_dies(const void *host, long long bytes, int moves)
{
    const std::lock_guard<std::mutex> guard(ws_table);
    const char *begin = (const char *)host, *end = begin + bytes;
    if (moves != 0)
        ws_to_host(begin, end, __FILE__, __LINE__);
    for (ws_range *range : ws_met(begin, end)) {
        range->dead = true;
        range->written = false;
        if (range->users == 0)
            ws_unlink(range);
    }
}

struct ws_lasting {
    const char *begin, *end;
    ws_lasting *next;
};

static ws_lasting *ws_lastings;
static const char *ws_opener;
static int ws_opened;

/* An address that each thread has for itself. */
static const char *ws_thread(void)
{
    static thread_local char mine;
    return &mine;
}

/* The end of the stack that an address of this thread's lies on; null where it is not known. */
static const char *ws_stack_end(const char *at)
{
#if defined __GLIBC__ && defined __x86_64__
    static thread_local char *low, *high;
    pthread_attr_t known;
    if (high == nullptr && pthread_getattr_np(pthread_self(), &known) == 0) {
        void *memory = nullptr;
        size_t bytes = 0;
        if (pthread_attr_getstack(&known, &memory, &bytes) == 0) {
            low = (char *)memory;
            high = low + bytes;
        }
        pthread_attr_destroy(&known);
    }
    return low <= at && at < high ? high : nullptr;
#else
    (void)at;
    return nullptr;
#endif
}

static void ws_stack_begins(void)
{
    if (ws_data_regions == 1) {
        ws_opener = ws_thread();
        ws_opened = 0;
    }
    if (ws_opener == ws_thread())
        ws_opened++;
}

static void ws_lasts(const char *begin, const char *end)
{
    if (ws_opener != ws_thread() || ws_opened != 1)
        return;
    ws_lasting *one = (ws_lasting *)malloc(sizeof *one);
    if (one == nullptr)
        return;
    *one = ws_lasting{begin, end, ws_lastings};
    ws_lastings = one;
}

extern "C" void ws_data_outlives(const void *object, long long bytes)
{
    const std::lock_guard<std::mutex> guard(ws_table);
    ws_lasts((const char *)object, (const char *)object + bytes);
}

extern "C" void ws_data_callers(const void *frame)
{
    const std::lock_guard<std::mutex> guard(ws_table);
    const char *end = frame == nullptr ? nullptr : ws_stack_end((const char *)frame);
    if (end != nullptr)
        ws_lasts((const char *)frame, end);
}

static bool ws_outlives(const char *begin, const char *end)
{
    const ws_lasting *one = ws_lastings;
    while (one != nullptr && (begin < one->begin || end > one->end))
        one = one->next;
    return one != nullptr;
}

/* A data region ends: if it is the opener's outermost one, what was kept for it is not kept any longer. */
static void ws_stack_ends(const char *file, int line)
{
    if (ws_opener != ws_thread() || --ws_opened > 0)
        return;
    ws_opener = nullptr;
    while (ws_lastings != nullptr) {
        ws_lasting *one = ws_lastings;
        for (ws_range *range : ws_met(one->begin, one->end)) {
            range->kept = false;
            if (range->users == 0)
                ws_hand_over(range, file, line);
        }
        ws_lastings = one->next;
        free(one);
    }
}
