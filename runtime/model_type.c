/* model_type.c: TypeProto to type and shape. */
#include "model.h"

#include <string.h>

static mr_dim dim_of(mr_loader *l, const Onnx__TensorShapeProto__Dimension *d, const char *what)
{
    switch (d->value_case) {
    case ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE:
        if (d->dim_value < -1) /* exporters write -1 for unknown */
            mr_model_invalid(l->model, MR_E_GRAPH, "'%s': a dimension is %lld", what, (long long)d->dim_value);
        return d->dim_value >= 0 ? d->dim_value : MR_DIM_UNKNOWN;
    case ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM:
        /* "?" is no identifier: exporters write it for every unknown dimension alike. */
        return *d->dim_param && strcmp(d->dim_param, "?") != 0 ? mr_model_symbol(l->model, d->dim_param)
                                                               : MR_DIM_UNKNOWN;
    default:
        return MR_DIM_UNKNOWN;
    }
}

static mr_shape shape_of(mr_loader *l, const Onnx__TensorShapeProto *p, const char *what)
{
    if (!p || p->n_dim > MR_MAX_RANK) return mr_shape_unknown();
    mr_shape s = {.rank = (int)p->n_dim};
    for (int i = 0; i < s.rank; i++) s.d[i] = dim_of(l, p->dim[i], what);
    return s;
}

static mr_typed_shape unsupported(mr_loader *l, const char *what, const char *type)
{
    mr_model_invalid(l->model, MR_E_TYPE, "'%s' is a %s, which minirt does not have", what, type);
    return (mr_typed_shape){.shape = {.rank = -1}};
}

static bool known_elem(mr_loader *l, int elem, const char *what)
{
    if (elem >= 0 && elem < MR_N_DTYPES) return true;
    mr_model_invalid(l->model, MR_E_GRAPH, "'%s': unknown element type %d", what, elem);
    return false;
}

/* A type around another: the kind depends on what is inside. */
static mr_typed_shape wrap(mr_loader *l, const Onnx__TypeProto *inner, const char *what, mr_kind of_tensor,
                           mr_kind of_seq, mr_kind of_map)
{
    mr_typed_shape t = mr_type_build(l, inner, what);
    mr_kind kind = t.type.kind == MR_TENSOR     ? of_tensor
                   : t.type.kind == MR_SEQUENCE ? of_seq
                   : t.type.kind == MR_MAP      ? of_map
                                                : MR_NONE;
    if (kind == MR_NONE && t.type.kind != MR_NONE) return unsupported(l, what, "type nested in a way");
    t.type.kind = (uint8_t)kind;
    return t;
}

mr_typed_shape mr_type_build(mr_loader *l, const Onnx__TypeProto *p, const char *what)
{
    mr_typed_shape t = {.shape = {.rank = -1}};
    switch (p ? p->value_case : ONNX__TYPE_PROTO__VALUE__NOT_SET) {
    case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
        if (!known_elem(l, p->tensor_type->elem_type, what) || p->tensor_type->elem_type == 0) return t;
        t.type = mr_type_tensor((mr_dtype)p->tensor_type->elem_type);
        t.shape = shape_of(l, p->tensor_type->shape, what);
        return t;
    case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
        if (!known_elem(l, p->sparse_tensor_type->elem_type, what)) return t;
        t.type = (mr_type){.kind = MR_SPARSE, .elem = (uint8_t)p->sparse_tensor_type->elem_type};
        t.shape = shape_of(l, p->sparse_tensor_type->shape, what);
        return t;
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
        return wrap(l, p->sequence_type->elem_type, what, MR_SEQUENCE, MR_NONE, MR_SEQ_MAP);
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
        return wrap(l, p->optional_type->elem_type, what, MR_OPTIONAL, MR_OPTIONAL_SEQ, MR_NONE);
    case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
        if (!known_elem(l, p->map_type->key_type, what)) return t;
        t = wrap(l, p->map_type->value_type, what, MR_MAP, MR_NONE, MR_NONE);
        t.type.key = (uint8_t)p->map_type->key_type;
        return t;
    case ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE:
        return unsupported(l, what, "opaque type");
    default:
        return t;
    }
}
