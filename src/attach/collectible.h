/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Collectible: whether a target has, or uses, load contexts that can be unloaded
 *
 * While such a context is unloaded, a rundown can crash .NET 10. Its assemblies say that they are
 * collectible when they are listed, which is harmless, and when they are loaded. Contexts that live
 * for a moment show only by that, so it is watched for a second.
 */

#include "attach/eventpipe-session.h"

/* RET_IS_FOUND stays false for a runtime that cannot list its modules alone: .NET 8 does not crash.
 * WAIT's sink and limit are not used. */
bool collectible_find(const Target *target, const EventPipeWait *wait, bool *ret_is_found,
                      GError **error);
