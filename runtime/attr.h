/* attr.h: attributes into an operator's parameters. */
#ifndef MR_ATTR_H
#define MR_ATTR_H

#include "graph.h"

/* Fills n->params through the reader of n->op. What the reader finds wrong, or does not read, stands at the node. */
void mr_attrs_read(mr_node *n);

#endif
