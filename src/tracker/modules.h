/* SPDX-License-Identifier: MIT */
#pragma once

/* Modules and assemblies: the effect of their events on a process */

#include "tracker/process.h"

/* A load or a rundown's row of a module, of any kind. */
void process_take_module(Process *process, const Record *record);
void process_take_module_unload(Process *process, const Record *record);
/* A load, an unload, or a rundown's row. */
void process_take_assembly(Process *process, const Record *record);
