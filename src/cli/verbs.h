/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Verbs: each answers with a Link, prints to stdout, and returns false with ERROR set on failure
 */

#include "cli/link.h"

bool verb_resolve(Link *link, const Options *options, GError **error);
bool verb_ps(Link *link, const Options *options, GError **error);
bool verb_methods(Link *link, const Options *options, GError **error);
bool verb_history(Link *link, const Options *options, GError **error);
bool verb_versions(Link *link, const Options *options, GError **error);
bool verb_status(Link *link, const Options *options, GError **error);
