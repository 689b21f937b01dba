/* SPDX-License-Identifier: MIT */
#include "cli/link.h"
#include "cli/verbs.h"

/* The snapshot is there once the trace is read. */
bool verb_save(const Options *options, GError **error)
{
        LinkFlags flags =
                LINK_SAVE | (options_has(options, OPTION_JIT_EVENTS) ? LINK_JIT_EVENTS : 0);
        g_autoptr(Link) link = link_open(options, flags, error);

        return link != NULL;
}
