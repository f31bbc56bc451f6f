/* external.c: weights in files beside the model, mapped. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

/* Does a relative path stay below where it starts, word by word? */
static bool stays_inside(const char *location)
{
    int depth = 0;
    if (*location == '/' || *location == '\\') return false;
    for (const char *p = location; *p;) {
        size_t n = strcspn(p, "/\\");
        if (n == 2 && memcmp(p, "..", 2) == 0)
            depth--;
        else if (n && !(n == 1 && *p == '.'))
            depth++;
        if (depth < 0) return false;
        p += n + (p[n] != 0);
    }
    return true;
}

static bool is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || (n && dir[n - 1] == '/'));
}

/* The folder of the model, or of the file that the model's path is a link to: caches keep a model and its data as
 * links side by side, to files side by side. */
static bool is_beside(const mr_graph_model *m, const char *real)
{
    char *dir = realpath(m->dir, NULL), *model = m->path ? realpath(m->path, NULL) : NULL;
    if (model && strrchr(model, '/')) strrchr(model, '/')[1] = 0;
    bool beside = (dir && is_below(real, dir)) || (model && is_below(real, model));
    free(dir);
    free(model);
    return beside;
}

bool mr_model_add_map(mr_graph_model *m, mr_map *map)
{
    struct mr_map **maps = realloc(m->maps, sizeof(*maps) * (size_t)(m->n_maps + 1));
    if (!maps) return false;
    m->maps = maps;
    m->maps[m->n_maps++] = map;
    return true;
}

/* The model's map of a file, new or not. */
static const mr_map *map_of(mr_graph_model *m, const char *real, mr_error *e)
{
    for (int i = 0; i < m->n_maps; i++)
        if (strcmp(m->maps[i]->path, real) == 0) return m->maps[i];
    mr_map *map;
    if (mr_map_open(real, &map, e) != MR_OK) return NULL;
    if (mr_model_add_map(m, map)) return map;
    mr_map_close(map);
    mr_fail(e, MR_E_MEMORY, "no memory for its file");
    return NULL;
}

const mr_map *mr_external_map(mr_graph_model *m, const char *tensor, const char *location, mr_error *e)
{
    if (!m->dir) {
        mr_fail(e, MR_E_EXTERNAL, "tensor '%s': external data '%s' of a model in memory has no folder", tensor,
                location);
        return NULL;
    }
    if (!stays_inside(location)) {
        mr_fail(e, MR_E_EXTERNAL, "tensor '%s': external location '%s' leaves the model folder", tensor, location);
        mr_error_hint(e, "put the data file into the model's folder, and its path from there into the model");
        return NULL;
    }
    char *path = NULL, *real = NULL;
    const mr_map *found = NULL;
    size_t size = strlen(m->dir) + strlen(location) + 2;
    if ((path = malloc(size))) {
        strcat(strcat(strcpy(path, m->dir), "/"), location);
        real = realpath(path, NULL);
    }
    mr_error why = {0};
    if (!real) {
        mr_fail(e, MR_E_EXTERNAL, "tensor '%s': cannot open %s: %s", tensor, path ? path : location, strerror(errno));
        mr_error_hint(e, "keep the data file beside the model, under the name that the model gives");
    } else if (!is_beside(m, real)) {
        mr_fail(e, MR_E_EXTERNAL, "tensor '%s': external location '%s' leaves the model folder: it is a link to %s",
                tensor, location, real);
    } else if (!(found = map_of(m, real, &why))) {
        mr_fail(e, why.code == MR_E_MEMORY ? MR_E_MEMORY : MR_E_EXTERNAL, "tensor '%s': %s", tensor, why.text);
    }
    mr_error_clear(&why);
    free(path);
    free(real);
    return found;
}
