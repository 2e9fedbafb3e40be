/* Included before everything in files with device code: the C library's memory functions and assert go through the
   emulation, which treats them as accesses and device errors inside kernels and hands them on outside. */
#ifndef WARPSMITH_WS_INSTRUMENTED_H
#define WARPSMITH_WS_INSTRUMENTED_H

#include <stddef.h>

extern "C" {
void *memcpy(void *__restrict to, const void *__restrict from, size_t n) noexcept __asm__("ws_memcpy");
void *memmove(void *to, const void *from, size_t n) noexcept __asm__("ws_memmove");
void *memset(void *to, int value, size_t n) noexcept __asm__("ws_memset");
void *malloc(size_t n) noexcept __asm__("ws_heap_take");
long clock(void) noexcept __asm__("ws_clock_of_caller");
void free(void *p) noexcept __asm__("ws_heap_give");
void __assert_fail(const char *text, const char *file, unsigned int line, const char *function) noexcept
    __asm__("ws_assert_fail") __attribute__((noreturn));
}

/* The labels are proper C++ names, since g++ takes them apart. */
void *operator new(size_t n) __asm__("_ZN2ws9take_heapEm");
void *operator new[](size_t n) __asm__("_ZN2ws9take_heapEm");
void operator delete(void *p) noexcept __asm__("_ZN2ws9give_heapEPv");
void operator delete[](void *p) noexcept __asm__("_ZN2ws9give_heapEPv");
void operator delete(void *p, size_t n) noexcept __asm__("_ZN2ws9give_heapEPv");
void operator delete[](void *p, size_t n) noexcept __asm__("_ZN2ws9give_heapEPv");

#endif
