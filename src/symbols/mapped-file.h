/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Mapped file: the file of a mapping, opened for its tables or its code
 */

#include "perfdata/address-space.h"

/* A descriptor, which the caller closes; -1: the file is missing, or is another one. */
int mapped_file_open(const MappedFile *mapped);
