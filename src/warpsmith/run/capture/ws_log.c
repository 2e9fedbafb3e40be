/* The log of captured objects: a stream of records, each a ws_head, two names, stale runs and a payload.

   It never uses stdio or malloc: the program under test may close all streams or wear out the heap. A forked child
   must not write into its parent's log, so the log belongs to one process. The log holds at most about 64 MiB. */
#include "ws_log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUFFER_BYTES 65536
#define WIDE 1024
#define NARROW 16

/* What is added to the form of a record. */
static int record_kind;
static int log_file = -2;
static pid_t log_owner;
static unsigned char buffer[BUFFER_BYTES];
static size_t buffered;
static long long written;

/* Return whether this process has a log to write. */
int ws_log_open(void)
{
    if (log_file == -2) {
        const char *path = getenv("WS_CAPTURE_LOG");
        log_file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
        log_owner = getpid();
    }
    return log_file >= 0 && log_owner == getpid();
}

static void put_through(const unsigned char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t done = write(log_file, data, bytes);
        if (done <= 0)
            return;
        data += done;
        bytes -= (size_t)done;
    }
}

void ws_log_flush(void)
{
    if (ws_log_open())
        put_through(buffer, buffered);
    buffered = 0;
}

static void put(const void *data, size_t bytes)
{
    written += (long long)bytes;
    if (buffered + bytes > BUFFER_BYTES)
        ws_log_flush();
    if (bytes > BUFFER_BYTES) {
        put_through((const unsigned char *)data, bytes);
        return;
    }
    memcpy(buffer + buffered, data, bytes);
    buffered += bytes;
}

/* Return whether `bytes` more fit under `limit` bytes of log. */
int ws_log_room(long long bytes, long long limit)
{
    return written + bytes <= limit;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 32);
}

static uint64_t hash_of(const unsigned char *data, size_t bytes)
{
    uint64_t hash = bytes, word;
    size_t at = 0;
    for (; at + 8 <= bytes; at += 8) {
        memcpy(&word, data + at, 8);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, data + at, bytes - at);
    return mix(hash, word);
}

static void put_head(struct ws_head *head, const char *region, const char *name, const struct ws_stale *stale)
{
    head->magic = WS_MAGIC;
    head->region_length = (uint32_t)strlen(region);
    head->name_length = (uint32_t)strlen(name);
    put(head, sizeof *head);
    put(region, head->region_length);
    put(name, head->name_length);
    put(stale, sizeof *stale * head->stale_count);
}

static struct ws_head head_of(const struct ws_view *view, int form, long long instance, int stale_count)
{
    struct ws_head head;
    memset(&head, 0, sizeof head);
    head.form = (uint32_t)(form + record_kind);
    head.kind = (uint32_t)view->kind;
    head.element_size = (uint32_t)view->element_size;
    head.instance = instance;
    head.first = view->first;
    head.count = view->count;
    head.lower = view->lower;
    head.upper = view->upper;
    head.extent_from = (uint32_t)view->extent_from;
    head.stale_count = (uint32_t)stale_count;
    head.hash = hash_of(view->data, (size_t)view->count * (size_t)view->element_size);
    return head;
}

/* Write every element. */
static void put_full(const char *region, const char *name, long long instance, const struct ws_view *view,
                     const struct ws_stale *stale, int stale_count)
{
    struct ws_head head = head_of(view, WS_FULL, instance, stale_count);
    head.payload = view->count * view->element_size;
    put_head(&head, region, name, stale);
    put(view->data, (size_t)head.payload);
}

/* Write every element where the object is not too large for it, else a summary. */
void ws_log_view(const char *region, const char *name, long long instance, const struct ws_view *view, int wide,
                 const struct ws_stale *stale, int stale_count)
{
    long long bytes = view->count * view->element_size;
    if (bytes <= (8LL << 20) && ws_log_room(bytes, 60LL << 20))
        put_full(region, name, instance, view, stale, stale_count);
    else
        ws_log_summary(region, name, instance, view, wide, stale, stale_count);
}

struct block {
    double sum, magnitude;
    int64_t not_finite;
    uint64_t hash;
};

static double value_at(const struct ws_view *view, long long index)
{
    float small;
    double value;
    const unsigned char *at = view->data + index * view->element_size;
    if (view->element_size == 4) {
        memcpy(&small, at, 4);
        return small;
    }
    memcpy(&value, at, 8);
    return value;
}

/* Sum up the elements at positions [begin, end). */
static void put_block(const struct ws_view *view, long long begin, long long end)
{
    struct block block = {0.0, 0.0, 0, 0};
    int size = view->element_size;
    block.hash = hash_of(view->data + begin * size, (size_t)(end - begin) * (size_t)size);
    for (long long i = begin; i < end && view->kind == WS_FLOAT && (size == 4 || size == 8); i++) {
        double value = value_at(view, i);
        if (value - value != 0.0) {
            block.not_finite++;
            continue;
        }
        block.sum += value;
        block.magnitude += value < 0 ? -value : value;
    }
    put(&block, sizeof block);
}

/* Write hashes and sums of runs of elements, and sampled elements: what can be compared under a tolerance, in a size
   that does not grow with the object. The section is cut into runs; what stands before and after it is one run each. */
void ws_log_summary(const char *region, const char *name, long long instance, const struct ws_view *view, int wide,
                    const struct ws_stale *stale, int stale_count)
{
    struct ws_head head = head_of(view, WS_SUMMARY, instance, stale_count);
    int64_t shape[2], positions[WIDE];
    int most = wide ? WIDE : NARROW, size = view->element_size;
    long long lower = view->lower - view->first, section = view->upper - view->lower;
    int64_t runs = section < most ? section : most;
    shape[0] = runs + 2;
    shape[1] = view->count < most ? view->count : most;
    head.payload = (int64_t)sizeof shape + shape[0] * (int64_t)sizeof(struct block) + shape[1] * (8 + size);
    put_head(&head, region, name, stale);
    put(shape, sizeof shape);
    put_block(view, 0, lower);
    for (int64_t b = 0; b < runs; b++)
        put_block(view, lower + b * section / runs, lower + (b + 1) * section / runs);
    put_block(view, lower + section, view->count);
    for (int64_t s = 0; s < shape[1]; s++)
        positions[s] = (int64_t)(mix((uint64_t)instance, (uint64_t)s) % (uint64_t)view->count);
    put(positions, (size_t)shape[1] * sizeof *positions);
    for (int64_t s = 0; s < shape[1]; s++)
        put(view->data + positions[s] * size, (size_t)size);
}

/* Write the object as it would be had the kernels written other values. That takes no room from the other records, of
   which both programs must write the same. */
void ws_log_disturbed(const char *region, const char *name, long long instance, const struct ws_view *view)
{
    static long long disturbed;
    const long long before = written, bytes = view->count * view->element_size;
    record_kind = WS_DISTURBED;
    if (bytes <= (1LL << 20) && disturbed + bytes <= (16LL << 20))
        put_full(region, name, instance, view, NULL, 0);
    else
        ws_log_summary(region, name, instance, view, 1, NULL, 0);
    record_kind = 0;
    disturbed += written - before;
    written = before;
}

/* Write how many instances a stream had. */
void ws_log_total(const char *region, const char *name, long long instances)
{
    struct ws_head head;
    memset(&head, 0, sizeof head);
    head.form = WS_TOTAL;
    head.instance = instances;
    put_head(&head, region, name, NULL);
}

/* Write a number under a name. */
void ws_log_mark(const char *region, const char *name, long long value)
{
    struct ws_head head;
    memset(&head, 0, sizeof head);
    head.form = WS_MARK;
    head.instance = value;
    put_head(&head, region, name, NULL);
}

/* Zero what belongs to no member of any element: `gaps` are "offset:length,…" in bytes. */
void ws_log_clear(unsigned char *data, long long count, int element_size, const char *gaps)
{
    while (gaps && *gaps) {
        char *rest;
        long offset = strtol(gaps, &rest, 10), length = strtol(rest + 1, &rest, 10);
        for (long long i = 0; i < count; i++)
            memset(data + i * element_size + offset, 0, (size_t)length);
        gaps = *rest == ',' ? rest + 1 : NULL;
    }
}

/* Return zeroed memory that is not on the program's heap, or NULL. */
void *ws_pages(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void ws_pages_free(void *pages, size_t bytes)
{
    if (pages)
        munmap(pages, bytes);
}
