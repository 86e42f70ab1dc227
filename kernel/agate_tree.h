/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A balanced binary tree whose nodes are embedded in what they sort.
 *
 * A node may keep a value that summarises the subtree below it, such as its largest
 * element.  The tree calls its augment callback wherever that value may have changed.  The
 * two sides have numbers, so one search can run in either direction.
 *
 * AGATE_TREE_DEFINE() makes the functions of one kind of tree, with its callbacks inlined: a
 * call through a pointer at each node would take longer than all else.
 *
 * Why not the kernel's rbtree: the labs that stand on this tree are tested on the host, too,
 * and there they must run on the code that the kernel runs.  It needs no kernel service.
 *
 * The heights of two siblings differ by at most 1, so a tree of n nodes is at most
 * 1.44 log2(n) high.  Nothing here allocates or locks.
 */
#ifndef AGATE_TREE_H
#define AGATE_TREE_H

#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/minmax.h>
#include <linux/types.h>

/** enum agate_tree_side - of a node; the numbers are indices of agate_tree_node.child */
enum agate_tree_side {
	AGATE_TREE_LEFT,
	AGATE_TREE_RIGHT,
};

/**
 * struct agate_tree_node - embedded in what is sorted
 * @parent: NULL for the root
 * @child: by enum agate_tree_side
 * @height: nodes on the longest way down from here, this one included; 0 outside of a tree
 */
struct agate_tree_node {
	struct agate_tree_node *parent;
	struct agate_tree_node *child[2];
	unsigned int height;
};

/**
 * struct agate_tree - a tree
 * @root: NULL when it is empty
 */
struct agate_tree {
	struct agate_tree_node *root;
};

/**
 * typedef agate_tree_augment - compute a node's summary
 * @node: the node; the summaries of its children are right
 *
 * Return: did it change?
 */
typedef bool (*agate_tree_augment)(struct agate_tree_node *node);

#define agate_tree_entry(node, type, member)	container_of(node, type, member)

/** agate_tree_contains - is the node in a tree?  It was zeroed before its first use. */
static inline bool agate_tree_contains(const struct agate_tree_node *node)
{
	return node->height;
}

/** agate_tree_end - the first node of a subtree from one side, or NULL */
static inline struct agate_tree_node *agate_tree_end(struct agate_tree_node *node,
						     enum agate_tree_side side)
{
	while (node && node->child[side])
		node = node->child[side];
	return node;
}

/** agate_tree_next - the neighbour of a node on one side, or NULL */
static inline struct agate_tree_node *agate_tree_next(struct agate_tree_node *node,
						      enum agate_tree_side side)
{
	struct agate_tree_node *from;

	if (node->child[side])
		return agate_tree_end(node->child[side], !side);
	do {
		from = node;
		node = node->parent;
	} while (node && node->child[side] == from);
	return node;
}

/* ---- What AGATE_TREE_DEFINE() is made of ------------------------------- */

static inline unsigned int __agate_tree_height(const struct agate_tree_node *node)
{
	return node ? node->height : 0;
}

/* Compute what a node says about its subtree; true if that changed. */
static __always_inline bool __agate_tree_measure(struct agate_tree_node *node,
						 agate_tree_augment augment)
{
	unsigned int now = 1 + max(__agate_tree_height(node->child[AGATE_TREE_LEFT]),
				   __agate_tree_height(node->child[AGATE_TREE_RIGHT]));
	bool changed = now != node->height;

	node->height = now;
	if (augment && augment(node))
		changed = true;
	return changed;
}

static inline void __agate_tree_set_child(struct agate_tree_node *node, enum agate_tree_side side,
					  struct agate_tree_node *child)
{
	node->child[side] = child;
	if (child)
		child->parent = node;
}

/* Whatever leads to a node leads to @by instead, which may be NULL. */
static inline void __agate_tree_relink(struct agate_tree *tree, struct agate_tree_node *node,
				       struct agate_tree_node *by)
{
	struct agate_tree_node *parent = node->parent;

	if (by)
		by->parent = parent;
	if (!parent)
		tree->root = by;
	else
		parent->child[parent->child[AGATE_TREE_RIGHT] == node] = by;
}

/* Lift a node's child on one side over the node, and return it. */
static __always_inline struct agate_tree_node *
__agate_tree_lift(struct agate_tree *tree, struct agate_tree_node *node,
		  enum agate_tree_side side, agate_tree_augment augment)
{
	struct agate_tree_node *child = node->child[side];

	__agate_tree_relink(tree, node, child);
	__agate_tree_set_child(node, side, child->child[!side]);
	__agate_tree_set_child(child, !side, node);
	__agate_tree_measure(node, augment);
	__agate_tree_measure(child, augment);
	return child;
}

/* Lift the child that is too high on one side, and return what is in the node's place. */
static __always_inline struct agate_tree_node *
__agate_tree_balance(struct agate_tree *tree, struct agate_tree_node *node,
		     enum agate_tree_side side, agate_tree_augment augment)
{
	struct agate_tree_node *child = node->child[side];

	/* Lifting a child whose inner side is the higher one would not help. */
	if (__agate_tree_height(child->child[!side]) > __agate_tree_height(child->child[side]))
		__agate_tree_lift(tree, child, !side, augment);
	return __agate_tree_lift(tree, node, side, augment);
}

/*
 * Walk up from the lowest node that changed; at each node balance, or compute its height and
 * summary anew.  If both stay the same, no node above can have changed.
 */
static __always_inline void __agate_tree_settle(struct agate_tree *tree,
						struct agate_tree_node *node,
						agate_tree_augment augment)
{
	for (; node; node = node->parent) {
		int lean = (int)__agate_tree_height(node->child[AGATE_TREE_RIGHT]) -
			   (int)__agate_tree_height(node->child[AGATE_TREE_LEFT]);

		if (lean > 1 || lean < -1)
			node = __agate_tree_balance(tree, node, lean > 0 ? AGATE_TREE_RIGHT :
						    AGATE_TREE_LEFT, augment);
		else if (!__agate_tree_measure(node, augment))
			return;
	}
}

/* No height has changed: compute the summaries anew, up to the first that stays the same. */
static __always_inline void __agate_tree_summarise(struct agate_tree_node *node,
						   agate_tree_augment augment)
{
	while (augment && node && augment(node))
		node = node->parent;
}

/* Make a node a leaf below @parent. */
static __always_inline void __agate_tree_link(struct agate_tree *tree,
					      struct agate_tree_node *node,
					      struct agate_tree_node *parent,
					      enum agate_tree_side side,
					      agate_tree_augment augment)
{
	node->parent = parent;
	node->child[AGATE_TREE_LEFT] = NULL;
	node->child[AGATE_TREE_RIGHT] = NULL;
	if (parent)
		parent->child[side] = node;
	else
		tree->root = node;
	__agate_tree_measure(node, augment);
	__agate_tree_settle(tree, parent, augment);
}

static __always_inline void __agate_tree_replace(struct agate_tree *tree,
						 struct agate_tree_node *node,
						 struct agate_tree_node *by,
						 agate_tree_augment augment)
{
	__agate_tree_relink(tree, node, by);
	__agate_tree_set_child(by, AGATE_TREE_LEFT, node->child[AGATE_TREE_LEFT]);
	__agate_tree_set_child(by, AGATE_TREE_RIGHT, node->child[AGATE_TREE_RIGHT]);
	by->height = node->height;
	node->height = 0;
	/* The nodes above know the summary of the old one. */
	if (augment)
		augment(by);
	__agate_tree_summarise(by->parent, augment);
}

static __always_inline void __agate_tree_erase(struct agate_tree *tree,
					       struct agate_tree_node *node,
					       agate_tree_augment augment)
{
	struct agate_tree_node *left = node->child[AGATE_TREE_LEFT];
	struct agate_tree_node *right = node->child[AGATE_TREE_RIGHT];
	struct agate_tree_node *victim = node;

	/* Its neighbour on the higher side has at most one child: take it out, let it take over. */
	if (left && right) {
		enum agate_tree_side side = right->height > left->height;

		victim = agate_tree_end(node->child[side], !side);
		left = NULL;
		right = victim->child[side];
	}
	__agate_tree_relink(tree, victim, left ? left : right);
	victim->height = 0;
	__agate_tree_settle(tree, victim->parent, augment);
	if (victim != node)
		__agate_tree_replace(tree, node, victim, augment);
}

/**
 * AGATE_TREE_DEFINE - make the functions of one kind of tree
 * @name: the beginning of their names
 * @less: bool less(const struct agate_tree_node *a, const struct agate_tree_node *b): is a
 *	before b?
 * @augment: an agate_tree_augment; NULL when the nodes have no summary
 *
 * All of them keep the tree balanced and the summaries right:
 *
 *   NAME_insert(tree, node)       put a node where it belongs
 *   NAME_erase(tree, node)        take a node out
 *   NAME_replace(tree, node, by)  put another node, which has the same place in the order, in
 *                                 the place of one, which leaves the tree
 *   NAME_update(node)             the node has changed, but not its place in the order
 */
#define AGATE_TREE_DEFINE(name, less, augment)						\
static const agate_tree_augment name##_augment = augment;				\
											\
static void name##_insert(struct agate_tree *tree, struct agate_tree_node *node)	\
{											\
	enum agate_tree_side side = AGATE_TREE_LEFT;					\
	struct agate_tree_node *next = tree->root;					\
	struct agate_tree_node *parent = NULL;						\
											\
	while (next) {									\
		parent = next;								\
		side = less(node, parent) ? AGATE_TREE_LEFT : AGATE_TREE_RIGHT;		\
		next = parent->child[side];						\
	}										\
	__agate_tree_link(tree, node, parent, side, name##_augment);			\
}											\
											\
static void name##_erase(struct agate_tree *tree, struct agate_tree_node *node)	\
{											\
	__agate_tree_erase(tree, node, name##_augment);				\
}											\
											\
static void __maybe_unused name##_replace(struct agate_tree *tree,			\
					  struct agate_tree_node *node,			\
					  struct agate_tree_node *by)			\
{											\
	__agate_tree_replace(tree, node, by, name##_augment);				\
}											\
											\
static void __maybe_unused name##_update(struct agate_tree_node *node)			\
{											\
	__agate_tree_summarise(node, name##_augment);					\
}

#endif /* AGATE_TREE_H */
