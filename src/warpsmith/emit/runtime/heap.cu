/* The blocks of the heap by address: every one that the program's malloc and its like have given out, and who is
   notified when one dies.

       p = malloc(4000)          the table has [p, p + 4000)
       free(p)                   out of the table; what was watched there is reported to the present table before

   Invariant: a block is in the table only while it lives; blocks never touch each other (the C library keeps its own
   words between them), so that one past the end of a block is in no other one. The table's lock is never held while the
   present table is notified, which may free memory itself. The table is a treap, whose nodes are not in it. */
#pragma once

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef WS_WITH_PRESENT
#include "watched.cu"
#endif

#if defined __SANITIZE_THREAD__ && !defined __clang__
#define WS_UNCHECKED __attribute__((no_sanitize_thread))
#elif defined __clang__
#define WS_UNCHECKED __attribute__((no_sanitize("thread")))
#else
#define WS_UNCHECKED
#endif

#ifdef WS_WITH_OTHER_ALLOCATIONS
/* The program is a port already, and may have these: then either of the two serves. */
#define WS_WEAK_ALLOCATIONS __attribute__((weak))
#else
#define WS_WEAK_ALLOCATIONS
#endif

struct ws_allocation {
    uintptr_t start;
    size_t bytes;
    uintptr_t rank;
    ws_allocation *left, *right;
    bool registered, watched, row;
#ifdef WS_WITH_GIVEN
    bool given;
#endif
};

static ws_allocation *ws_allocations, *ws_spare_allocations;
static bool ws_allocation_lock;
/* How many blocks with a row have died. */
static unsigned long long ws_row_deaths;
/* Whether blocks may die unseen: then only those count that somebody has registered. */
static bool ws_allocation_blind;

#if defined __GLIBC__
extern "C" void *__libc_malloc(size_t bytes) noexcept;
#define WS_TABLE_MEMORY(bytes) __libc_malloc(bytes)
#else
#define WS_TABLE_MEMORY(bytes) malloc(bytes)
#endif

WS_UNCHECKED static void ws_allocations_enter(void)
{
    while (__atomic_test_and_set(&ws_allocation_lock, __ATOMIC_ACQUIRE))
        sched_yield();
}

WS_UNCHECKED static void ws_allocations_leave(void)
{
    __atomic_clear(&ws_allocation_lock, __ATOMIC_RELEASE);
}

WS_UNCHECKED static ws_allocation *ws_allocation_node(void)
{
    if (ws_spare_allocations == nullptr) {
        const size_t count = 1024;
        ws_allocation *more = (ws_allocation *)WS_TABLE_MEMORY(count * sizeof *more);
        for (size_t i = 0; more != nullptr && i < count; i++) {
            more[i].left = ws_spare_allocations;
            ws_spare_allocations = &more[i];
        }
    }
    ws_allocation *node = ws_spare_allocations;
    if (node != nullptr)
        ws_spare_allocations = node->left;
    return node;
}

/* Take the block that starts at `start` out; false where there is none. */
WS_UNCHECKED static bool ws_allocation_out(uintptr_t start)
{
    ws_allocation **link = &ws_allocations;
    while (*link != nullptr && (*link)->start != start)
        link = start < (*link)->start ? &(*link)->left : &(*link)->right;
    ws_allocation *node = *link;
    if (node == nullptr)
        return false;
    ws_row_deaths += node->row;
    ws_allocation *left = node->left, *right = node->right;
    while (left != nullptr && right != nullptr)
        if (left->rank > right->rank) {
            *link = left;
            link = &left->right;
            left = *link;
        } else {
            *link = right;
            link = &right->left;
            right = *link;
        }
    *link = left != nullptr ? left : right;
    node->left = ws_spare_allocations;
    ws_spare_allocations = node;
    return true;
}

/* Put a block in; without memory for its node it stays unknown. */
WS_UNCHECKED static void ws_allocation_in(uintptr_t start, size_t bytes, bool registered)
{
    ws_allocation_out(start);
    ws_allocation *node = ws_allocation_node();
    if (node == nullptr)
        return;
    node->start = start;
    node->bytes = bytes;
    node->registered = registered;
    node->watched = node->row = false;
#ifdef WS_WITH_GIVEN
    node->given = false;
#endif
    node->rank = start * (uintptr_t)0x9E3779B97F4A7C15u;
    ws_allocation **link = &ws_allocations;
    while (*link != nullptr && (*link)->rank >= node->rank)
        link = start < (*link)->start ? &(*link)->left : &(*link)->right;
    ws_allocation *rest = *link, **left = &node->left, **right = &node->right;
    while (rest != nullptr)
        if (rest->start < start) {
            *left = rest;
            left = &rest->right;
            rest = *left;
        } else {
            *right = rest;
            right = &rest->left;
            rest = *right;
        }
    *left = *right = nullptr;
    *link = node;
}

WS_UNCHECKED static void *ws_allocation_record(void *start, size_t bytes, bool registered)
{
    if (start == nullptr)
        return start;
    const int before = errno;
    ws_allocations_enter();
    ws_allocation_in((uintptr_t)start, bytes, registered);
    ws_allocations_leave();
    errno = before;
    return start;
}

/* Tell the table of a block that lives from now on, and of one that dies, where the C library is not the allocator. */
extern "C" WS_WEAK_ALLOCATIONS WS_UNCHECKED void ws_allocation_note(const void *start, size_t bytes)
{
    ws_allocation_record((void *)start, bytes, true);
}

WS_UNCHECKED static ws_allocation *ws_allocation_at(uintptr_t start)
{
    ws_allocation *node = ws_allocations;
    while (node != nullptr && node->start != start)
        node = start < node->start ? node->left : node->right;
    return node;
}

extern "C" WS_WEAK_ALLOCATIONS WS_UNCHECKED void ws_allocation_forget(const void *start)
{
    if (start == nullptr)
        return;
    ws_allocations_enter();
#ifdef WS_WITH_PRESENT
    const ws_allocation *node = ws_allocation_at((uintptr_t)start);
    const size_t bytes = node != nullptr && node->watched ? node->bytes : 0;
#endif
    ws_allocation_out((uintptr_t)start);
    ws_allocations_leave();
#ifdef WS_WITH_PRESENT
    if (bytes > 0)
        ws_data_dies(start, (long long)bytes, 0);
#endif
}

/* Before a block is moved elsewhere, with what is in it. */
extern "C" WS_WEAK_ALLOCATIONS WS_UNCHECKED void ws_allocation_moves(const void *start)
{
#ifdef WS_WITH_PRESENT
    ws_allocations_enter();
    const ws_allocation *node = ws_allocation_at((uintptr_t)start);
    const size_t bytes = node != nullptr && node->watched ? node->bytes : 0;
    ws_allocations_leave();
    if (bytes > 0)
        ws_data_dies(start, (long long)bytes, 1);
#else
    (void)start;
#endif
}

/* The last block that does not start behind `at`, if it counts; the lock is held. */
WS_UNCHECKED static ws_allocation *ws_allocation_before(const void *at)
{
    ws_allocation *found = nullptr;
    for (ws_allocation *node = ws_allocations; node != nullptr;)
        if (node->start <= (uintptr_t)at) {
            found = node;
            node = node->right;
        } else
            node = node->left;
    return found != nullptr && (found->registered || !ws_allocation_blind) ? found : nullptr;
}

/* Find the block that `at` points into, or one past the end of; as a `row` its death counts. */
WS_UNCHECKED static bool ws_allocation_find(const void *at, uintptr_t *start, size_t *bytes, bool row = false)
{
    ws_allocations_enter();
    ws_allocation *found = ws_allocation_before(at);
    const bool known = found != nullptr && (uintptr_t)at - found->start <= found->bytes;
    if (known) {
        *start = found->start;
        *bytes = found->bytes;
        found->row = found->row || row;
    }
    ws_allocations_leave();
    return known;
}
