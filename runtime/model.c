/* model.c: from the bytes of a file to a graph. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

/* ---- what the model says of itself ---- */

static void check_versions(mr_loader *l, const Onnx__ModelProto *p)
{
    mr_graph_model *m = l->model;
    if (!p->has_ir_version || p->ir_version < 1) {
        mr_model_invalid(m, MR_E_IR_VERSION, "ir_version missing, supported are 1 to %d", mr_onnx_max_ir);
    } else if (p->ir_version > mr_onnx_max_ir) {
        mr_error e = {.node = -1};
        mr_fail(&e, MR_E_IR_VERSION, "ir_version %lld, supported up to %d", (long long)p->ir_version, mr_onnx_max_ir);
        mr_error_hint(&e, "written by a newer onnx: export with ir_version %d or below", mr_onnx_max_ir);
        mr_model_invalid_as(m, &e);
    }
    m->ir_version = p->ir_version >= 1 ? p->ir_version : mr_onnx_max_ir;
}

static const mr_opset *find_opset(const mr_graph_model *m, const char *domain)
{
    for (int i = 0; i < m->n_opsets; i++)
        if (strcmp(m->opsets[i].domain, domain) == 0) return &m->opsets[i];
    return NULL;
}

static bool add_opset(mr_loader *l, const char *domain, int64_t version)
{
    mr_graph_model *m = l->model;
    int newest = mr_opset_max(domain);
    const char *shown = *domain ? domain : "ai.onnx";
    const mr_opset *before = find_opset(m, domain);
    if (before && before->version != version)
        mr_model_invalid(m, MR_E_OPSET_IMPORT, "opset_import gives '%s' twice, as %lld and %lld", shown,
                         (long long)before->version, (long long)version);
    if (before) return true;
    if (version < 1 || (newest && version > newest) || version > INT32_MAX) {
        mr_error e = {.node = -1};
        mr_fail(&e, MR_E_OPSET_IMPORT, "opset_import: version %lld of '%s' is not known, the newest is %d",
                (long long)version, shown, newest);
        if (newest && version > newest) mr_error_hint(&e, "export with version %d or below", newest);
        mr_model_invalid_as(m, &e);
    }
    version = version < 1 ? 1 : version > INT32_MAX ? INT32_MAX : version;
    const char *name = mr_loader_string(l, domain);
    if (!name) return false;
    m->opsets[m->n_opsets++] = (mr_opset){name, version};
    return true;
}

static bool read_opsets(mr_loader *l, const Onnx__ModelProto *p)
{
    mr_graph_model *m = l->model;
    m->opsets = MR_REGION_NEW(&m->region, mr_opset, p->n_opset_import + (size_t)mr_n_schema_domains);
    if (!m->opsets) return mr_loader_memory(l);
    for (size_t i = 0; i < p->n_opset_import; i++)
        if (!add_opset(l, mr_domain_of(p->opset_import[i]->domain), p->opset_import[i]->version)) return false;
    if (p->n_opset_import && m->ir_version < 3)
        mr_model_invalid(m, MR_E_OPSET_IMPORT, "opset_import is not part of IR version %lld", (long long)m->ir_version);
    if (p->n_opset_import) return true;
    /* IR versions 1 and 2 know one set of operators. For others it is a violation: the rest is judged by the newest. */
    if (m->ir_version < 3) return add_opset(l, "", 1);
    mr_model_invalid(m, MR_E_OPSET_IMPORT, "opset_import missing: the model does not say which operators it uses");
    for (int i = 0; i < mr_n_schema_domains; i++)
        if (!add_opset(l, mr_schema_domains[i].domain, mr_schema_domains[i].max)) return false;
    return true;
}

static bool read_header(mr_loader *l, const Onnx__ModelProto *p)
{
    mr_graph_model *m = l->model;
    mr_names seen = {.region = &l->scratch};
    check_versions(l, p);
    m->model_version = p->model_version;
    if (!(m->producer_name = mr_loader_string(l, p->producer_name)) ||
        !(m->producer_version = mr_loader_string(l, p->producer_version)) ||
        !(m->domain = mr_loader_string(l, p->domain)) || !(m->doc = mr_loader_string(l, p->doc_string)) ||
        !read_opsets(l, p))
        return false;
    m->meta_keys = MR_REGION_NEW(&m->region, const char *, p->n_metadata_props);
    m->meta_values = MR_REGION_NEW(&m->region, const char *, p->n_metadata_props);
    if (!m->meta_keys || !m->meta_values) return mr_loader_memory(l);
    for (; m->n_meta < (int)p->n_metadata_props; m->n_meta++) {
        m->meta_keys[m->n_meta] = mr_loader_string(l, p->metadata_props[m->n_meta]->key);
        m->meta_values[m->n_meta] = mr_loader_string(l, p->metadata_props[m->n_meta]->value);
        if (!m->meta_keys[m->n_meta] || !m->meta_values[m->n_meta]) return false;
        if (mr_names_get(&seen, m->meta_keys[m->n_meta], 0))
            mr_model_invalid(m, MR_E_GRAPH, "metadata_props has the key '%s' twice", m->meta_keys[m->n_meta]);
        if (!mr_names_put(&seen, m->meta_keys[m->n_meta], 1)) return mr_loader_memory(l);
    }
    return true;
}

/* ---- the bytes ---- */

static mr_status no_model(const void *bytes, size_t n, mr_error *e)
{
    const char *what = mr_sniff(bytes, n);
    if (n && !what) return MR_OK;
    bool lfs = what && strstr(what, "LFS");
    if (n)
        mr_fail(e, lfs ? MR_E_LFS_POINTER : MR_E_NOT_ONNX, "not an ONNX model; looks like %s", what);
    else
        mr_fail(e, MR_E_EMPTY_FILE, "the file is empty");
    mr_error_hint(e, lfs ? "git lfs pull fetches the file itself"
                     : n ? "export the model to ONNX, or fetch the file again"
                         : "a download or an export was interrupted: fetch or export it again");
    return e->status;
}

/* Not a ModelProto: test data is written in the same way, so it may be that. */
static void guess_tensor(const void *bytes, size_t n, mr_error *e)
{
    mr_error ignored = {0};
    ProtobufCMessage *p;
    if (mr_wire_unpack(&onnx__tensor_proto__descriptor, bytes, n, &p, &ignored) == MR_OK) {
        if (((const Onnx__TensorProto *)p)->has_data_type)
            mr_error_hint(e, "it looks like a TensorProto: an input or output of a model");
        protobuf_c_message_free_unpacked(p, NULL);
    }
    mr_error_clear(&ignored);
}

static mr_status unpack(const void *bytes, size_t n, Onnx__ModelProto **out, mr_error *e)
{
    ProtobufCMessage *p = NULL;
    *out = NULL;
    if (no_model(bytes, n, e) != MR_OK) return e->status;
    mr_wire_unpack(&onnx__model_proto__descriptor, bytes, n, &p, e);
    *out = (Onnx__ModelProto *)p;
    if (p && !(*out)->graph) mr_fail(e, MR_E_NOT_ONNX, "not an ONNX model: it has no graph");
    if (e->code == MR_E_NOT_ONNX) guess_tensor(bytes, n, e);
    if (e->code == MR_E_TRUNCATED) mr_error_hint(e, "the file was cut off: fetch or export it again");
    return e->status;
}

/* The model lies in its own region, so that one call frees all. */
static mr_graph_model *model_new(const char *path, const char *dir, const struct mr_customs *customs, mr_error *e)
{
    mr_region r = {0};
    mr_graph_model *m = MR_REGION_NEW(&r, mr_graph_model, 1);
    bool ok = m != NULL;
    if (ok && path) ok = (m->path = mr_region_string(&r, path, strlen(path))) != NULL;
    if (ok && dir) ok = (m->dir = mr_region_string(&r, dir, strlen(dir))) != NULL;
    if (!ok) {
        mr_region_free(&r);
        mr_fail(e, MR_E_MEMORY, "no memory for the model");
        return NULL;
    }
    m->region = r;
    m->customs = customs;
    return m;
}

/* map: where the bytes are, when they stay as long as the model. */
static mr_status build(mr_graph_model *m, const mr_map *map, const void *bytes, size_t n, mr_error *e)
{
    Onnx__ModelProto *p;
    if (unpack(bytes, n, &p, e) == MR_OK) {
        mr_loader l = {.source = {m, map, bytes},
                       .model = m,
                       .functions = p->functions,
                       .n_functions = (int)p->n_functions,
                       .e = e};
        l.function_ids.region = &l.scratch;
        if (read_header(&l, p) && mr_functions_check(&l)) m->main = mr_graph_build(&l, p->graph, NULL, NULL, NULL);
        if (m->main) mr_schema_check(m);
        mr_region_free(&l.scratch);
    }
    if (p) protobuf_c_message_free_unpacked(&p->base, NULL);
    return e->status;
}

mr_status mr_graph_load(const char *path, const struct mr_customs *customs, mr_graph_model **out, mr_error *e)
{
    *out = NULL;
    mr_map *map;
    if (mr_map_open(path, &map, e) != MR_OK) return e->status;
    const char *slash = strrchr(path, '/');
    char *dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    mr_graph_model *m = dir ? model_new(path, dir, customs, e) : NULL;
    free(dir);
    if (!m || !mr_model_add_map(m, map)) {
        mr_map_close(map);
        mr_graph_free(m);
        return mr_fail(e, MR_E_MEMORY, "no memory for the model");
    }
    if (build(m, map, map->data, map->size, e) == MR_OK)
        *out = m;
    else
        mr_graph_free(m);
    return e->status;
}

mr_status mr_graph_load_memory(const void *bytes, size_t n, const char *dir, const struct mr_customs *customs,
                               mr_graph_model **out, mr_error *e)
{
    *out = NULL;
    mr_graph_model *m = model_new(NULL, dir, customs, e);
    if (m && build(m, NULL, bytes, n, e) == MR_OK)
        *out = m;
    else
        mr_graph_free(m);
    return e->status;
}
