/* SPDX-License-Identifier: MIT */
/* Smaller and larger of two values of one type. */
#ifndef AGATE_SHIM_MINMAX_H
#define AGATE_SHIM_MINMAX_H

#define min(a, b)	({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b)	({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define min3(a, b, c)	({ __typeof__(a) ab_ = min(a, b); min(ab_, c); })

#endif /* AGATE_SHIM_MINMAX_H */
