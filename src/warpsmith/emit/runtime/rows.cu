/* Rows of `T **`: where they start.

       a[0] --> block A        starts on the host: 0, B - A, ..., in elements, whatever blocks the rows lie in
       a[1] --> block B        on the device: 0, B' - A', ..., for the copies A', B' that the present table has

   Invariant: a start is the difference of two addresses, as numbers of 64 bits, and row zero plus its start is the row:
   in the memory of the program, and among the copies. What is not the whole block of a row that is there is not reached
   from it. Rows whose block is not known, or that no whole number of elements leads to, have no starts at all. */
#pragma once

#include <algorithm>
#include <mutex>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#include "allocations.cu"

/* Where rows start, for each array of row pointers and size of element: rows `from` .. `count` - 1 of it. `seen`: the
   row pointers that this is about; `blocks`: what they lead into, as long as no block with a row has died since (all
   zero: nobody knows, or it has no start); `order`: the known rows by address. */
struct ws_span {
    uintptr_t start, end;
};

struct ws_rows {
    const char *const *first;
    long long from, count, zero;
    size_t element;
    std::vector<long long> starts;
    std::vector<const char *> seen;
    std::vector<ws_span> blocks, sorted;
    std::vector<size_t> order;
    unsigned long long deaths, turn;
    bool distinct;
    ws_rows *next;
};

static ws_rows *ws_known_rows;
static std::mutex ws_rows_lock;

/* Tell where a row starts, whose block is known; false where that is no whole number of elements from row zero. Blocks
   begin on the device where an element of a power of two may begin. */
static bool ws_row_start(ws_rows *rows, size_t i, const ws_span *block)
{
    const size_t zero = (size_t)rows->zero, element = rows->element;
    const uintptr_t here = (uintptr_t)rows->seen[i], there = (uintptr_t)rows->seen[zero];
    const uintptr_t block_of_zero = rows->blocks[zero].start;
    const long long from = (long long)(here - there);
    if (block->start != block_of_zero)
        for (const uintptr_t at : {(uintptr_t)256, here, there, block->start, block_of_zero})
            if (at % element != 0)
                return false;
    rows->starts[i] = from / (long long)element;
    return from % (long long)element == 0;
}

/* Look at every row. */
static void ws_rows_look(ws_rows *rows)
{
    ws_span block = {0, 0};
    rows->zero = -1;
    for (size_t i = (size_t)rows->from; i < rows->seen.size(); i++) {
        const uintptr_t row = (uintptr_t)rows->seen[i];
        size_t bytes = block.end - block.start;
        rows->starts[i] = 0;
        if (row == 0 || ((row < block.start || row >= block.end) &&
                         !ws_allocation_of((const void *)row, &block.start, &bytes, true)))
            continue;
        block.end = block.start + bytes;
        if (rows->zero < 0) {
            rows->zero = (long long)i;
            rows->blocks[i] = block;
        } else if (ws_row_start(rows, i, &block))
            rows->blocks[i] = block;
    }
}

/* Make what is known of rows what is true now. */
static void ws_rows_fill(ws_rows *rows)
{
    const size_t count = (size_t)rows->count, from = (size_t)rows->from, bytes = (count - from) * sizeof(char *);
    if (rows->deaths == ws_row_deaths && memcmp(rows->seen.data() + from, rows->first + from, bytes) == 0)
        return;
    rows->turn++;
    rows->deaths = ws_row_deaths;
    std::copy(rows->first + from, rows->first + count, rows->seen.begin() + (long)from);
    rows->blocks.assign(count, ws_span{0, 0});
    rows->sorted.clear();
    rows->order.clear();
    ws_rows_look(rows);
    for (size_t i = from; i < count; i++)
        if (rows->blocks[i].start != 0) {
            rows->sorted.push_back(rows->blocks[i]);
            rows->order.push_back(i);
        }
    std::sort(rows->order.begin(), rows->order.end(),
              [rows](size_t a, size_t b) { return rows->seen[a] < rows->seen[b]; });
    std::sort(rows->sorted.begin(), rows->sorted.end(),
              [](const ws_span &a, const ws_span &b) { return a.start < b.start; });
    rows->distinct = true;
    for (size_t i = 1; i < rows->sorted.size(); i++)
        if (rows->sorted[i].start == rows->sorted[i - 1].start || rows->sorted[i].start < rows->sorted[i - 1].end)
            rows->distinct = false;
}

/* The rows that start as `starts` says, which may be in the middle of them; null where these are no starts. */
extern "C" WS_WEAK_ALLOCATIONS ws_rows *ws_rows_of(const void *starts)
{
    const std::lock_guard<std::mutex> guard(ws_rows_lock);
    const long long *at = (const long long *)starts;
    ws_rows *rows = ws_known_rows;
    while (rows != nullptr && !(at >= rows->starts.data() && at < rows->starts.data() + rows->count))
        rows = rows->next;
    return rows;
}

/* The starts of an array of row pointers, where those of rows low .. high - 1 can be determined; else null. */
static const long long *ws_rows_find(const char *const *first, long long from, long long count, size_t element,
                                     long long low, long long high)
{
    const std::lock_guard<std::mutex> guard(ws_rows_lock);
    ws_rows *rows = ws_known_rows;
    while (rows != nullptr &&
           !(rows->first == first && rows->from == from && rows->count == count && rows->element == element))
        rows = rows->next;
    if (rows == nullptr) {
        const std::vector<long long> starts((size_t)count);
        const std::vector<const char *> seen((size_t)count);
        rows = new ws_rows{first, from, count, 0, element, starts, seen, {}, {}, {}, ~0ull, 0, false, ws_known_rows};
        ws_known_rows = rows;
    }
    ws_rows_fill(rows);
    for (long long i = low; i < high; i++)
        if (rows->seen[(size_t)i] != nullptr && rows->blocks[(size_t)i].start == 0)
            return nullptr;
    return rows->zero >= 0 ? rows->starts.data() : nullptr;
}

extern "C" WS_WEAK_ALLOCATIONS const long long *ws_row_starts(const void *list, size_t element)
{
    const long long before = ws_allocation_lower(list, sizeof(char *)),
                    after = ws_allocation_upper(list, sizeof(char *));
    const long long count = after - before;
    if (after <= 0)
        return nullptr;
    const long long *starts = ws_rows_find((const char *const *)list + before, 0, count, element, 0, count);
    return starts != nullptr ? starts - before : nullptr;
}

/* Rows beside those that are asked for may be anything. Where the array is a known block, all answers are about it. */
extern "C" WS_WEAK_ALLOCATIONS const long long *ws_row_starts_of(const void *list, long long low, long long high,
                                                                 size_t element)
{
    long long before = ws_allocation_lower(list, sizeof(char *)), after = ws_allocation_upper(list, sizeof(char *)),
              from = 0;
    if (list == nullptr || low >= high || high <= 0)
        return nullptr;
    if (low < before || high > after) {
        before = low < 0 ? low : 0;
        after = high;
        from = low - before;
    }
    const char *const *first = (const char *const *)list + before;
    const long long *starts = ws_rows_find(first, from, after - before, element, low - before, high - before);
    return starts != nullptr ? starts - before : nullptr;
}

extern "C" WS_WEAK_ALLOCATIONS void *ws_row_zero(const long long *starts)
{
    const ws_rows *rows = ws_rows_of(starts);
    return (void *)rows->seen[(size_t)rows->zero];
}

/* Whether each row lies in a block of its own. */
extern "C" WS_WEAK_ALLOCATIONS int ws_rows_distinct(const long long *starts)
{
    return ws_rows_of(starts)->distinct;
}

/* Whether no two rows have one of their elements low .. high - 1 in common. */
extern "C" WS_WEAK_ALLOCATIONS int ws_rows_clear(const long long *starts, long long low, long long high)
{
    const ws_rows *rows = ws_rows_of(starts);
    for (size_t i = 1; i < rows->order.size() && !rows->distinct && low < high; i++) {
        const size_t here = rows->order[i], there = rows->order[i - 1];
        const bool together = rows->blocks[here].start < rows->blocks[there].end;
        if (together && (rows->seen[here] - rows->seen[there]) / (long long)rows->element < high - low)
            return 0;
    }
    return 1;
}

/* Whether a pointer leads into no row's block, nor one past its end; `other` may be the starts of other rows. */
extern "C" WS_WEAK_ALLOCATIONS int ws_rows_apart(const long long *starts, const void *other)
{
    const std::vector<ws_span> &mine = ws_rows_of(starts)->sorted;
    const ws_rows *rows = ws_rows_of(other);
    ws_span one = {0, 0};
    size_t bytes = 0;
    if (rows == nullptr && !ws_allocation_of(other, &one.start, &bytes))
        return 1;
    one.end = one.start + bytes;
    const ws_span *others = rows != nullptr ? rows->sorted.data() : &one;
    const size_t count = rows != nullptr ? rows->sorted.size() : 1;
    for (size_t i = 0, k = 0; i < mine.size() && k < count;)
        if (mine[i].end <= others[k].start)
            i++;
        else if (others[k].end <= mine[i].start)
            k++;
        else
            return 0;
    return 1;
}
#ifdef WS_TELL_COPY

/* Under the emulation: the row pointers, and how many there are. */
extern "C" WS_WEAK_ALLOCATIONS long long warpsmith_rows(const long long *starts, const void *const **first)
{
    const ws_rows *rows = ws_rows_of(starts);
    *first = (const void *const *)rows->first + rows->from;
    return rows->count - rows->from;
}
#endif
