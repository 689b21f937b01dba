/* SPDX-License-Identifier: MIT */
#include "cli/listing.h"
#include "cli/verbs.h"

static const ListingField FIELDS[] = {
        {{"PID", true, 0, 0}, "pid"},       {{"NS", true, 5, 0}, "pid_ns"},
        {{"STATE", false, 3, 0}, "state"},  {{"RUNTIME", false, 2, 0}, "runtime"},
        {{"BODIES", true, 1, 0}, "bodies"}, {{"SINCE", true, 4, 0}, "since"},
        {{"GAP", true, 6, 0}, "gap_since"}, {{"COMMAND", false, 0, 0}, "command"},
};

static const Listing LISTING = {"ListProcesses", "processes", "since",
                                "exited",        FIELDS,      G_N_ELEMENTS(FIELDS)};

bool verb_ps(const Options *options, GError **error)
{
        g_autoptr(Link) link = link_open(options, LINK_PLAIN, error);

        return link && listing_print(&LISTING, link, link_parameters(options), options, error);
}
