/* rewrites.c: the table of all rules of the rewriter. */
#include "runtime/rewrite.h"

#define RULES(file) extern const mr_rule mr_rules_##file[];
#include "ops/rewrites.inc"
#undef RULES

static const mr_rule *const files[] = {
#define RULES(file) mr_rules_##file,
#include "ops/rewrites.inc"
#undef RULES
};

const mr_rule *mr_rule_at(int i)
{
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (const mr_rule *r = files[f]; r->name; r++)
            if (i-- == 0) return r;
    return NULL;
}
