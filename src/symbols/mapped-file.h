/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Mapped file: the file of a mapping, opened for its tables or its code
 */

#include "perfdata/address-space.h"

/* True for native code of a file that can exist. Code that .NET compiles is in memory or in an
 * assembly. */
bool mapped_file_is_native(const MappedFile *mapped);
/* A descriptor, which the caller closes; -1: the file is missing, or is another one. */
int mapped_file_open(const MappedFile *mapped);
