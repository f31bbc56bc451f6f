#include "runtime/rewrite.h"
const mr_rule mr_rules_norm[] = {{0}};
