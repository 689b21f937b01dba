/* SPDX-License-Identifier: MIT */
#include "cli/link.h"
#include "cli/verbs.h"

/* The snapshot is there once the trace is read. */
bool verb_save(const Options *options, GError **error)
{
        g_autoptr(Link) link = link_open(options, LINK_SAVE, error);

        return link != NULL;
}
