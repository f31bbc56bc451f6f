/* convert.c: values made to fit the type that a model declares. */
#include <stdio.h>
#include <stdlib.h>

#include "element.h"
#include "inputs.h"

#define NUMBERS (MR_REALS | MR_COMPLEX)

/* Integers through 64 bits, so that none is rounded; the rest through double, complex parts each. */
static bool convert_element(mr_tensor *to, const mr_tensor *from, int64_t i)
{
    mr_dtypes integers = MR_REALS & ~(mr_dtypes)MR_ALL_FLOATS;
    if (mr_dtype_in(from->dtype, integers) && mr_dtype_in(to->dtype, MR_BIT(MR_I64) | MR_BIT(MR_U64))) {
        int64_t x = mr_tensor_int(from, i);
        bool crosses = (from->dtype == MR_U64) != (to->dtype == MR_U64) && x < 0;
        ((int64_t *)to->data)[i] = x;
        return !crosses;
    }
    if (mr_dtype_in(from->dtype, MR_COMPLEX)) {
        double complex z = mr_element_complex(from, i);
        if (to->dtype == MR_C64)
            ((float complex *)to->data)[i] = (float complex)z;
        else
            ((double complex *)to->data)[i] = z;
        return true;
    }
    return mr_element_store(to, i, mr_element_real(from, i));
}

static mr_value *converted(mr_value *v, mr_dtype to, const char *name, mr_error *e)
{
    mr_value *out = mr_value_tensor(to, v->t.rank, v->t.dims);
    if (!out) mr_fail(e, MR_E_MEMORY, "out of memory");
    for (int64_t i = 0, n = mr_tensor_count(&v->t); out && e->status == MR_OK && i < n; i++) {
        if (convert_element(&out->t, &v->t, i)) continue;
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        if (f) mr_element_print(f, &v->t, i), fputs(" at ", f), mr_index_print(f, &v->t, i), fclose(f);
        mr_fail(e, MR_E_INPUT_TYPE, "input '%s': --cast: %s is no %s", name, text ? text : "an element",
                mr_dtype_name(to));
        free(text);
    }
    if (e->status == MR_OK)
        fprintf(stderr, "input '%s': converted from %s to %s\n", name, mr_dtype_name(v->t.dtype), mr_dtype_name(to));
    mr_value_release(v);
    if (e->status == MR_OK) return out;
    mr_value_release(out);
    return NULL;
}

static bool can_convert(mr_dtype from, mr_dtype to)
{
    return from != to && mr_dtype_in(from, NUMBERS) && mr_dtype_in(to, NUMBERS) &&
           (!mr_dtype_in(from, MR_COMPLEX) || mr_dtype_in(to, MR_COMPLEX));
}

mr_value *mr_value_fit(mr_value *v, mr_type type, bool cast, const char *name, mr_error *e)
{
    bool optional = type.kind == MR_OPTIONAL || type.kind == MR_OPTIONAL_SEQ;
    if (cast && v->type.kind == MR_TENSOR && (type.kind == MR_TENSOR || type.kind == MR_OPTIONAL) &&
        can_convert(v->t.dtype, (mr_dtype)type.elem)) {
        v = converted(v, (mr_dtype)type.elem, name, e);
        if (!v) return NULL;
    }
    if (!optional || v->type.kind == MR_OPTIONAL || v->type.kind == MR_OPTIONAL_SEQ) return v;
    mr_type wrapped = {.kind = type.kind, .elem = v->type.elem};
    mr_value *out = mr_value_list(wrapped, 1, &v);
    mr_value_release(v);
    if (!out) mr_fail(e, MR_E_MEMORY, "out of memory");
    return out;
}
