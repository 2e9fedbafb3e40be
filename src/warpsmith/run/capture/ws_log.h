/* What the capture runtime's files share. The record layout is read by captures.py; both sides state it once. */
#ifndef WS_LOG_H
#define WS_LOG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ws_kind { WS_BYTES = 0, WS_SIGNED = 1, WS_UNSIGNED = 2, WS_FLOAT = 3 };
enum ws_extent { WS_FROM_TYPE = 0, WS_FROM_ALLOCATION = 1, WS_FROM_SECTION = 2 };
enum ws_form { WS_FULL = 0, WS_SUMMARY = 1, WS_TOTAL = 2, WS_MARK = 3, WS_DISTURBED = 4 }; /* 4 + 0, 4 + 1 */

/* One object as it stood: `count` elements from element `first` (relative to the object's own pointer) at `data`. */
struct ws_view {
    const unsigned char *data;
    int kind, element_size, extent_from;
    long long first, count, lower, upper;
};

/* A run of elements [begin, end) whose host copy is stale: the newest values are on the device. */
struct ws_stale {
    long long begin, end;
};

struct ws_head {
    uint32_t magic, form, kind, element_size;
    int64_t instance, first, count, lower, upper;
    uint32_t extent_from, region_length, name_length, stale_count;
    uint64_t hash;
    int64_t payload;
};

#define WS_MAGIC 0x31435357u

int ws_log_open(void);
void ws_log_view(const char *region, const char *name, long long instance, const struct ws_view *view, int wide,
                 const struct ws_stale *stale, int stale_count);
void ws_log_summary(const char *region, const char *name, long long instance, const struct ws_view *view, int wide,
                    const struct ws_stale *stale, int stale_count);
void ws_log_disturbed(const char *region, const char *name, long long instance, const struct ws_view *view);
void ws_log_total(const char *region, const char *name, long long instances);
void ws_log_mark(const char *region, const char *name, long long value);
void ws_log_flush(void);
void ws_log_clear(unsigned char *data, long long count, int element_size, const char *gaps);
int ws_log_room(long long bytes, long long limit);

int ws_variable_find(const void *at, uintptr_t *start, size_t *size);
int ws_variable_around(const void *at, uintptr_t *start, size_t *size);
int ws_heap_find(const void *pointer, uintptr_t *start, size_t *size);
void ws_variable_each(void (*visit)(uintptr_t start, size_t size));
void ws_heap_each(void (*visit)(uintptr_t start, size_t size));
void ws_left_arrives(const void *host);
void ws_left_dies(uintptr_t start, size_t size);
void ws_heap_note(void *pointer, size_t size);
void ws_heap_forget(void *pointer);
void *ws_pages(size_t bytes);
void ws_pages_free(void *pages, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
