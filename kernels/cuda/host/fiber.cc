/* fiber.cc: a context switch in a dozen instructions where we know the processor, ucontext elsewhere. */
#include "fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if !defined(MR_FIBER_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define MR_FIBER_UCONTEXT
#endif

#ifdef MR_FIBER_UCONTEXT
#include <ucontext.h>
#endif

/* AddressSanitizer keeps a shadow of the stack in use and must be told when that changes. */
#if defined(__SANITIZE_ADDRESS__)
#define MR_FIBER_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MR_FIBER_ASAN
#endif
#endif
#ifdef MR_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace cuda_host
{
static const size_t stack_bytes = 64 << 10, guard_bytes = 64 << 10;

struct fiber {
    void *sp; /* where its registers lie while it does not run */
    char *base;
    size_t bytes;
    void (*entry)();
    fiber *previous; /* all that were made */
#ifdef MR_FIBER_UCONTEXT
    ucontext_t context;
#endif
};

static fiber main_fiber;
static fiber *newest;

fiber *fiber_main()
{
    return &main_fiber;
}

#ifdef MR_FIBER_ASAN
static fiber *arriving, *leaving;

/* The first thing on arrival: tell which stack is in use, and learn the bounds of the one that the process came with.
 */
static void arrive(void *fake)
{
    const void *bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(fake, &bottom, &size);
    if (leaving == &main_fiber) {
        main_fiber.base = (char *)const_cast<void *>(bottom);
        main_fiber.bytes = size;
    }
}

static void first_arrival()
{
    arrive(nullptr);
    arriving->entry();
}
#endif

#ifndef MR_FIBER_UCONTEXT

/* mr_fiber_switch(void **save, void *load): pushes what a function must preserve, changes stacks, pops it. The rounding
 * modes are not saved: nothing here changes them. */
extern "C" void mr_fiber_switch(void **save, void *load);

#if defined(__x86_64__)
enum { saved_words = 6, entry_word = 6 };
asm(R"(
    .text
    .globl  mr_fiber_switch
    .hidden mr_fiber_switch
    .type   mr_fiber_switch, @function
mr_fiber_switch:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov  %rsp, (%rdi)
    mov  %rsi, %rsp
    pop  %r15
    pop  %r14
    pop  %r13
    pop  %r12
    pop  %rbx
    pop  %rbp
    ret
    .size   mr_fiber_switch, . - mr_fiber_switch
)");
#else
enum { saved_words = 20, entry_word = 11 }; /* x30, the link register, is the twelfth */
asm(R"(
    .text
    .globl  mr_fiber_switch
    .hidden mr_fiber_switch
    .type   mr_fiber_switch, @function
mr_fiber_switch:
    sub sp, sp, #160
    stp x19, x20, [sp]
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
    ldp x19, x20, [sp]
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
    .size mr_fiber_switch, . - mr_fiber_switch
)");
#endif

static void prepare(fiber *f, char *top, void (*entry)())
{
    /* 8 words above the registers on x86-64 leave the stack as a call would: 8 bytes off a multiple of 16, with a
     * return address of 0 there. */
    enum { words = (saved_words + 2 + 1) / 2 * 2 };
    void **frame = (void **)top - words;
    memset(frame, 0, words * sizeof *frame);
    frame[entry_word] = (void *)entry;
    f->sp = frame;
}

static void go(fiber *from, fiber *to)
{
    mr_fiber_switch(&from->sp, to->sp);
}

#else

static void prepare(fiber *f, char *top, void (*entry)())
{
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->base;
    f->context.uc_stack.ss_size = (size_t)(top - f->base);
    makecontext(&f->context, entry, 0);
}

static void go(fiber *from, fiber *to)
{
    swapcontext(&from->context, &to->context);
}

#endif

void fiber_forget(void *stack, size_t bytes)
{
#ifdef MR_FIBER_ASAN
    __asan_unpoison_memory_region(stack, bytes);
#endif
    (void)stack, (void)bytes;
}

void fiber_restart(fiber *f, void (*entry)())
{
    /* Tops at different offsets in their pages: else the live ends of all stacks share a few lines of the cache. */
    size_t color = (uintptr_t)f->base / (guard_bytes + stack_bytes) % 32 * 128;
    f->entry = entry;
    fiber_forget(f->base, f->bytes);
#ifdef MR_FIBER_ASAN
    entry = first_arrival;
#endif
    prepare(f, f->base + f->bytes - color, entry);
}

fiber *fiber_create(void (*entry)())
{
    char *p = (char *)mmap(nullptr, guard_bytes + stack_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    fiber *f = (fiber *)calloc(1, sizeof *f);
    if (!f || mprotect(p + guard_bytes, stack_bytes, PROT_READ | PROT_WRITE)) {
        munmap(p, guard_bytes + stack_bytes);
        free(f);
        return nullptr;
    }
    f->base = p + guard_bytes;
    f->bytes = stack_bytes;
    f->previous = newest;
    newest = f;
    fiber_restart(f, entry);
    return f;
}

void fiber_switch(fiber *from, fiber *to)
{
#ifdef MR_FIBER_ASAN
    void *fake = nullptr;
    arriving = to;
    leaving = from;
    __sanitizer_start_switch_fiber(&fake, to->base, to->bytes);
    go(from, to);
    arrive(fake);
#else
    go(from, to);
#endif
}

bool fiber_overflowed(const void *address)
{
    const char *p = (const char *)address;
    for (const fiber *f = newest; f; f = f->previous)
        if (p >= f->base - guard_bytes && p < f->base) return true;
    return false;
}
} // namespace cuda_host
