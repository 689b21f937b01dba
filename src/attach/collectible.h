/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Collectible: whether a target has, or uses, unloadable load contexts
 *
 * While such a context is unloaded, a rundown can crash .NET 10. Events mark its assemblies as
 * collectible when they are listed, which is harmless, and when they are loaded. Only loads show
 * short-lived contexts, so they are watched for a second.
 */

#include "attach/eventpipe-session.h"

/* RET_IS_FOUND stays false for a runtime that cannot list its modules alone: .NET 8 does not crash.
 * Ignores WAIT's sink and limit. */
bool collectible_find(const Target *target, const EventPipeWait *wait, bool *ret_is_found,
                      GError **error);
