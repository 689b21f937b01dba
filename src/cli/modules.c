/* SPDX-License-Identifier: MIT */
#include "cli/listing.h"
#include "cli/verbs.h"

static const ListingField FIELDS[] = {
        {{"PID", true, 1, 0}, "pid"},           {{"ID", false, 2, 0}, "id"},
        {{"BODIES", true, 6, 0}, "bodies"},     {{"LIVE", true, 5, 0}, "live"},
        {{"BYTES", true, 7, 0}, "live_bytes"},  {{"LOADED", true, 3, 0}, "loaded"},
        {{"UNLOADED", true, 4, 0}, "unloaded"}, {{"PATH", false, 0, 0}, "path"},
};

static const Listing LISTING = {"ListModules", "modules", "loaded",
                                "unloaded",    FIELDS,    G_N_ELEMENTS(FIELDS)};

bool verb_modules(const Options *options, GError **error)
{
        g_autoptr(Link) link = link_open(options, LINK_PLAIN, error);
        bool is_all = options_has(options, OPTION_ALL) || options->at;
        json_t *parameters;

        if (!link)
                return false;
        parameters = link_parameters(options);
        json_object_set_new(parameters, "all", json_boolean(is_all));
        return listing_print(&LISTING, link, parameters, options, error);
}
