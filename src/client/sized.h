/* SPDX-License-Identifier: MIT */
#pragma once

/* Sized structs: structs from callers that were compiled with an earlier or later header */

#include <stddef.h>

/*
 * Copies the struct GIVEN, whose `size` is SIZE, to RET, of N bytes; members that the caller lacks
 * are 0. FIRST: the size in version 0.2. -EINVAL: GIVEN is smaller than that, or a member that this
 * version does not know is not 0.
 */
int sized_read(void *ret, size_t n, size_t first, const void *given, size_t size);
