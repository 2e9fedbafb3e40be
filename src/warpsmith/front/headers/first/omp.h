/* What OpenMP programs call, declared without OpenMP: gcc's own omp.h cannot be read by clang, which has none. */
#ifndef WARPSMITH_OMP_H
#define WARPSMITH_OMP_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct { unsigned char data[4]; } omp_lock_t;
typedef struct { unsigned char data[16]; } omp_nest_lock_t;
typedef enum {
    omp_sched_static = 1,
    omp_sched_dynamic = 2,
    omp_sched_guided = 3,
    omp_sched_auto = 4
} omp_sched_t;
typedef enum {
    omp_proc_bind_false,
    omp_proc_bind_true,
    omp_proc_bind_master,
    omp_proc_bind_close,
    omp_proc_bind_spread
} omp_proc_bind_t;
typedef enum {
    omp_sync_hint_none = 0,
    omp_sync_hint_uncontended = 1,
    omp_sync_hint_contended = 2,
    omp_sync_hint_nonspeculative = 4,
    omp_sync_hint_speculative = 8
} omp_sync_hint_t;
typedef enum {
    omp_null_allocator = 0,
    omp_default_mem_alloc = 1,
    omp_large_cap_mem_alloc = 2,
    omp_const_mem_alloc = 3,
    omp_high_bw_mem_alloc = 4,
    omp_low_lat_mem_alloc = 5,
    omp_cgroup_mem_alloc = 6,
    omp_pteam_mem_alloc = 7,
    omp_thread_mem_alloc = 8
} omp_allocator_handle_t;
typedef unsigned long omp_memspace_handle_t;
typedef unsigned long omp_depend_t;
typedef unsigned long omp_event_handle_t;
typedef struct {
    int key;
    unsigned long value;
} omp_alloctrait_t;
typedef enum {
    omp_pause_soft = 1,
    omp_pause_hard = 2
} omp_pause_resource_t;
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_thread_limit(void);
int omp_get_num_procs(void);
int omp_in_parallel(void);
int omp_in_final(void);
int omp_get_dynamic(void);
int omp_get_nested(void);
int omp_get_level(void);
int omp_get_active_level(void);
int omp_get_ancestor_thread_num(int level);
int omp_get_team_size(int level);
int omp_get_max_active_levels(void);
int omp_get_num_devices(void);
int omp_get_default_device(void);
int omp_get_initial_device(void);
int omp_is_initial_device(void);
int omp_get_num_teams(void);
int omp_get_team_num(void);
int omp_get_device_num(void);
int omp_get_max_teams(void);
int omp_get_teams_thread_limit(void);
void omp_set_num_teams(int teams);
void omp_set_teams_thread_limit(int limit);
int omp_get_supported_active_levels(void);
int omp_get_max_task_priority(void);
int omp_get_num_places(void);
int omp_get_place_num(void);
int omp_get_place_num_procs(int place);
void omp_get_place_proc_ids(int place, int *ids);
int omp_get_partition_num_places(void);
void omp_get_partition_place_nums(int *places);
int omp_get_cancellation(void);
omp_proc_bind_t omp_get_proc_bind(void);
void omp_set_num_threads(int threads);
void omp_set_dynamic(int dynamic);
void omp_set_nested(int nested);
void omp_set_schedule(omp_sched_t kind, int chunk);
void omp_get_schedule(omp_sched_t *kind, int *chunk);
void omp_set_max_active_levels(int levels);
void omp_set_default_device(int device);
double omp_get_wtime(void);
double omp_get_wtick(void);
void omp_init_lock(omp_lock_t *lock);
void omp_destroy_lock(omp_lock_t *lock);
void omp_set_lock(omp_lock_t *lock);
void omp_unset_lock(omp_lock_t *lock);
int omp_test_lock(omp_lock_t *lock);
void omp_init_nest_lock(omp_nest_lock_t *lock);
void omp_destroy_nest_lock(omp_nest_lock_t *lock);
void omp_set_nest_lock(omp_nest_lock_t *lock);
void omp_unset_nest_lock(omp_nest_lock_t *lock);
int omp_test_nest_lock(omp_nest_lock_t *lock);
void omp_init_lock_with_hint(omp_lock_t *lock, omp_sync_hint_t hint);
void omp_init_nest_lock_with_hint(omp_nest_lock_t *lock, omp_sync_hint_t hint);
void *omp_target_alloc(size_t size, int device);
void omp_target_free(void *memory, int device);
int omp_target_is_present(const void *memory, int device);
int omp_target_is_accessible(const void *memory, size_t size, int device);
int omp_target_memcpy(void *to, const void *from, size_t size, size_t to_offset, size_t from_offset, int to_device,
                      int from_device);
int omp_target_memcpy_rect(void *to, const void *from, size_t element_size, int dimensions, const size_t *volume,
                           const size_t *to_offsets, const size_t *from_offsets, const size_t *to_sizes,
                           const size_t *from_sizes, int to_device, int from_device);
int omp_target_associate_ptr(const void *host, const void *device_memory, size_t size, size_t offset, int device);
int omp_target_disassociate_ptr(const void *host, int device);
void *omp_get_mapped_ptr(const void *host, int device);
void *omp_alloc(size_t size, omp_allocator_handle_t allocator);
void *omp_calloc(size_t count, size_t size, omp_allocator_handle_t allocator);
void *omp_aligned_alloc(size_t alignment, size_t size, omp_allocator_handle_t allocator);
void *omp_aligned_calloc(size_t alignment, size_t count, size_t size, omp_allocator_handle_t allocator);
void *omp_realloc(void *memory, size_t size, omp_allocator_handle_t allocator, omp_allocator_handle_t old);
void omp_free(void *memory, omp_allocator_handle_t allocator);
omp_allocator_handle_t omp_init_allocator(omp_memspace_handle_t space, int count, const omp_alloctrait_t *traits);
void omp_destroy_allocator(omp_allocator_handle_t allocator);
void omp_set_default_allocator(omp_allocator_handle_t allocator);
omp_allocator_handle_t omp_get_default_allocator(void);
void omp_fulfill_event(omp_event_handle_t event);
void omp_display_env(int verbose);
void omp_display_affinity(const char *format);
void omp_set_affinity_format(const char *format);
size_t omp_get_affinity_format(char *buffer, size_t size);
size_t omp_capture_affinity(char *buffer, size_t size, const char *format);
int omp_pause_resource(omp_pause_resource_t kind, int device);
int omp_pause_resource_all(omp_pause_resource_t kind);
#ifdef __cplusplus
}
#endif
#endif
