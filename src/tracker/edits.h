/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Edits: the bodies whose IL may differ from their assembly's
 *
 * Hot reload, and a debugger, give methods of a debug build new IL while the program runs; the PDB
 * stays as it was. No event says which methods. Two things are seen:
 * - A method that is never optimized is compiled a second time, as the same version.
 * - MetadataUpdater.ApplyUpdate is called. What is compiled afterwards may be new.
 */

#include "tracker/process.h"

/* Call it before INCOMING, a load, is inserted: it sets METHOD_FLAG_EDITED of INCOMING. */
void edits_mark(const Process *process, Body *incoming);
/* Call it after BODY has been inserted. */
void edits_note(Process *process, const Body *body);
/* True if BODY's IL may differ from its assembly's. */
bool edits_concern(const Process *process, const Body *body);
