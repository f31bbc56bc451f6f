/* nodes.h: how commands speak of a model's nodes: those of the file, each under a label of its own. */
#ifndef MR_TOOLS_NODES_H
#define MR_TOOLS_NODES_H

#include "runtime/graph.h"

/* The node's name, when no other node of its graph has it; else "node 4 'same' (output 'q2')". Nodes in subgraphs and
 * function bodies stand behind the node that holds them: "cond/then_branch/add", "call/Outer/Inner/relu". Of a node
 * that stands for several: the first one's. In r. */
const char *mr_node_label(mr_region *r, const mr_node *n);
/* "Conv-11", "my.domain::Block", with the version of its schema, else the one of its domain that is imported; of a node
 * that stands for several, all: "Conv-11 + Relu-14". In r. */
const char *mr_node_op(mr_region *r, const mr_node *n);
/* Nodes of the file in the graph, without those of subgraphs: what a function call became counts once. */
int mr_nodes_count(const mr_graph *g);
int mr_nodes_count_inner(const mr_graph *g); /* in subgraphs, at any depth */
/* "mode = cubic, antialias = 1": the attributes as given, but graphs and tensors. In r. */
const char *mr_node_attrs(mr_region *r, const mr_node *n);

#endif
