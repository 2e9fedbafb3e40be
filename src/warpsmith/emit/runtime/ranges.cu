/* The host ranges that have a copy on the device, by address: those that meet a part of the host's memory, found among
   thousands.

       size of 2^3 ... 2^4 - 1 bytes:    [40, 50)  [96, 105) ...    by where they begin; of each size class, only what
       size of 2^10 ... 2^11 - 1:        [0, 1500) ...              begins less than twice the class before can reach it

   Invariant: the index has exactly the ranges of the list, the newest first; `age` tells the newer of two. Ranges of
   one class hardly overlap, so that a question costs some steps in each class that is not empty, and what it finds. */
#pragma once

#include <algorithm>
#include <map>
#include <vector>

struct ws_range {
    const char *host;
    long long bytes;
    char *device;
    const char *name;
    int users;
    bool written, kept, whole, dead;
    char *before;
    unsigned long long age;
    ws_range *next, *back;
};

static ws_range *ws_ranges;
/* How often a range has come or gone. */
static unsigned long long ws_turns;

/* The ranges by size class and by where they begin. It is never destroyed: objects of the program may outlive it. */
typedef std::multimap<const char *, ws_range *> ws_class;

static ws_class *ws_classes(void)
{
    static ws_class *const all = new ws_class[64];
    return all;
}

static int ws_class_of(const ws_range *range)
{
    int found = 0;
    for (long long bytes = range->bytes; bytes > 1; bytes /= 2)
        found++;
    return found;
}

static bool ws_overlaps(const ws_range *range, const char *begin, const char *end)
{
    return range->host < end && begin < range->host + range->bytes;
}

static void ws_link(ws_range *range)
{
    static unsigned long long age;
    range->age = ++age;
    range->back = nullptr;
    range->next = ws_ranges;
    if (ws_ranges != nullptr)
        ws_ranges->back = range;
    ws_ranges = range;
    ws_turns++;
    ws_classes()[ws_class_of(range)].insert({range->host, range});
}

static void ws_take_out(ws_range *range)
{
    (range->back != nullptr ? range->back->next : ws_ranges) = range->next;
    if (range->next != nullptr)
        range->next->back = range->back;
    ws_turns++;
    ws_class &all = ws_classes()[ws_class_of(range)];
    auto at = all.lower_bound(range->host);
    while (at->second != range)
        ++at;
    all.erase(at);
}

/* All ranges that meet [begin, end), the newest first. */
static std::vector<ws_range *> ws_met(const char *begin, const char *end)
{
    std::vector<ws_range *> found;
    for (int number = 0; number < 63; number++) {
        ws_class &all = ws_classes()[number];
        const unsigned long long reach = 2ull << number, here = (unsigned long long)begin;
        if (all.empty())
            continue;
        for (auto at = all.lower_bound((const char *)(here > reach ? here - reach : 0)); at != all.end(); ++at) {
            if (at->first >= end)
                break;
            if (ws_overlaps(at->second, begin, end))
                found.push_back(at->second);
        }
    }
    if (found.size() > 1)
        std::sort(found.begin(), found.end(), [](const ws_range *a, const ws_range *b) { return a->age > b->age; });
    return found;
}
