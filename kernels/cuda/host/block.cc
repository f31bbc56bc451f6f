/* block.cc: runs the blocks of a launch, one after the other, and the threads of a block as fibers.
 *
 * A fiber takes a thread that has not started and calls the kernel; when the kernel returns, the same fiber takes the
 * next one. A thread that waits keeps its fiber, and another one goes on. So kernels without barriers never switch. */
#include "cuda_host.h"
#include "fiber.h"

#include <mutex>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace cuda_host
{
clock now;
size_t dynamic_used;
alignas(64) char dynamic[dynamic_bytes];
trace dynamic_trace[dynamic_bytes];

namespace
{
const int max_threads = 1024, max_warps = max_threads / 32;

enum thread_state : uint8_t { running, ready, at_barrier, at_warp_op, exited };

struct thread {
    dim3 index;
    thread_state state;
    fiber *stack; /* of a thread that waits */
    site at;      /* where it waits */
    warp_op op;
    unsigned mask;
    int by, width;
    uint64_t value; /* what it brought to the warp operation, then what it takes away */
};

/* Visits 0 … n-1, each once, from a random start in steps of a random size that has no factor in common with n. */
struct order {
    int64_t n, at, step, left;
};

thread threads[max_threads];
uint16_t syncs[max_warps]; /* __syncwarps done by each warp */
int n_threads, n_exited, n_at_barrier;
order unstarted;
bool resume_first; /* of threads that wait no longer and threads that have not started: which go on first */

uint16_t queue[max_threads]; /* ready threads, a ring */
int queue_head, queue_n;

fiber *fibers[max_threads], *idle[max_threads], *busy; /* all; those without a thread; the one that runs */
int n_fibers, n_idle;

const launch_request *request;
int current; /* index of the running thread */
bool failed;
char failure[512];
bool in_kernel; /* a fault now is the kernel's */
pthread_t launcher;
uint64_t random_state;

unsigned random_below(uint64_t n)
{
    if (!random_state) {
        const char *s = getenv("MINIRT_CUDA_SEED");
        seed(s ? strtoull(s, nullptr, 0) : 0);
    }
    random_state ^= random_state << 13; /* xorshift64 */
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)((random_state >> 32) % n);
}

int64_t common_factor(int64_t a, int64_t b)
{
    return b ? common_factor(b, a % b) : a;
}

order shuffled(int64_t n)
{
    order o = {n, random_below((uint64_t)n), 1, n};
    do o.step = 1 + random_below((uint64_t)n);
    while (common_factor(o.step, n) != 1);
    return o;
}

int64_t next(order &o)
{
    int64_t i = o.at;
    o.at += o.step;
    if (o.at >= o.n) o.at -= o.n;
    o.left--;
    return i;
}

void become(int t)
{
    current = t;
    threadIdx = threads[t].index;
    now.thread = (uint16_t)t;
    now.sync = syncs[t / 32];
    threads[t].state = running;
}

void make_ready(int t)
{
    threads[t].state = ready;
    queue[(queue_head + queue_n++) % max_threads] = (uint16_t)t;
}

int take_ready()
{
    int t = queue[queue_head];
    queue_head = (queue_head + 1) % max_threads;
    queue_n--;
    return t;
}

void work();

bool add_fiber()
{
    fiber *f = fiber_create(work);
    if (f) idle[n_idle++] = fibers[n_fibers++] = f;
    return f;
}

/* Leaves the busy fiber for whatever goes on next: a thread that waited, one that has not started, or the scheduler
 * when there is none. */
void dispatch()
{
    fiber *from = busy;
    bool may_resume = queue_n > 0, may_start = unstarted.left > 0;
    if (may_resume && (resume_first || !may_start)) {
        int t = take_ready();
        become(t);
        busy = threads[t].stack;
    } else if (may_start) {
        if (n_idle == 0 && !add_fiber()) stop("no memory for the stack of a thread");
        busy = idle[--n_idle];
    } else {
        busy = fiber_main();
    }
    if (busy != from) fiber_switch(from, busy);
}

/* The body of every fiber. */
void work()
{
    for (fiber *self = busy;;) {
        while (unstarted.left > 0 && !(resume_first && queue_n > 0)) {
            become((int)next(unstarted));
            request->call(request->arguments);
            threads[current].state = exited;
            n_exited++;
        }
        idle[n_idle++] = self;
        dispatch();
    }
}

void wait_as(thread_state state, site at)
{
    thread &t = threads[current];
    t.state = state;
    t.at = at;
    t.stack = busy;
    dispatch();
}

const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "(3,0,0) waits at __syncthreads (softmax.cu:31)", "(3,0,0) has exited" */
const char *describe(int i, char *buf, size_t size)
{
    const thread &t = threads[i];
    int n = snprintf(buf, size, "(%u,%u,%u)", t.index.x, t.index.y, t.index.z);
    if (t.state == exited)
        snprintf(buf + n, size - (size_t)n, " has exited");
    else
        snprintf(buf + n, size - (size_t)n, " waits at %s (%s:%d)", t.at.what, file_name(t.at.file), t.at.line);
    return buf;
}

/* "softmax<float>" out of what the compiler calls the instance of launch(). */
const char *kernel_name(char *buf, size_t size)
{
    static const char *const noise[] = {"&", "{anonymous}::", "(anonymous namespace)::"};
    const char *s = strstr(request->name, "Kernel = ");
    snprintf(buf, size, "%s", s ? s + strlen("Kernel = ") : request->name);
    for (const char *word : noise)
        for (char *at; (at = strstr(buf, word));) memmove(at, at + strlen(word), strlen(at + strlen(word)) + 1);
    int depth = 0;
    for (char *p = buf; *p; p++) {
        depth += (*p == '<' || *p == '(') - (*p == '>' || *p == ')');
        if (depth == 0 && (*p == ',' || *p == ';' || *p == ']')) *p = 0, p--;
    }
    return buf;
}

void write_failure(int t, const char *text)
{
    char name[128];
    const dim3 &b = blockIdx, &i = threads[t].index;
    snprintf(failure, sizeof failure, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u): %s",
             kernel_name(name, sizeof name), b.x, b.y, b.z, i.x, i.y, i.z, text);
    failed = true;
}

/* Nothing can go on, yet threads wait: says which, and what for. */
void write_deadlock()
{
    char a[160], b[160], text[352];
    int waiting = 0, other = -1;
    while (threads[waiting].state == exited) waiting++;
    const thread &t = threads[waiting];
    for (int i = 0; i < n_threads && other < 0; i++) {
        bool expected = t.state == at_barrier || (i / 32 == waiting / 32 && t.mask >> i % 32 & 1);
        bool there = threads[i].state == t.state && (t.state == at_barrier || threads[i].op == t.op);
        if (expected && !there) other = i;
    }
    if (t.state == at_warp_op && other < 0)
        snprintf(text, sizeof text, "%s with mask 0x%08x, which names lanes that %s", describe(waiting, a, sizeof a),
                 t.mask, "the block does not have or that wait with another mask");
    else
        snprintf(text, sizeof text, "%s, but thread %s", describe(waiting, a, sizeof a), describe(other, b, sizeof b));
    write_failure(waiting, strchr(text, ' ') + 1);
}

void leave_kernel()
{
    fiber *from = busy;
    busy = fiber_main();
    fiber_switch(from, busy);
}

/* A fault in a kernel ends the launch; any other goes the way it would have gone. */
struct sigaction old_segv, old_bus;

void on_fault(int sig, siginfo_t *info, void *context)
{
    if (in_kernel && pthread_equal(pthread_self(), launcher)) {
        char where[160], text[224];
        if (fiber_overflowed(info->si_addr))
            snprintf(text, sizeof text, "the stack of the thread is full");
        else
            snprintf(text, sizeof text, "illegal access at %s", memory_describe(info->si_addr, where, sizeof where));
        write_failure(current, text);
        leave_kernel(); /* SA_NODEFER: the signal is not blocked, so this frame may be abandoned */
    }
    struct sigaction *old = sig == SIGSEGV ? &old_segv : &old_bus;
    if (old->sa_flags & SA_SIGINFO)
        old->sa_sigaction(sig, info, context);
    else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN)
        old->sa_handler(sig);
    else
        sigaction(sig, old, nullptr);
}

/* While it lives, faults are ours; on a stack of their own, for the fault may be that of a full stack. */
class fault_guard
{
  public:
    fault_guard()
    {
        fiber_forget(space, sizeof space);
        stack_t own = {};
        own.ss_sp = space;
        own.ss_size = sizeof space;
        sigaltstack(&own, &old_stack);
        struct sigaction act = {};
        act.sa_sigaction = on_fault;
        act.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigaction(SIGSEGV, &act, &old_segv);
        sigaction(SIGBUS, &act, &old_bus);
        launcher = pthread_self();
    }
    ~fault_guard()
    {
        sigaction(SIGSEGV, &old_segv, nullptr);
        sigaction(SIGBUS, &old_bus, nullptr);
        sigaltstack(&old_stack, nullptr);
    }

  private:
    static char space[64 << 10];
    stack_t old_stack;
};
char fault_guard::space[64 << 10];

void run_block(uint64_t b)
{
    blockIdx.x = (unsigned)(b % gridDim.x);
    blockIdx.y = (unsigned)(b / gridDim.x % gridDim.y);
    blockIdx.z = (unsigned)(b / gridDim.x / gridDim.y);
    now.block_phase = ++now.phase;
    memset(dynamic, 0xff, dynamic_used);
    n_exited = n_at_barrier = queue_n = 0;
    unstarted = shuffled(n_threads);
    resume_first = random_below(2);
    in_kernel = true;
    busy = fiber_main();
    dispatch();
    in_kernel = false;
    if (!failed && n_exited < n_threads) write_deadlock();
}

/* Threads that a failure left hanging are forgotten, and with them all stacks. */
void abandon_fibers()
{
    for (n_idle = 0; n_idle < n_fibers; n_idle++) {
        fiber_restart(fibers[n_idle], work);
        idle[n_idle] = fibers[n_idle];
    }
}

cudaError_t prepare(const launch_request &r)
{
    const dim3 &g = r.grid, &b = r.block;
    char name[128];
    request = &r;
    if (g.x == 0 || g.y == 0 || g.z == 0 || g.x > INT32_MAX || g.y > 65535 || g.z > 65535 || b.x == 0 || b.y == 0 ||
        b.z == 0 || b.z > 64 || (uint64_t)b.x * b.y * b.z > max_threads || r.shared > dynamic_bytes)
        return set_error(
            cudaErrorInvalidConfiguration,
            "kernel %s: a grid of (%u,%u,%u), blocks of (%u,%u,%u) and %zu bytes of shared memory cannot be "
            "launched",
            kernel_name(name, sizeof name), g.x, g.y, g.z, b.x, b.y, b.z, r.shared);
    for (int i = 0; i < r.n_pointers; i++)
        if (!memory_holds(r.pointers[i]))
            return set_error(cudaErrorInvalidValue, "kernel %s: pointer argument %d is not device memory",
                             kernel_name(name, sizeof name), i);
    if (n_fibers == 0 && !add_fiber())
        return set_error(cudaErrorMemoryAllocation, "no memory for the stack of a thread");
    gridDim = g;
    blockDim = b;
    n_threads = (int)(b.x * b.y * b.z);
    dynamic_used = r.shared;
    failed = false;
    for (int i = 0; i < n_threads; i++)
        threads[i].index = dim3((unsigned)i % b.x, (unsigned)i / b.x % b.y, (unsigned)i / b.x / b.y);
    return cudaSuccess;
}
} // namespace

void seed(uint64_t n)
{
    random_state = (2 * n + 1) * 0x9e3779b97f4a7c15u; /* odd: never 0, which xorshift cannot leave */
}

void stop(const char *fmt, ...)
{
    char text[352];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    write_failure(current, text);
    leave_kernel();
    abort(); /* nobody comes back here */
}

void fail_index(int64_t index, int64_t size)
{
    stop("index %lld into %lld elements of shared memory", (long long)index, (long long)size);
}

void fail_unwritten(int64_t index)
{
    stop("reads element %lld of shared memory, which no thread of the block wrote", (long long)index);
}

void fail_race(const char *now_doing, const char *then_done, unsigned by, int64_t index)
{
    char who[64] = "threads of several warps";
    if (by != several_warps && by & several_lanes)
        snprintf(who, sizeof who, "lanes of warp %u", by & 0x7fffu);
    else if (by != several_warps)
        snprintf(who, sizeof who, "thread (%u,%u,%u)", threads[by].index.x, threads[by].index.y, threads[by].index.z);
    stop("%s element %lld of shared memory, which %s %s with no barrier between", now_doing, (long long)index, who,
         then_done);
}

void barrier(site at)
{
    if (++n_at_barrier < n_threads) {
        wait_as(at_barrier, at);
        return;
    }
    for (int i = 0; i < n_threads; i++) {
        const thread &t = threads[i];
        char other[160];
        if (i != current && (t.at.line != at.line || strcmp(t.at.file, at.file)))
            stop("at __syncthreads (%s:%d), but thread %s", file_name(at.file), at.line,
                 describe(i, other, sizeof other));
    }
    n_at_barrier = 0;
    now.phase++;
    for (order o = shuffled(n_threads); o.left > 0;) make_ready((int)next(o));
    threads[current].stack = busy;
    dispatch();
}

/* The lane whose value the lane gets, as the CUDA guide says: outside of its segment of `width`, its own. */
static int source_lane(warp_op op, int lane, int by, int width)
{
    int first = lane & ~(width - 1), last = first + width - 1, from = lane;
    if (op == warp_shfl) from = first + (by & (width - 1));
    if (op == warp_shfl_up) from = lane - by < first ? lane : lane - by;
    if (op == warp_shfl_down) from = lane + by > last ? lane : lane + by;
    if (op == warp_shfl_xor) from = (lane ^ by) > last ? lane : lane ^ by;
    return from;
}

/* All lanes of the mask are there: each gets its value. */
static void complete_warp(thread *lanes, warp_op op, unsigned mask, site at)
{
    uint64_t value[32], ballot = 0;
    for (int i = 0; i < 32; i++) {
        value[i] = lanes[i].value;
        if (mask >> i & 1 && lanes[i].value) ballot |= 1u << i;
    }
    for (int i = 0; i < 32; i++) {
        if (!(mask >> i & 1)) continue;
        int from = source_lane(op, i, lanes[i].by, lanes[i].width);
        if (op != warp_sync && op != warp_ballot && !(mask >> from & 1))
            stop("%s (%s:%d): lane %d reads lane %d, which mask 0x%08x does not name", at.what, file_name(at.file),
                 at.line, i, from, mask);
        lanes[i].value = op == warp_ballot ? ballot : value[from];
    }
}

uint64_t warp(warp_op op, unsigned mask, uint64_t value, int by, int width, site at)
{
    const int self = current, first = self / 32 * 32;
    thread &t = threads[self], *lanes = threads + first;
    if (!(mask >> self % 32 & 1))
        stop("%s (%s:%d): mask 0x%08x does not name the calling lane %d", at.what, file_name(at.file), at.line, mask,
             self % 32);
    t.op = op, t.mask = mask, t.value = value, t.by = by, t.width = width;
    unsigned there = 1u << self % 32;
    for (int i = 0; i < 32 && first + i < n_threads; i++) {
        const thread &l = lanes[i];
        if (l.state == at_warp_op && l.op == op && l.mask == mask) there |= 1u << i;
    }
    if ((there & mask) != mask) {
        wait_as(at_warp_op, at);
        return threads[self].value;
    }
    complete_warp(lanes, op, mask, at);
    if (op == warp_sync) syncs[self / 32]++;
    for (order o = shuffled(32); o.left > 0;) {
        int64_t lane = next(o);
        if (mask >> lane & 1) make_ready(first + (int)lane);
    }
    t.stack = busy;
    dispatch();
    return t.value;
}

cudaError_t run(const launch_request &r)
{
    static std::mutex device; /* one kernel at a time */
    std::lock_guard<std::mutex> lock(device);
    if (cudaError_t e = prepare(r)) return e;
    {
        fault_guard guard;
        uint64_t n = (uint64_t)r.grid.x * r.grid.y * r.grid.z;
        for (order o = shuffled((int64_t)n); o.left > 0 && !failed;) run_block((uint64_t)next(o));
    }
    if (failed) {
        abandon_fibers();
        return set_error(cudaErrorLaunchFailure, "%s", failure);
    }
    for (int i = 0; i < r.n_pointers; i++)
        if (char name[128], where[160]; !memory_intact(r.pointers[i]))
            return set_error(cudaErrorIllegalAddress,
                             "kernel %s: wrote next to the allocation of pointer argument %d, %s",
                             kernel_name(name, sizeof name), i, memory_describe(r.pointers[i], where, sizeof where));
    return cudaSuccess;
}
} // namespace cuda_host
