/* commands.h: the functions behind the commands; the table is in minirt.c. */
#ifndef MR_TOOLS_COMMANDS_H
#define MR_TOOLS_COMMANDS_H

#include "options.h"

int mr_command_run(const mr_args *a);
int mr_command_check(const mr_args *a);
int mr_command_info(const mr_args *a);
int mr_command_bench(const mr_args *a);
int mr_command_ops(const mr_args *a);
int mr_command_devices(const mr_args *a);
int mr_command_explain(const mr_args *a);
int mr_command_compare(const mr_args *a);
int mr_command_completion(const mr_args *a);
int mr_command_man(const mr_args *a);

#endif
