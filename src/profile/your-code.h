/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Your code: managed code in modules outside of the shared frameworks
 *
 * A module is of the framework if its path has the directory of a shared framework, or if it has
 * the name of an assembly of Microsoft.NETCore.App or Microsoft.AspNetCore.App. Packages are your
 * code.
 */

#include "profile/data.h"

bool module_is_framework(const char *path);

/* False for code without a module: its owner is not known. */
bool frame_is_yours(const Frame *frame);
