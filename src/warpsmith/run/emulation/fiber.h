/* Switching between stacks: callee-saved registers only, as the platform's C calling convention demands. */
#ifndef WARPSMITH_FIBER_H
#define WARPSMITH_FIBER_H

#include <stddef.h>
#include <stdint.h>

namespace ws {

/* Save the present stack in *from and go on with `to`; returns when someone switches back. */
void switch_stack(void **from, void *to);

/* A stack on which `entry` starts when it is switched to. */
void *fresh_stack(char *low, size_t bytes, void (*entry)());

} // namespace ws

#endif
