/* What host memory held when it died: a block when it is given back, and all that is left when the program ends.

   Of the original all of it is written down, of a candidate what came back from the device: whoever brings an array back
   means it as a result, even where the program prints nothing of it (compare/left.py).

   WS_LEFT names the file, WS_LEFT_ALL asks for everything. A record is its size in bytes, a number of 64 bits, and the
   bytes. Where there would be too much of it, the file ends with the size 0: what is in it says nothing then. */
#define _GNU_SOURCE
#include "ws_log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { LEFT_LEAST = 16, LEFT_ARRIVED = 1024 };
#define LEFT_LIMIT (48LL << 20)

static int left_file = -2;
static pid_t left_owner;
static long long left_bytes;
static struct {
    uintptr_t start;
    size_t size;
} left_arrived[LEFT_ARRIVED];
static int left_count;

static int left_open(void)
{
    if (left_file == -2) {
        const char *path = getenv("WS_LEFT");
        left_file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
        left_owner = getpid();
    }
    return left_file >= 0 && left_owner == getpid();
}

static int left_all(void)
{
    return getenv("WS_LEFT_ALL") != NULL;
}

static void left_put(const void *data, size_t bytes)
{
    const char *at = (const char *)data;
    while (bytes > 0) {
        const ssize_t done = write(left_file, at, bytes);
        if (done <= 0)
            return;
        at += done;
        bytes -= (size_t)done;
    }
}

static void left_write(uintptr_t start, size_t size)
{
    const uint64_t head = left_bytes + (long long)size > LEFT_LIMIT ? 0 : size;
    if (size < LEFT_LEAST || left_bytes > LEFT_LIMIT)
        return;
    left_bytes += (long long)size + 64;
    left_put(&head, sizeof head);
    if (head)
        left_put((const void *)start, size);
    else
        left_bytes = LEFT_LIMIT + 1;
}

/* Bytes of the device arrive at `host`: said by the emulation. */
void ws_left_arrives(const void *host)
{
    uintptr_t start;
    size_t size;
    if (!left_open() || !(ws_heap_find(host, &start, &size) || ws_variable_around(host, &start, &size)))
        return;
    for (int i = 0; i < left_count; i++)
        if (left_arrived[i].start == start)
            return;
    if (left_count == LEFT_ARRIVED) {
        left_bytes = LEFT_LIMIT;
        left_write(start, LEFT_LEAST);
        return;
    }
    left_arrived[left_count].start = start;
    left_arrived[left_count++].size = size;
}

/* A block of the heap is given back. */
void ws_left_dies(uintptr_t start, size_t size)
{
    if (!left_open())
        return;
    if (left_all()) {
        left_write(start, size);
        return;
    }
    for (int i = 0; i < left_count; i++)
        if (left_arrived[i].start == start) {
            left_write(start, size);
            left_arrived[i] = left_arrived[--left_count];
            return;
        }
}

__attribute__((destructor)) static void left_at_end(void)
{
    if (!left_open())
        return;
    for (int i = 0; i < left_count; i++)
        left_write(left_arrived[i].start, left_arrived[i].size);
    left_count = 0;
    if (left_all()) {
        ws_heap_each(left_write);
        ws_variable_each(left_write);
    }
    close(left_file);
    left_file = -1;
}
