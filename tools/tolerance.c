/* tolerance.c: --rtol, --atol and --ulp, for all tensors or one. */
#include "tolerance.h"

#include <math.h>
#include <string.h>

#include "tools/io/inputs.h"

#define MOST_ULP 0x1p62 /* that an int64_t holds for certain */

/* The last value that is for tensor i, one with its name before one for all. found stays when there is none. */
static mr_status find(const mr_args *a, mr_option_id id, const char *const *names, int n, int i, double *value,
                      bool *found, mr_error *e)
{
    const char *text;
    bool named = false;
    for (int at = 0; (text = mr_args_next(a, id, &at));) {
        const char *rest = text;
        double x;
        int k = mr_name_match(text, names, n, ":", &rest);
        if (k >= 0) rest++;
        bool whole = id == MR_OPT_ULP;
        if (!mr_arg_real(rest, &x) || !(x >= 0) || (whole && (x != floor(x) || x > MOST_ULP))) {
            const char *colon = k < 0 ? strrchr(text, ':') : NULL;
            if (colon && mr_arg_real(colon + 1, &x))
                return mr_name_unknown(e, MR_E_USAGE, "tensor", text, (size_t)(colon - text), names, n);
            return mr_fail(e, MR_E_USAGE, "--%s: '%s' is not a %s of at least 0", mr_options_table[id].name, rest,
                           whole ? "whole number" : "number");
        }
        if (k >= 0 ? k != i : named) continue;
        named = k >= 0;
        *value = x;
        *found = true;
    }
    return MR_OK;
}

mr_status mr_tolerance_of(const mr_args *a, const char *const *names, int n, int i, mr_tolerance *out, mr_error *e)
{
    double ulp = -1;
    bool relative = false, absolute = false, steps = false;
    *out = (mr_tolerance){.ulp = -1};
    if (find(a, MR_OPT_RTOL, names, n, i, &out->rtol, &relative, e)) return e->status;
    if (find(a, MR_OPT_ATOL, names, n, i, &out->atol, &absolute, e)) return e->status;
    if (find(a, MR_OPT_ULP, names, n, i, &ulp, &steps, e)) return e->status;
    if (!relative && !steps) out->rtol = 1e-3;
    if (!absolute && !steps) out->atol = 1e-5;
    if (steps) out->ulp = (int64_t)ulp;
    return MR_OK;
}
