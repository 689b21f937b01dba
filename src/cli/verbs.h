/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Verbs: each prints to stdout, and returns false with ERROR set on failure; without, if what it
 * printed could not be written
 */

#include "cli/options.h"

bool verb_resolve(const Options *options, GError **error);
bool verb_ps(const Options *options, GError **error);
bool verb_methods(const Options *options, GError **error);
bool verb_history(const Options *options, GError **error);
bool verb_versions(const Options *options, GError **error);
bool verb_modules(const Options *options, GError **error);
bool verb_perfmap(const Options *options, GError **error);
bool verb_perf(const Options *options, GError **error);
bool verb_dump(const Options *options, GError **error);
bool verb_jit(const Options *options, GError **error);
bool verb_status(const Options *options, GError **error);
bool verb_metrics(const Options *options, GError **error);
bool verb_save(const Options *options, GError **error);
bool verb_attach(const Options *options, GError **error);
bool verb_detach(const Options *options, GError **error);
bool verb_env(const Options *options, GError **error);
bool verb_version(const Options *options, GError **error);
