/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Edits: which bodies may have other IL than their assembly
 *
 * Hot reload, and a debugger, give methods of a debug build new IL while the program runs; the PDB
 * stays as it was. No event says which methods. Two things are seen:
 * - A method that is never optimized is compiled a second time, as the same version.
 * - MetadataUpdater.ApplyUpdate is called. What is compiled afterwards may be new.
 */

#include "tracker/process.h"

/* To be called before INCOMING, a load, is inserted: sets METHOD_FLAG_EDITED of it. */
void edits_mark(const Process *process, Body *incoming);
/* To be called once BODY has been inserted. */
void edits_note(Process *process, const Body *body);
/* The IL that BODY was compiled from may be other than its assembly's. */
bool edits_concern(const Process *process, const Body *body);
