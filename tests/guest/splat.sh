# SPDX-License-Identifier: MIT
#
# splat.sh: what guest tests look for in a kernel's log.  Source it.

# The kernel says one of these when a rule was broken.
SPLAT='WARNING:|BUG:|Oops|KASAN|UBSAN|DMA-API: |possible (recursive|circular) locking|'\
'inconsistent lock state|suspicious RCU|sleeping function called|unreferenced object|'\
'blocked for more than|soft lockup|rcu.*(stall|self-detected)|Call Trace:|refcount_t|'\
'list_(add|del) corruption|Memory manager not clean|Kernel panic|general protection fault|'\
'kmemleak: .*disabled|trying to register non-static key|lockdep is turned off|leaked: '
