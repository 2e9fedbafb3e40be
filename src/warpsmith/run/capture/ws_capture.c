/* ws_capture: what a program calls after each region, for every object that is alive there.

   The newest copy is recorded: the host object with its device section laid over it. Where the device held the newest
   copy, the host section is then overwritten with a pattern (NaN for floating point; another one each run), so that a
   copy back that was forgotten cannot pass unseen.

        object            0 ............ lower ........ upper ............ end of allocation
        host              host values    poison after   host values
        device buffer                    newest values
        recorded          host           device         host

   Of a block of the heap that a port holds on the device, only those bytes are newer there that kernels have changed: the
   rest is the host's, which may have written beside what the kernels work on, and nothing is overwritten.

   A comparison must be able to fail: once more the object is recorded as it would be had the kernels written other values
   (emulation/disturb.cpp), at the first instances of each stream at which kernels had written something.

   Streams are (region, name) pairs. The first 8 instances, a sample and the last one are written in full, the others
   as summaries; what is written depends on sizes and counts alone, so two equal programs write comparable logs. */
#include "ws_log.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STREAMS 1024
#define MAX_RANGES 4096
#define MAX_STALE 32
#define FIRST_IN_FULL 8
#define MAX_DISTURBED 3
#define DISTURBED_WORK_LIMIT (1LL << 30)
#define IN_VAIN_LIMIT (1LL << 26)
#define SAMPLE_LIMIT (24LL << 20)
#define SUMMARY_LIMIT (48LL << 20)
#define SNAPSHOT_LIMIT (16LL << 30)
#define SUMMARY_WORK_LIMIT (4LL << 30)

struct stream {
    const char *region, *name;
    long long instances, logged;
    unsigned char *snapshot;
    size_t room;
    struct ws_view view;
    struct ws_stale stale[MAX_STALE];
    int stale_count, disturbed;
    long long in_vain; /* bytes that were looked through for what kernels wrote, without any */
};

struct range {
    unsigned char *origin, *begin, *end; /* the pattern starts at `origin` */
    int kind, element_size;
};

/* Weak: a program without any CUDA has none. 2 is cudaMemcpyDeviceToHost. */
extern int cudaMemcpy(void *target, const void *source, size_t bytes, int direction) __attribute__((weak));
/* Of the emulation: whether copies are counted as the program's. */
extern void ws_count_copies(int on) __attribute__((weak));
/* Copies of this memory that have begun are made now: what is captured does not hang on when they are. */
extern void ws_emulation_look(const void *host, size_t bytes) __attribute__((weak));

/* Of a port that holds blocks (emit/runtime/present.cu): whether of a device range only what kernels have changed comes back; lay
   that over a copy of the host's bytes. */
extern int warpsmith_remembers(const void *device) __attribute__((weak));
extern void warpsmith_lay_over(const void *host, long long bytes, char *to) __attribute__((weak));

/* Of the emulation: change what kernels have written in the allocation of `device`, elements of this kind; return whether
   there is anything. Undo it. */
extern int ws_emulation_disturb(const void *device, int kind, int element_size) __attribute__((weak));
extern void ws_emulation_settle(void) __attribute__((weak));

static struct stream streams[MAX_STREAMS];
static int stream_count;
static struct range ranges[MAX_RANGES];
static int range_count;
static long long copied, summarized;

static struct stream *stream_of(const char *region, const char *name)
{
    for (int i = 0; i < stream_count; i++) {
        struct stream *s = &streams[i];
        if ((s->region == region && s->name == name) || (!strcmp(s->region, region) && !strcmp(s->name, name)))
            return s;
    }
    if (stream_count == MAX_STREAMS)
        return NULL;
    streams[stream_count].region = region;
    streams[stream_count].name = name;
    streams[stream_count].logged = -1;
    return &streams[stream_count++];
}

static unsigned poison_seed(void)
{
    const char *text = getenv("WS_POISON");
    return text ? (unsigned)atoi(text) : 1u;
}

/* Write the poison pattern of one element: NaN in one run of three, which no comparison takes and fmax drops; in the others
   larger and smaller numbers than a program has. */
static void pattern_of(int kind, int element_size, unsigned char *pattern)
{
    static const uint32_t highest[] = {0x7FC00000u, 0x7F700000u, 0xFF700000u};
    const unsigned seed = poison_seed(), sort = seed % 3u;
    const unsigned byte = 0xA5u ^ (seed * 37u & 0x7Fu);
    memset(pattern, (int)(sort == 1u ? byte & 0x7Fu : byte), (size_t)element_size);
    if (kind == WS_FLOAT && element_size == 4) {
        uint32_t word = highest[sort] | ((0xBADu + seed * 0x101u) & 0xFFFFFu);
        memcpy(pattern, &word, 4);
    } else if (kind == WS_FLOAT && element_size == 8) {
        uint64_t word = (uint64_t)(sort == 0u ? 0x7FF80000u : highest[sort]) << 32 | (0xBADu + (uint64_t)seed * 0x101u);
        memcpy(pattern, &word, 8);
    }
}

/* Cut [begin, end) out of all ranges: it is overwritten anew. A range of a function that has returned may reach beyond
   the object that lies in its place now. */
static void forget_ranges(const unsigned char *begin, const unsigned char *end)
{
    int kept = 0;
    const int count = range_count;
    for (int i = 0; i < count; i++) {
        struct range left = ranges[i], right = ranges[i];
        if (left.end <= begin || left.begin >= end) {
            ranges[kept++] = left;
            continue;
        }
        left.end = (unsigned char *)begin;
        right.begin = (unsigned char *)end;
        if (left.begin < left.end)
            ranges[kept++] = left;
        if (right.begin >= right.end)
            continue;
        if (left.begin >= left.end)
            ranges[kept++] = right;
        else if (range_count < MAX_RANGES)
            ranges[range_count++] = right;
    }
    for (int i = count; i < range_count; i++)
        ranges[kept++] = ranges[i];
    range_count = kept;
}

static void poison(unsigned char *begin, unsigned char *end, int kind, int element_size)
{
    unsigned char pattern[64];
    if (element_size > (int)sizeof pattern)
        return;
    pattern_of(kind, element_size, pattern);
    for (unsigned char *at = begin; at + element_size <= end; at += element_size)
        memcpy(at, pattern, (size_t)element_size);
    forget_ranges(begin, end);
    if (range_count < MAX_RANGES && begin < end) {
        struct range fresh = {begin, begin, end, kind, element_size};
        ranges[range_count++] = fresh;
    }
}

/* Whether an element has bytes in what is overwritten, all of which still are what was written there. The arrays of one
   block may have elements of different sizes. */
static int is_stale(const unsigned char *at, int element_size)
{
    unsigned char pattern[64];
    int found = 0;
    for (int i = 0; i < range_count; i++) {
        const unsigned char *from = at > ranges[i].begin ? at : ranges[i].begin;
        const unsigned char *to = at + element_size < ranges[i].end ? at + element_size : ranges[i].end;
        if (from >= to)
            continue;
        pattern_of(ranges[i].kind, ranges[i].element_size, pattern);
        for (; from < to; from++, found = 1)
            if (*from != pattern[(from - ranges[i].origin) % ranges[i].element_size])
                return 0;
    }
    return found;
}

/* Note the elements outside the section whose newest values live in another object's device buffer. */
static void note_stale(struct stream *s, const unsigned char *host)
{
    long long size = s->view.element_size;
    s->stale_count = 0;
    for (int r = 0; r < range_count; r++) {
        if (ranges[r].end <= host || ranges[r].begin >= host + s->view.count * size)
            continue;
        long long from = ranges[r].begin > host ? (ranges[r].begin - host) / size : 0;
        long long to = (ranges[r].end - host + size - 1) / size;
        for (long long i = from; i < to && i < s->view.count; i++) {
            long long element = s->view.first + i;
            if ((element >= s->view.lower && element < s->view.upper) || !is_stale(host + i * size, (int)size))
                continue;
            struct ws_stale *last = s->stale_count ? &s->stale[s->stale_count - 1] : NULL;
            if (last && last->end == element)
                last->end = element + 1;
            else if (s->stale_count < MAX_STALE) {
                s->stale[s->stale_count].begin = element;
                s->stale[s->stale_count++].end = element + 1;
            }
        }
    }
}

/* Find the whole object that `object` points into; return its first byte. `block`: a variable of static storage is one
   as well. */
static const unsigned char *extent_of(const unsigned char *object, long long declared_bytes, int block,
                                      struct ws_view *view)
{
    long long size = view->element_size;
    uintptr_t start;
    size_t bytes;
    if (declared_bytes > 0) {
        view->extent_from = WS_FROM_TYPE;
        view->count = declared_bytes / size;
        return object;
    }
    if (ws_heap_find(object, &start, &bytes) || (block && ws_variable_around(object, &start, &bytes))) {
        long long before = (long long)((uintptr_t)object - start) / size;
        view->extent_from = WS_FROM_ALLOCATION;
        view->first = -before;
        view->count = before + (long long)(start + bytes - (uintptr_t)object) / size;
        return object - before * size;
    }
    view->extent_from = WS_FROM_SECTION;
    view->first = view->lower;
    view->count = view->upper - view->lower;
    return object + view->lower * size;
}

static int reserve(struct stream *s, size_t bytes)
{
    if (s->room >= bytes)
        return 1;
    ws_pages_free(s->snapshot, s->room);
    s->room = (bytes + 65535) / 65536 * 65536;
    s->snapshot = (unsigned char *)ws_pages(s->room);
    if (!s->snapshot)
        s->room = 0;
    return s->snapshot != NULL;
}

static int in_sample(long long instance)
{
    return (instance & (instance - 1)) == 0 || (uint64_t)instance * UINT64_C(0x9E3779B97F4A7C15) >> 58 == 0;
}

/* Write the object as it is now; return whether anything was written. */
static int write_instance(struct stream *s, long long instance, long long bytes)
{
    if (instance < FIRST_IN_FULL || (in_sample(instance) && ws_log_room(bytes, SAMPLE_LIMIT))) {
        ws_log_view(s->region, s->name, instance, &s->view, 1, s->stale, s->stale_count);
        s->logged = instance;
        return 1;
    }
    if (!ws_log_room(1024, SUMMARY_LIMIT) || summarized + bytes > SUMMARY_WORK_LIMIT)
        return 0;
    summarized += bytes;
    ws_log_summary(s->region, s->name, instance, &s->view, 0, s->stale, s->stale_count);
    return 1;
}

/* Whether the device has the newest copy of the whole section. */
static int is_newest(const struct ws_view *view, const void *device)
{
    return device && view->upper > view->lower && !(warpsmith_remembers && warpsmith_remembers(device));
}

/* Whether the device's section is the host's: memory that both share. */
static int is_shared(const struct ws_view *view, const unsigned char *host, const void *device)
{
    return device && (const unsigned char *)device == host + (view->lower - view->first) * view->element_size;
}

/* Fill the snapshot with the newest values: the host's, with the device's section laid over them. */
static void newest(struct stream *s, const unsigned char *host, const void *device, const char *gaps)
{
    struct ws_view *view = &s->view;
    const long long bytes = view->count * view->element_size;
    if (bytes > 0)
        memcpy(s->snapshot, host, (size_t)bytes);
    if (warpsmith_lay_over && bytes > 0)
        warpsmith_lay_over(host, bytes, (char *)s->snapshot);
    if (is_newest(view, device)) {
        unsigned char *section = s->snapshot + (view->lower - view->first) * view->element_size;
        size_t length = (size_t)(view->upper - view->lower) * (size_t)view->element_size;
        if (ws_count_copies)
            ws_count_copies(0);
        if (cudaMemcpy)
            cudaMemcpy(section, device, length, 2);
        else
            memcpy(section, device, length);
        if (ws_count_copies)
            ws_count_copies(1);
    }
    ws_log_clear(s->snapshot, view->count, view->element_size, gaps);
}

static void record_disturbed(struct stream *s, const unsigned char *host, const void *device, const char *gaps,
                             int recorded)
{
    static long long work;
    const long long instance = s->instances - 1, bytes = s->view.count * s->view.element_size;
    if (!device || !ws_emulation_disturb || !getenv("WS_DISTURB"))
        return;
    /* What is launched after this capture is another region's, whether this one is changed or not. */
    if (!recorded || s->disturbed >= MAX_DISTURBED || s->in_vain > IN_VAIN_LIMIT || work + bytes > DISTURBED_WORK_LIMIT)
        device = NULL;
    if (!ws_emulation_disturb(device, s->view.kind, s->view.element_size)) {
        s->in_vain += bytes;
        return;
    }
    s->disturbed++;
    work += bytes;
    newest(s, host, device, gaps);
    ws_log_disturbed(s->region, s->name, instance, &s->view);
    ws_emulation_settle();
    newest(s, host, device, gaps);
}

/* Record the object; return whether the host's copy of the section is stale as a whole. */
static int take(struct stream *s, const unsigned char *host, const void *device, const char *gaps)
{
    struct ws_view *view = &s->view;
    long long bytes = view->count * view->element_size, instance = s->instances++;
    int stale = is_newest(view, device) && !is_shared(view, host, device);
    if (ws_emulation_look && bytes > 0)
        ws_emulation_look(host, (size_t)bytes);
    s->logged = -1;
    view->data = NULL;
    if (copied + bytes > SNAPSHOT_LIMIT || !reserve(s, bytes > 0 ? (size_t)bytes : 1))
        return stale;
    copied += bytes;
    view->data = s->snapshot;
    note_stale(s, host);
    newest(s, host, device, gaps);
    record_disturbed(s, host, device, gaps, write_instance(s, instance, bytes));
    return stale;
}

static const char *padding;

/* Say which bytes of the elements of the next object belong to no member. */
void ws_capture_padding(const char *gaps)
{
    padding = gaps;
}

static int block;

/* Say that the section of the next object is the block of memory that holds it: where that is neither of the heap nor a
   variable of static storage, what lies beside the object is nobody's business, and differs from build to build. */
void ws_capture_block(void)
{
    block = 1;
}

static int ahead;

/* Say that the next object is recorded later, and that the host's copy of its section is stale already. */
void ws_capture_ahead(void)
{
    ahead = 1;
}

/* Record `object` after `region`. `declared_bytes` <= 0: its type does not tell its size. The section is
   [lower, upper) in elements from `object`; `device`: the buffer whose start stands for element `lower`, or NULL. */
void ws_capture(const char *region, const char *name, const void *object, long long declared_bytes, int kind,
                int element_size, long long lower, long long upper, const void *device)
{
    struct stream *s;
    const unsigned char *host;
    const char *gaps = padding;
    int is_block = block, only_poisoned = ahead;
    padding = NULL;
    block = ahead = 0;
    if (element_size <= 0 || !ws_log_open() || !(s = stream_of(region, name)))
        return;
    memset(&s->view, 0, sizeof s->view);
    s->view.kind = kind;
    s->view.element_size = element_size;
    s->view.lower = lower;
    s->view.upper = upper > lower && object ? upper : lower;
    host = extent_of((const unsigned char *)object, object ? declared_bytes : 0, is_block, &s->view);
    if (is_block && s->view.extent_from == WS_FROM_SECTION)
        s->view.first = s->view.count = s->view.lower = s->view.upper = 0;
    if (s->view.lower < s->view.first)
        s->view.lower = s->view.first;
    /* an empty section may lie anywhere */
    if (s->view.lower > s->view.first + s->view.count)
        s->view.lower = s->view.first + s->view.count;
    if (s->view.upper > s->view.first + s->view.count)
        s->view.upper = s->view.first + s->view.count;
    if (s->view.upper < s->view.lower)
        s->view.upper = s->view.lower;
    if (device)
        device = (const unsigned char *)device + (s->view.lower - lower) * element_size;
    if (only_poisoned ? is_newest(&s->view, device) && !is_shared(&s->view, host, device) : take(s, host, device, gaps)) {
        unsigned char *section = (unsigned char *)object + s->view.lower * element_size;
        if (ws_emulation_look)
            ws_emulation_look(section, (size_t)((s->view.upper - s->view.lower) * element_size));
        poison(section, section + (s->view.upper - s->view.lower) * element_size, kind, element_size);
    }
}

/* The run time that is asked for rows says where they are; of a port with a device: where that has a byte of the host. */
extern long long warpsmith_rows(const long long *starts, const void *const **first);
extern const void *warpsmith_device_of(const void *host) __attribute__((weak));

/* Record all blocks of the heap in which the rows lie that start so, in the order of the rows, each once. */
void ws_capture_rows(const char *region, const char *name, const long long *starts, int kind, int element_size,
                     const char *gaps, const void *device, int only_ahead)
{
    const void *const *rows;
    const long long count = starts ? warpsmith_rows(starts, &rows) : 0;
    uintptr_t start, other, highest = 0;
    size_t bytes, other_bytes;
    for (long long i = 0; i < count; i++) {
        int seen = 0;
        if (!rows[i] || !ws_heap_find(rows[i], &start, &bytes))
            continue;
        for (long long k = 0; start <= highest && k < i && !seen; k++)
            seen = rows[k] && ws_heap_find(rows[k], &other, &other_bytes) && other == start;
        highest = start > highest ? start : highest;
        if (seen)
            continue;
        const void *copy = device && warpsmith_device_of ? warpsmith_device_of((const void *)start) : NULL;
        padding = *gaps ? gaps : NULL;
        block = 1;
        ahead = only_ahead;
        ws_capture(region, name, (const void *)start, -1, kind, element_size, 0, (long long)bytes / element_size, copy);
    }
}

/* The last instance of every stream, and how many there were. */
__attribute__((destructor)) static void finish(void)
{
    if (!ws_log_open())
        return;
    for (int i = 0; i < stream_count; i++) {
        struct stream *s = &streams[i];
        if (s->logged != s->instances - 1 && s->view.data)
            ws_log_view(s->region, s->name, s->instances - 1, &s->view, 1, s->stale, s->stale_count);
        ws_log_total(s->region, s->name, s->instances);
    }
    ws_log_flush();
}
