/* Included before everything in host files of a program that works asynchronously: the C library's memory functions are
   accesses of the host, which the emulation sees like those that the compiler tells of. C and C++. */
#ifndef WARPSMITH_WS_HOST_H
#define WARPSMITH_WS_HOST_H

#include <stddef.h>

#ifdef __cplusplus
#define WS_NOTHROW noexcept
extern "C" {
#else
#define WS_NOTHROW
#endif
void *memcpy(void *__restrict to, const void *__restrict from, size_t n) WS_NOTHROW __asm__("ws_memcpy");
void *memmove(void *to, const void *from, size_t n) WS_NOTHROW __asm__("ws_memmove");
void *memset(void *to, int value, size_t n) WS_NOTHROW __asm__("ws_memset");
#ifdef __cplusplus
}
#endif

#endif
