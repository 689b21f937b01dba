/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Filter: any bytes from stdin to stdout, with names in place of the addresses in them
 */

#include "cli/link.h"

bool filter_run(Link *link, const Options *options, GError **error);
