/* children.c: forks a process a case, and collects what they say through pipes, as JSON. */
#include "children.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct child {
    int pid, fd, index;
    int64_t deadline_ns;
    bool timed_out;
    char *text; /* what it has said so far */
    size_t size, cap;
} child;

typedef struct herd {
    const mr_cases *cases;
    const mr_judging *how;
    child *at;
    struct pollfd *fds; /* by child */
    unsigned n;
    double timeout_s;
    mr_verdict *verdicts; /* by case; those that are known wait for the ones before them */
    bool *known;
} herd;

/* JSON is UTF-8; a refusal may quote bytes of the model that are not. */
static void make_text(char *text)
{
    json_t *j = json_string(text);
    for (char *c = text; !j && c && *c; c++)
        if ((unsigned char)*c >= 0x80) *c = '?';
    json_decref(j);
}

static void say(int fd, const mr_verdict *v)
{
    make_text(v->text);
    json_t *j = json_pack("{s:i, s:s?, s:f, s:o*, s:s*}", "kind", v->kind, "text", v->text, "ms", v->ms, "nodes",
                          v->nodes, "digests", v->digests);
    json_dumpfd(j, fd, JSON_COMPACT | JSON_ENCODE_ANY);
}

static mr_verdict heard(const char *text, size_t size)
{
    json_error_t at;
    json_t *j = json_loadb(text, size, 0, &at);
    const char *why = json_string_value(json_object_get(j, "text"));
    mr_verdict v = {.kind = (mr_verdict_kind)json_integer_value(json_object_get(j, "kind")),
                    .text = why ? strdup(why) : NULL,
                    .ms = json_number_value(json_object_get(j, "ms")),
                    .nodes = json_incref(json_object_get(j, "nodes"))};
    const char *digests = json_string_value(json_object_get(j, "digests"));
    v.digests = digests ? strdup(digests) : NULL;
    json_decref(j);
    return v;
}

static mr_status start(herd *h, int index, mr_error *e)
{
    int ends[2];
    if (pipe(ends) != 0) return mr_fail(e, MR_E_IO, "pipe: %s", strerror(errno));
    fflush(stdout);
    int pid = fork();
    if (pid < 0) {
        close(ends[0]), close(ends[1]);
        return mr_fail(e, MR_E_MEMORY, "fork: %s", strerror(errno));
    }
    if (pid == 0) {
        close(ends[0]);
        mr_verdict v = mr_judge(&h->cases->at[index], h->how);
        say(ends[1], &v);
        _exit(0);
    }
    close(ends[1]);
    h->at[h->n++] = (child){.pid = pid,
                            .fd = ends[0],
                            .index = index,
                            .deadline_ns = h->timeout_s > 0 ? mr_now_ns() + (int64_t)(h->timeout_s * 1e9) : 0};
    return MR_OK;
}

/* Reads what is there; true at the end. */
static bool listen_to(child *c)
{
    if (c->cap - c->size < 4096) {
        size_t cap = c->cap ? 2 * c->cap : 1 << 14;
        char *text = realloc(c->text, cap);
        if (!text) return true;
        c->text = text;
        c->cap = cap;
    }
    ssize_t n = read(c->fd, c->text + c->size, c->cap - c->size);
    if (n < 0) return errno != EINTR;
    c->size += (size_t)n;
    return n == 0;
}

/* The verdict of a child that has ended. */
static mr_verdict reap(child *c, double timeout_s)
{
    int status;
    mr_verdict v = {.kind = MR_FAIL};
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) {
    }
    int failed = 0;
    if (c->timed_out)
        failed = asprintf(&v.text, "hung: no verdict after %g s", timeout_s);
    else if (WIFSIGNALED(status))
        failed = asprintf(&v.text, "crashed with SIG%s", sigabbrev_np(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0 || c->size == 0)
        failed = asprintf(&v.text, "ended with exit status %d and no verdict", WEXITSTATUS(status));
    else
        v = heard(c->text, c->size);
    if (failed < 0) v.text = NULL;
    close(c->fd);
    free(c->text);
    return v;
}

/* Waits until a child says something or runs out of time. */
static void wait_for_children(herd *h)
{
    int64_t now = mr_now_ns(), wait_ns = -1;
    for (unsigned i = 0; i < h->n; i++) {
        h->fds[i] = (struct pollfd){.fd = h->at[i].fd, .events = POLLIN};
        int64_t left = h->at[i].deadline_ns - now;
        if (left < 0) left = 0;
        if (h->at[i].deadline_ns && !h->at[i].timed_out && (wait_ns < 0 || left < wait_ns)) wait_ns = left;
    }
    if (poll(h->fds, h->n, wait_ns < 0 ? -1 : (int)(wait_ns / 1000000) + 1) < 0) return;
    now = mr_now_ns();
    for (unsigned i = h->n; i-- > 0;) {
        child *c = &h->at[i];
        if (h->fds[i].revents && listen_to(c)) {
            h->verdicts[c->index] = reap(c, h->timeout_s);
            h->known[c->index] = true;
            *c = h->at[--h->n];
        } else if (c->deadline_ns && now >= c->deadline_ns && !c->timed_out) {
            c->timed_out = true;
            kill(c->pid, SIGKILL);
        }
    }
}

mr_status mr_judge_all(const mr_cases *cases, const mr_judging *how, int jobs, double timeout_s,
                       void (*done)(void *arg, int i, mr_verdict v), void *arg, mr_error *e)
{
    size_t n = (size_t)cases->n;
    herd h = {.cases = cases, .how = how, .timeout_s = timeout_s};
    h.at = calloc((size_t)jobs, sizeof *h.at);
    h.fds = calloc((size_t)jobs, sizeof *h.fds);
    h.verdicts = calloc(n + 1, sizeof *h.verdicts);
    h.known = calloc(n + 1, sizeof *h.known);
    if (!h.at || !h.fds || !h.verdicts || !h.known) mr_fail(e, MR_E_MEMORY, "out of memory");
    int next = 0, told = 0;
    while (e->status == MR_OK && told < cases->n) {
        while (next < cases->n && h.n < (unsigned)jobs && e->status == MR_OK) start(&h, next++, e);
        if (h.n) wait_for_children(&h);
        for (; told < cases->n && h.known[told]; told++) done(arg, told, h.verdicts[told]);
    }
    free(h.at);
    free(h.fds);
    free(h.verdicts);
    free(h.known);
    return e->status;
}
