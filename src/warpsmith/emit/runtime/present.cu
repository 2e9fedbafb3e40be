/* The present table: which host ranges have a copy on the device, and who needs it.

       enter u[0..n)     not there: acquire, copy in          there: count it, nothing moves
       exit              last one outside a data region: copy back what was written, release; inside one it stays (count 0)
       update            host code touches u[5]: those bytes move, if they are present and the device's are newer

   Invariants, wherever control is neither in a kernel nor between an enter and its exit: every byte of a present range
   is valid on the device; where `written` is false it is valid on the host, too. Of ranges that overlap the newest has
   the truth; a released range hands its bytes to the next older one, or to the host. A kept range (no user) that a new
   one overlaps grows instead: nobody holds its address, so that the two become one.

   A range that is a whole block of the heap may hold bytes that no kernel touches and that host code writes untold,
   since they are of another type, or beside what it names. While such a range is kept, `before` has what the device had
   when a kernel was first let write into it, and only bytes that differ from that come back.

   After Jablin et al., Automatic CPU-GPU Communication Management and Optimization (PLDI 2011), and the structured data
   regions of OpenACC 3.3 (2.6.5). */
#pragma once

#include <cuda_runtime.h>
#include <mutex>
#include <stdlib.h>
#include <string.h>
#include <vector>

#include "check.cu"
#include "flags.h"
#include "pool.cu"
#include "ranges.cu"

static int ws_data_regions, ws_data_suspended;
static std::mutex ws_table;

#ifdef WS_WITH_MANAGED
static bool ws_managed_holds(const void *at, long long bytes);
static void ws_managed_wait(const char *file, int line);
#endif
#ifdef WS_WITH_ALLOCATIONS
static bool ws_allocation_watch(const void *at);
static bool ws_outlives(const char *begin, const char *end);

#endif
/* The newest range with the byte at `at`. */
static ws_range *ws_newest(const char *at)
{
    const std::vector<ws_range *> met = ws_met(at, at + 1);
    return met.empty() ? nullptr : met.front();
}

/* The next byte behind `at` where a range begins or ends, at most `end`. */
static const char *ws_edge(const char *at, const char *end)
{
    for (const ws_range *range : ws_met(at, end)) {
        if (range->host > at && range->host < end)
            end = range->host;
        if (range->host + range->bytes > at && range->host + range->bytes < end)
            end = range->host + range->bytes;
    }
    return end;
}

static void ws_move(void *to, const void *from, const char *begin, const char *end, cudaMemcpyKind kind,
                    const char *file, int line)
{
    const char *what = kind == cudaMemcpyDeviceToHost ? "copy to the host" : "copy to the device";
#ifdef WS_TELL_COPY
    if (kind != cudaMemcpyDeviceToDevice)
        WS_TELL_COPY(kind == cudaMemcpyHostToDevice, (long long)(end - begin), file, line);
#endif
#ifdef WS_WITH_PINNED
    if (kind != cudaMemcpyDeviceToDevice)
        ws_pin_variable(kind == cudaMemcpyHostToDevice ? from : to, end - begin);
#endif
    ws_check(cudaMemcpy(to, from, (size_t)(end - begin), kind), what, file, line);
}

/* Remember what the device has in a range, which is `fresh` from the host or not. */
static void ws_remember(ws_range *range, bool fresh, const char *file, int line)
{
    range->before = (char *)malloc((size_t)range->bytes);
    if (range->before == nullptr)
        abort();
    const char *end = range->host + range->bytes;
    if (fresh)
        memcpy(range->before, range->host, (size_t)range->bytes);
    else
        ws_move(range->before, range->device, range->host, end, cudaMemcpyDeviceToHost, file, line);
}

/* Copy a part of a range to the host: where it is remembered, what has changed since. */
static void ws_bring(ws_range *range, const char *begin, const char *end, const char *file, int line)
{
    const size_t offset = (size_t)(begin - range->host), bytes = (size_t)(end - begin), step = 64;
    if (range->before == nullptr) {
        ws_move((void *)begin, range->device + offset, begin, end, cudaMemcpyDeviceToHost, file, line);
        return;
    }
    char *now = (char *)malloc(bytes), *before = range->before + offset, *host = (char *)begin;
    if (now == nullptr)
        abort();
    ws_move(now, range->device + offset, begin, end, cudaMemcpyDeviceToHost, file, line);
    for (size_t at = 0; at < bytes; at += step) {
        const size_t stop = at + step < bytes ? at + step : bytes;
        if (memcmp(now + at, before + at, stop - at) == 0)
            continue;
        for (size_t i = at; i < stop; i++)
            if (now[i] != before[i])
                host[i] = before[i] = now[i];
    }
    free(now);
}

static void ws_unlink(ws_range *range)
{
    ws_take_out(range);
    ws_device_release(range->device);
    free(range->before);
    free(range);
}

/* Give the bytes of a range to the next older one, or to the host, and forget it. */
static void ws_hand_over(ws_range *range, const char *file, int line)
{
    const char *end = range->host + range->bytes;
    for (const char *at = range->host; range->written && at < end;) {
        const char *stop = ws_edge(at, end);
        ws_range *other = ws_newest(at);
        char *device = range->device + (at - range->host);
        if (other == range) {
            other = nullptr;
            for (ws_range *one : ws_met(at, stop))
                other = other == nullptr && one->age < range->age ? one : other;
            if (other == nullptr)
                ws_bring(range, at, stop, file, line);
            else {
                ws_move(other->device + (at - other->host), device, at, stop, cudaMemcpyDeviceToDevice, file, line);
                other->written = true;
            }
        }
        at = stop;
    }
    ws_unlink(range);
}

static bool ws_shares(const ws_range *range)
{
    return ws_met(range->host, range->host + range->bytes).size() > 1;
}

/* Widen [*begin, *end) to all ranges that it meets; false where one of them has a user. */
static bool ws_grows(const char **begin, const char **end)
{
    for (bool more = true; more;) {
        more = false;
        for (const ws_range *range : ws_met(*begin, *end)) {
            const char *stop = range->host + range->bytes;
            if (range->users > 0)
                return false;
            more = more || range->host < *begin || stop > *end;
            *begin = range->host < *begin ? range->host : *begin;
            *end = stop > *end ? stop : *end;
        }
    }
    return true;
}

static bool ws_meets_allocation(const char *begin, const char *end)
{
    for (const ws_range *range : ws_met(begin, end))
        if (range->whole)
            return true;
    return false;
}

/* Hand over all ranges that meet [begin, end), which have no users; return the flag that says that the host has all. */
static int ws_hand_over_all(const char *begin, const char *end, const char *file, int line)
{
    const std::vector<ws_range *> met = ws_met(begin, end);
    for (ws_range *range : met)
        ws_hand_over(range, file, line);
    return met.empty() ? 0 : WS_COPY;
}

static ws_range *ws_new_range(const char *host, long long bytes, int flags, const char *name, const char *file,
                              int line)
{
    const char *begin = host, *end = host + bytes;
    const bool grows = (flags & WS_KEEP) != 0 && ws_grows(&begin, &end);
    if (!grows) {
        begin = host;
        end = host + bytes;
    }
    const bool whole = (flags & WS_ALLOCATION) != 0 || (grows && ws_meets_allocation(begin, end));
    if (grows && whole)
        flags |= ws_hand_over_all(begin, end, file, line);
    ws_range *range = (ws_range *)malloc(sizeof *range);
    if (range == nullptr)
        abort();
    *range = {};
    range->host = begin;
    range->bytes = end - begin;
    range->name = name;
    range->kept = (flags & WS_KEEP) != 0;
    range->whole = whole;
    range->device = (char *)ws_device_acquire(range->bytes, name, file, line);
    for (const char *at = begin; at < end;) {
        const char *stop = ws_edge(at, end);
        ws_range *old = ws_newest(at);
        char *device = range->device + (at - begin);
        if (old != nullptr) {
            ws_move(device, old->device + (at - old->host), at, stop, cudaMemcpyDeviceToDevice, file, line);
            range->written = range->written || old->written;
        } else if ((flags & WS_COPY) != 0)
            ws_move(device, at, at, stop, cudaMemcpyHostToDevice, file, line);
        at = stop;
    }
    if (grows)
        for (ws_range *old : ws_met(begin, end))
            ws_unlink(old);
    ws_link(range);
    return range;
}

/* What stands for a range without a byte. */
static char *ws_nothing(const char *file, int line)
{
    static void *nothing;
    if (nothing == nullptr)
        nothing = ws_device_acquire(1, "an empty range", file, line);
    return (char *)nothing;
}

/* One more user of a range that is there; `fresh`: it has just come from the host. */
static void ws_use(ws_range *range, bool fresh, int flags, const char *file, int line)
{
    range->users++;
    const bool stays = range->users > 1 || (range->kept && ws_data_regions > 0 && ws_data_suspended == 0);
    if ((flags & WS_CHANGE) != 0 && range->whole && stays && range->before == nullptr)
        ws_remember(range, fresh && !ws_shares(range), file, line);
}

static ws_range *ws_enter(const void *host, long long bytes, int flags, const char *name, const char *file, int line)
{
    const char *begin = (const char *)host, *end = begin + bytes;
    const std::vector<ws_range *> met = ws_met(begin, end);
    ws_range *range = met.empty() ? nullptr : met.front();
    const bool fresh = range == nullptr || range->host > begin || range->host + range->bytes < end;
#ifdef WS_WITH_ALLOCATIONS
    if (fresh && (flags & WS_WATCH) != 0 && !ws_allocation_watch(host) && !ws_outlives(begin, end))
        flags &= ~WS_KEEP;
#endif
    if (fresh)
        range = ws_new_range(begin, bytes, flags, name, file, line);
    ws_use(range, fresh, flags, file, line);
    return range;
}

extern "C" void *ws_data_enter(const void *host, long long bytes, int flags, const char *name, const char *file,
                               int line)
{
    const std::lock_guard<std::mutex> guard(ws_table);
    if (bytes <= 0)
        return ws_nothing(file, line);
#ifdef WS_WITH_MANAGED
    if (ws_met((const char *)host, (const char *)host + bytes).empty() && ws_managed_holds(host, bytes))
        return (void *)host;
#endif
    const ws_range *range = ws_enter(host, bytes, flags, name, file, line);
    return range->device + ((const char *)host - range->host);
}

/* One user less; `alone`: no other range is known to have bytes of this one. */
static void ws_leave(ws_range *range, int written, bool alone, const char *file, int line)
{
    range->users--;
    range->written = !range->dead && (range->written || written != 0);
    const bool stays = range->kept && ws_data_regions > 0 && ws_data_suspended == 0;
    if (range->users == 0 && !(stays && (alone || !ws_shares(range))))
        ws_hand_over(range, file, line);
}

extern "C" void ws_data_exit(void *device, int written, const char *file, int line)
{
    const std::lock_guard<std::mutex> guard(ws_table);
#ifdef WS_WITH_MANAGED
    ws_managed_wait(file, line);
#endif
    ws_range *range = ws_ranges;
    while (range != nullptr && !((char *)device >= range->device && (char *)device < range->device + range->bytes))
        range = range->next;
    if (range != nullptr)
        ws_leave(range, written, false, file, line);
}

/* Copy what is newer on the device in [begin, end). */
static void ws_to_host(const char *begin, const char *end, const char *file, int line)
{
    for (const char *at = begin; at < end;) {
        const char *stop = ws_edge(at, end);
        ws_range *range = ws_newest(at);
        if (range != nullptr && range->written)
            ws_bring(range, at, stop, file, line);
        at = stop;
    }
    for (ws_range *range : ws_met(begin, end))
        if (begin <= range->host && range->host + range->bytes <= end && range->users == 0 && !ws_shares(range))
            range->written = false;
}

static void ws_to_device(const char *begin, const char *end, const char *file, int line)
{
    for (const char *at = begin; at < end;) {
        const char *stop = ws_edge(at, end);
        ws_range *range = ws_newest(at);
        if (range != nullptr) {
            ws_move(range->device + (at - range->host), at, at, stop, cudaMemcpyHostToDevice, file, line);
            if (range->before != nullptr)
                memcpy(range->before + (at - range->host), at, (size_t)(stop - at));
            range->written = range->written || ws_shares(range);
        }
        at = stop;
    }
}

extern "C" void ws_update_host(const void *host, long long bytes, const char *file, int line)
{
    const std::lock_guard<std::mutex> guard(ws_table);
    ws_to_host((const char *)host, (const char *)host + bytes, file, line);
}

extern "C" void ws_update_device(const void *host, long long bytes, const char *file, int line)
{
    const std::lock_guard<std::mutex> guard(ws_table);
    ws_to_device((const char *)host, (const char *)host + bytes, file, line);
}

extern "C" void ws_update_host_all(const char *file, int line)
{
    const std::lock_guard<std::mutex> guard(ws_table);
    for (const ws_range *range = ws_ranges; range != nullptr; range = range->next)
        ws_to_host(range->host, range->host + range->bytes, file, line);
}

extern "C" void ws_update_device_all(const char *file, int line)
{
    const std::lock_guard<std::mutex> guard(ws_table);
    for (const ws_range *range = ws_ranges; range != nullptr; range = range->next)
        ws_to_device(range->host, range->host + range->bytes, file, line);
}
