/* names.c: hashing of names, and edit distance. */
#include "names.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct mr_name {
    const char *name; /* NULL: free */
    int id;
};

static size_t hash(const char *s)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *s; s++) h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
    return (size_t)(h ^ h >> 32);
}

/* Where the name is, or belongs. */
static struct mr_name *slot_of(struct mr_name *slots, size_t cap, const char *name)
{
    size_t i = hash(name) & (cap - 1);
    while (slots[i].name && strcmp(slots[i].name, name) != 0) i = (i + 1) & (cap - 1);
    return &slots[i];
}

static bool grow(mr_names *t)
{
    size_t cap = t->cap ? t->cap * 2 : 16;
    struct mr_name *slots = MR_REGION_NEW(t->region, struct mr_name, cap);
    if (!slots) return false;
    for (size_t i = 0; i < t->cap; i++)
        if (t->slots[i].name) *slot_of(slots, cap, t->slots[i].name) = t->slots[i];
    t->slots = slots;
    t->cap = cap;
    return true;
}

bool mr_names_put(mr_names *t, const char *name, int id)
{
    if (t->n * 2 >= t->cap && !grow(t)) return false;
    struct mr_name *s = slot_of(t->slots, t->cap, name);
    if (!s->name) t->n++;
    *s = (struct mr_name){name, id};
    return true;
}

int mr_names_get(const mr_names *t, const char *name, int missing)
{
    if (!t->cap) return missing;
    const struct mr_name *s = slot_of(t->slots, t->cap, name);
    return s->name ? s->id : missing;
}

enum { LONGEST = 64 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap neighbours) without regard to case; of long names the beginnings count. */
static int distance(const char *a, const char *b)
{
    int rows[3][LONGEST + 1] = {0}, la = (int)strnlen(a, LONGEST), lb = (int)strnlen(b, LONGEST);
    for (int j = 0; j <= lb; j++) rows[0][j] = j;
    for (int i = 1; i <= la; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            row[j] = least(above[j - 1] + (x != y), least(above[j], row[j - 1]) + 1);
            bool swapped =
                i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && y == tolower((unsigned char)a[i - 2]);
            if (swapped) row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[la % 3][lb];
}

void mr_nearest_offer(mr_nearest *n, const char *candidate)
{
    int len = (int)strnlen(n->name, LONGEST), limit = len / 4 + 1;
    int longer = (int)strnlen(candidate, LONGEST) - len;
    if (!*candidate || longer > limit || -longer > limit || strcmp(candidate, n->name) == 0) return;
    int d = distance(n->name, candidate);
    if (d > limit) return;
    for (int i = 0; i < MR_N_NEAREST; i++) {
        if (n->best[i] && strcmp(n->best[i], candidate) == 0) return;
        if (n->best[i] && n->distance[i] <= d) continue;
        for (int k = MR_N_NEAREST - 1; k > i; k--) {
            n->best[k] = n->best[k - 1];
            n->distance[k] = n->distance[k - 1];
        }
        n->best[i] = candidate;
        n->distance[i] = d;
        return;
    }
}

const char *mr_nearest_string(const mr_nearest *n, char *buf, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < MR_N_NEAREST && n->best[i] && n->distance[i] == n->distance[0] && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s'%s'", i ? " or " : "", n->best[i]);
    return at ? buf : NULL;
}
