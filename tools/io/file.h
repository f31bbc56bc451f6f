/* file.h: paths, and what the bytes of a file look like. */
#ifndef MR_TOOLS_IO_FILE_H
#define MR_TOOLS_IO_FILE_H

#include "../../runtime/map.h"

/* Close with mr_map_close. "-" is stdin. */
mr_status mr_file_open(const char *path, mr_map **out, mr_error *e);

bool mr_is_folder(const char *path);
bool mr_is_file(const char *path);
/* Makes the folder and those above it. */
mr_status mr_folder_make(const char *path, mr_error *e);
/* "dir/name", allocated; NULL: out of memory. */
char *mr_path_join(const char *dir, const char *name);
/* The part behind the last '/'. */
const char *mr_path_base(const char *path);

/* Moves why to e, with the file's name before its text. */
mr_status mr_error_in_file(mr_error *e, mr_error *why, const char *path);

/* What the bytes are, by how they begin: "a PNG image", "a zip archive (as .npz is)"; "data of no known format"
 * otherwise. */
const char *mr_bytes_look(const unsigned char *bytes, size_t size);

#endif
