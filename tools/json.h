/* json.h: what the commands' documents share. */
#ifndef MR_TOOLS_JSON_H
#define MR_TOOLS_JSON_H

#include <jansson.h>

#include "options.h"

json_t *mr_json_number(double x);       /* x, or text where JSON has no such number: "nan", "inf", "-inf" */
json_t *mr_json_text(const char *text); /* null where the text is NULL or no UTF-8 */
/* Writes the document to path, NULL: stdout; takes it over. */
mr_status mr_json_write(json_t *j, const char *path, mr_error *e);
/* The same to where --json says, with e as its "error" when it is set; e stays the first error. */
void mr_json_answer(json_t *j, const mr_args *a, mr_error *e);
/* Is --json given without a file? Then stdout is the document's alone. */
bool mr_json_on_stdout(const mr_args *a);

#endif
