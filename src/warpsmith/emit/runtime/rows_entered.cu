/* Rows on the device: every row's block is a range of the present table, and a table there has where its copies start.
   That is kept for the next launch: it is sent again only where a row lies elsewhere than before. */
#pragma once

#include <mutex>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

#include "pool.cu"
#include "present.cu"
#include "rows.cu"

/* Rows on the device: every row's block is a range of the present table. As long as no range comes or goes, and no row
   lies elsewhere, the ranges are those of the last time. `sent`: what the device's table of starts has. */
struct ws_there {
    const ws_rows *rows;
    std::vector<ws_range *> ranges;
    std::vector<long long> sent;
    long long *table;
    char *zero;
    unsigned long long turn, turns, alone;
    int users;
    ws_there *next;
};

static ws_there *ws_rows_there;

static ws_there *ws_there_of(const ws_rows *rows, const char *file, int line)
{
    ws_there *there = ws_rows_there;
    while (there != nullptr && there->rows != rows)
        there = there->next;
    if (there == nullptr) {
        void *table = ws_device_acquire(rows->count * (long long)sizeof *there->table, "where rows start", file, line);
        there = new ws_there{rows, {}, {}, (long long *)table, nullptr, 0, 0, 0, 0, ws_rows_there};
        ws_rows_there = there;
    }
    return there;
}

extern "C" long long *ws_rows_table(const long long *starts, const char *file, int line)
{
    const ws_rows *rows = ws_rows_of(starts);
    const std::lock_guard<std::mutex> guard(ws_table);
    return ws_there_of(rows, file, line)->table + (starts - rows->starts.data());
}

/* Send where the copies of rows start, if that is not what was sent before. */
static void ws_rows_send(ws_there *there, const std::vector<char *> &at, const char *file, int line)
{
    const long long element = (long long)there->rows->element;
    std::vector<long long> starts(at.size());
    for (size_t i = 0; i < at.size(); i++) {
        const long long from = at[i] == nullptr ? 0 : (long long)((uintptr_t)at[i] - (uintptr_t)there->zero);
        if (from % element != 0) {
            fprintf(stderr, "%s:%d: a row has no place on the device where an element may begin\n", file, line);
            exit(EXIT_FAILURE);
        }
        starts[i] = from / element;
    }
    if (starts == there->sent)
        return;
    const long long bytes = (long long)(starts.size() * sizeof starts[0]);
    ws_copy_to_device(there->table, starts.data(), bytes, file, line);
    there->sent.swap(starts);
}

/* Enter the block of each row; one that several rows in a row lie in, once. */
static void ws_rows_come(ws_there *there, int flags, const char *name, const char *file, int line)
{
    const ws_rows *rows = there->rows;
    std::vector<char *> at(rows->seen.size());
    ws_span last = {0, 0};
    there->ranges.clear();
    for (size_t i = 0; i < at.size(); i++) {
        const ws_span block = rows->blocks[i];
        if (block.start == 0)
            continue;
        if (block.start == block.end) {
            at[i] = i == (size_t)rows->zero ? ws_nothing(file, line) : nullptr;
            continue;
        }
        if (there->ranges.empty() || block.start != last.start || block.end != last.end) {
            const long long bytes = (long long)(block.end - block.start);
            there->ranges.push_back(ws_enter((const void *)block.start, bytes, flags, name, file, line));
        }
        last = block;
        at[i] = there->ranges.back()->device + (rows->seen[i] - there->ranges.back()->host);
    }
    there->zero = at[(size_t)rows->zero];
    there->turn = rows->turn;
    there->turns = ws_turns;
    ws_rows_send(there, at, file, line);
}

extern "C" void *ws_rows_enter(const long long *starts, int flags, const char *name, const char *file, int line)
{
    const ws_rows *rows = ws_rows_of(starts);
    const std::lock_guard<std::mutex> guard(ws_table);
    ws_there *there = ws_there_of(rows, file, line);
    if (there->users > 0 || (there->zero != nullptr && there->turns == ws_turns && there->turn == rows->turn))
        for (ws_range *range : there->ranges)
            ws_use(range, false, flags, file, line);
    else
        ws_rows_come(there, flags, name, file, line);
    there->users++;
    return there->zero;
}

extern "C" void ws_rows_exit(const long long *starts, int written, const char *file, int line)
{
    const ws_rows *rows = ws_rows_of(starts);
    const std::lock_guard<std::mutex> guard(ws_table);
    ws_there *there = ws_there_of(rows, file, line);
    const bool alone = there->alone == ws_turns;
    const unsigned long long turns = ws_turns;
    bool stay = true;
#ifdef WS_WITH_MANAGED
    ws_managed_wait(file, line);
#endif
    there->users--;
    /* The newest first: that is where the table begins. */
    for (size_t i = there->ranges.size(); i-- > 0;) {
        ws_leave(there->ranges[i], written, alone, file, line);
        stay = stay && turns == ws_turns && there->ranges[i]->users == 0;
    }
    /* What has stayed without a user shares no byte. */
    if (stay)
        there->alone = turns;
}
