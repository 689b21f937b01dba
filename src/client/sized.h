/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Sized structs: what a caller gives that was compiled with an earlier or a later header
 */

#include <stddef.h>

/*
 * Copies the struct GIVEN, whose `size` is SIZE, to RET, of N bytes; members that the caller does
 * not have are 0. FIRST: the size in version 0.2. -EINVAL: it is smaller than that, or has members
 * that are not 0 and that this version does not know.
 */
int sized_read(void *ret, size_t n, size_t first, const void *given, size_t size);
