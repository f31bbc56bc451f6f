#include "runtime/rewrite.h"
const mr_rule mr_rules_gelu[] = {{0}};
