/* Arrays for what vectors of C++ hold in themselves: where the elements of each are, and how many.

       std::vector<std::vector<T>> m     m.data() --> { T *, size } { T *, size } ...
       ws_vector_rows(m.data(), n)       --> T *, T *, ..., 0, 0      rows as those of `T **`
       ws_vector_sizes(m.data(), n)      --> size, size, ...          the copy on the device, if there is one, is the same

   Invariant: the vectors at an address have one array of each kind, and arrays live on: no copy of one outlives it. When
   there are more vectors a larger one takes its place, and it may serve others. */
#pragma once

#include <mutex>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#include "allocations.cu"
#ifdef WS_WITH_PRESENT
#include "present.cu"
#endif

/* An array of words of 64 bits. */
struct ws_words {
    void *at;
    size_t count;
};

struct ws_list {
    const void *vectors;
    ws_words rows, sizes;
    ws_list *next;
};

static ws_list *ws_lists[1024];
static std::vector<ws_words> ws_spare_words;
static std::mutex ws_lists_lock;

static ws_list *ws_list_of(const void *vectors)
{
    ws_list **first = &ws_lists[(uintptr_t)vectors / 16 * (uintptr_t)0x9E3779B97F4A7C15u >> 54];
    ws_list *list = *first;
    while (list != nullptr && list->vectors != vectors)
        list = list->next;
    if (list == nullptr)
        *first = list = new ws_list{vectors, {}, {}, *first};
    return list;
}

static ws_words ws_take_words(size_t count)
{
    size_t most = 4;
    while (most < count)
        most *= 2;
    for (ws_words &spare : ws_spare_words)
        if (spare.count == most) {
            const ws_words found = spare;
            spare.count = 0;
            return found;
        }
    const ws_words made = {malloc(most * sizeof(void *)), most};
    if (made.at == nullptr)
        abort();
    return made;
}

static void ws_spare(const ws_words &words)
{
    for (ws_words &spare : ws_spare_words)
        if (spare.count == 0) {
            spare = words;
            return;
        }
    ws_spare_words.push_back(words);
}

/* Make room for so many words; true where the array is a new one. */
static bool ws_grow(ws_words *words, size_t count)
{
    if (words->at != nullptr && count <= words->count)
        return false;
    const ws_words larger = ws_take_words(count);
    if (words->at != nullptr)
        ws_spare(*words);
    *words = larger;
    return true;
}

extern "C" WS_WEAK_ALLOCATIONS void **ws_list_rows(const void *vectors, size_t count)
{
    const std::lock_guard<std::mutex> guard(ws_lists_lock);
    ws_words *rows = &ws_list_of(vectors)->rows;
    ws_grow(rows, count);
    for (size_t i = count; i < rows->count; i++)
        ((void **)rows->at)[i] = nullptr;
    return (void **)rows->at;
}

/* No vector has as many elements as a new array says, so that it is seen to change. */
extern "C" WS_WEAK_ALLOCATIONS size_t *ws_list_sizes(const void *vectors, size_t count)
{
    const std::lock_guard<std::mutex> guard(ws_lists_lock);
    ws_words *sizes = &ws_list_of(vectors)->sizes;
    if (ws_grow(sizes, count))
        memset(sizes->at, -1, sizes->count * sizeof(size_t));
    return (size_t *)sizes->at;
}

extern "C" WS_WEAK_ALLOCATIONS void ws_list_resized(const size_t *sizes, size_t count)
{
#ifdef WS_WITH_PRESENT
    ws_update_device(sizes, (long long)(count * sizeof *sizes), __FILE__, __LINE__);
#else
    (void)sizes;
    (void)count;
#endif
}
