/* The switch in assembly for x86-64 and AArch64; elsewhere through ucontext. */
#include "fiber.h"

#if defined(__x86_64__)

asm(R"(
.text
.p2align 4
.globl ws_switch_stack
.hidden ws_switch_stack
.type ws_switch_stack,@function
ws_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size ws_switch_stack,.-ws_switch_stack
)");
extern "C" void ws_switch_stack(void **from, void *to);

void ws::switch_stack(void **from, void *to) { ws_switch_stack(from, to); }

void *ws::fresh_stack(char *low, size_t bytes, void (*entry)()) {
    /* At its first instruction a function finds the stack 8 off a multiple of 16. */
    uintptr_t *top = reinterpret_cast<uintptr_t *>((reinterpret_cast<uintptr_t>(low) + bytes) & ~(uintptr_t)15);
    *--top = 0;
    *--top = reinterpret_cast<uintptr_t>(entry);
    for (int i = 0; i < 6; ++i) *--top = 0;
    return top;
}

#elif defined(__aarch64__)

asm(R"(
.text
.p2align 4
.globl ws_switch_stack
.hidden ws_switch_stack
.type ws_switch_stack,%function
ws_switch_stack:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size ws_switch_stack,.-ws_switch_stack
)");
extern "C" void ws_switch_stack(void **from, void *to);

void ws::switch_stack(void **from, void *to) { ws_switch_stack(from, to); }

void *ws::fresh_stack(char *low, size_t bytes, void (*entry)()) {
    uintptr_t *top = reinterpret_cast<uintptr_t *>((reinterpret_cast<uintptr_t>(low) + bytes) & ~(uintptr_t)15);
    top -= 20;
    for (int i = 0; i < 20; ++i) top[i] = 0;
    top[11] = reinterpret_cast<uintptr_t>(entry);
    return top;
}

#else

#include <ucontext.h>

void ws::switch_stack(void **from, void *to) {
    ucontext_t here;
    *from = &here;
    swapcontext(&here, static_cast<ucontext_t *>(to));
}

void *ws::fresh_stack(char *low, size_t bytes, void (*entry)()) {
    /* The context lives at the low end of the stack that it describes. */
    ucontext_t *context = reinterpret_cast<ucontext_t *>(low);
    getcontext(context);
    context->uc_stack.ss_sp = low + sizeof *context;
    context->uc_stack.ss_size = bytes - sizeof *context;
    context->uc_link = nullptr;
    makecontext(context, entry, 0);
    return context;
}

#endif
