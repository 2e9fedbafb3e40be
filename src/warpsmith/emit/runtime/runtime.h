/* Run time of warpsmith WS_VERSION: what host text calls. Valid as C and as C++. */
#ifndef WS_RUNTIME_H
#define WS_RUNTIME_H

#ifdef WS_WITH_ALLOCATIONS
#include <stddef.h>

#endif
#ifdef __cplusplus
extern "C" {
#endif

#ifdef WS_WITH_SWITCH
/* Whether the device is in use: not where WARPSMITH_OFF=1 is set. */
int ws_on(void);

/* What only a build with the device compiles: others define that it is nothing. */
#define WARPSMITH_ONLY(...) __VA_ARGS__

#endif
/* Device memory and copies: they check for errors, and end the program with a message if there is one. */
#define WS_HERE __FILE__, __LINE__
void *ws_device_acquire(long long bytes, const char *name, const char *file, int line);
void ws_device_release(void *memory);
void ws_copy_to_device(void *device, const void *host, long long bytes, const char *file, int line);
void ws_copy_to_host(void *host, const void *device, long long bytes, const char *file, int line);
#ifdef WS_WITH_OVERLAP
/* Copies that only begin, and what comes after those of a buffer: kernels that are launched behind it, or host code. */
void ws_begin_copy_to_device(void *device, const void *host, long long bytes, const char *file, int line);
void ws_begin_copy_to_host(void *host, const void *device, long long bytes, const char *file, int line);
void ws_kernels_wait(const void *device, const char *file, int line);
void ws_host_wait(const void *device, const char *file, int line);
#endif

#ifdef WS_WITH_PRESENT
#include "flags.h"

/* Data that stay on the device across calls: host ranges are entered and left, and what is there already is not copied
   again; a data region keeps them between its begin and its end. */
/* An address that is only looked up: what is there need not be set. */
#if defined __GNUC__ && __GNUC__ >= 11 && !defined __clang__
#define WS_LOOK __attribute__((access(none, 1)))
#else
#define WS_LOOK
#endif
WS_LOOK void *ws_data_enter(const void *host, long long bytes, int flags, const char *name, const char *file, int line);
void ws_data_exit(void *device, int written, const char *file, int line);
void ws_update_host(const void *host, long long bytes, const char *file, int line);
void ws_update_device(const void *host, long long bytes, const char *file, int line);
void ws_update_host_all(const char *file, int line);
void ws_update_device_all(const char *file, int line);
void ws_data_begin(const char *file, int line);
void ws_data_end(const char *file, int line);
void ws_data_suspend(const char *file, int line);
void ws_data_resume(const char *file, int line);
void ws_data_to_host(const char *file, int line);

#ifdef WS_WITH_ALLOCATIONS
/* What of the stack outlives a data region that has just begun: an object of the function that begins it; what the
   function's callers own, which lies behind its frame. */
#if defined __GNUC__ && defined __x86_64__
#define WS_FRAME __builtin_frame_address(0)
#else
#define WS_FRAME 0
#endif
WS_LOOK void ws_data_outlives(const void *object, long long bytes);
void ws_data_callers(const void *frame);

#endif
#endif
#ifdef WS_WITH_ALLOCATIONS
/* The block of the heap that holds an address: bytes from there to its end (0: not known), its elements of a size,
   counted from there, and how many bytes those are; whether two addresses lie in different ones. */
size_t ws_allocation_bytes(const void *at);
long long ws_allocation_lower(const void *at, size_t element);
long long ws_allocation_upper(const void *at, size_t element);
long long ws_allocation_size(const void *at, size_t element);
int ws_allocations_apart(const void *one, const void *other);

#ifdef WS_WITH_MANAGED
/* As the functions without the prefix, but for memory that the host and the device share, where there is such. */
void *ws_managed_malloc(size_t bytes);
void *ws_managed_calloc(size_t count, size_t bytes);
void *ws_managed_realloc(void *old, size_t bytes);
void *ws_managed_aligned_alloc(size_t alignment, size_t bytes);
int ws_managed_posix_memalign(void **result, size_t alignment, size_t bytes);

#endif
#ifdef WS_WITH_PINNED
/* As the functions without the prefix, but for page-locked memory, where there is such: its copies are faster. */
void *ws_pinned_malloc(size_t bytes);
void *ws_pinned_calloc(size_t count, size_t bytes);
void *ws_pinned_realloc(void *old, size_t bytes);
void *ws_pinned_aligned_alloc(size_t alignment, size_t bytes);
int ws_pinned_posix_memalign(void **result, size_t alignment, size_t bytes);

#endif
#ifdef WS_WITH_ROWS
/* Where each row starts, in elements from row zero, the first one that is known; null where that is not known. Of all
   rows, or of rows low .. high - 1. Whether each row lies in a block of its own; whether no two have elements of
   [low, high) in common; and whether a pointer, or other rows by their starts, lead to other blocks. */
const long long *ws_row_starts(const void *rows, size_t element);
const long long *ws_row_starts_of(const void *rows, long long low, long long high, size_t element);
void *ws_row_zero(const long long *starts);
int ws_rows_distinct(const long long *starts);
int ws_rows_clear(const long long *starts, long long low, long long high);
int ws_rows_apart(const long long *starts, const void *other);

#endif
#ifdef WS_WITH_PRESENT
void ws_update_host_block(const void *at, const char *file, int line);
void ws_update_device_block(const void *at, const char *file, int line);

#ifdef WS_WITH_ROWS
/* The blocks of rows enter the present table; the answer is where row zero is on the device. The table of starts there
   is for rows that have been entered. */
void *ws_rows_enter(const long long *starts, int flags, const char *name, const char *file, int line);
void ws_rows_exit(const long long *starts, int written, const char *file, int line);
long long *ws_rows_table(const long long *starts, const char *file, int line);

#endif
#endif
#endif
#ifdef __cplusplus
}
#endif

#ifdef WS_WITH_VECTORS
#include "vectors.h"

#endif
#ifdef WS_WITH_PRESENT
#ifdef __cplusplus
/* A data region that ends where its block is left, by an exception as well. */
struct ws_data_region {
    ws_data_region(const char *file, int line, int opens = 1) : file(file), line(line), open(opens)
    {
        if (open)
            ws_data_begin(file, line);
    }
    ~ws_data_region() { end(file, line); }
    ws_data_region(const ws_data_region &) = delete;
    ws_data_region &operator=(const ws_data_region &) = delete;
    void end(const char *at, int number)
    {
        if (open)
            ws_data_end(at, number), open = false;
    }

private:
    const char *file;
    int line;
    bool open;
};
#endif

#endif
#endif
