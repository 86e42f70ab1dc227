/* SPDX-License-Identifier: MIT */
/* EXPECT: #include names a header */
#if 0
#include <x/*>
#endif
" */
#endif
asm("nop"); /* "
*/
