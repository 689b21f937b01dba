/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Listing: what a daemon lists, a row an object, as a table or as JSON
 */

#include "cli/link.h"
#include "cli/table.h"

typedef struct ListingField {
        Column column;
        const char *member; /* of a row: a text or a number */
} ListingField;

typedef struct Listing {
        const char *method;
        const char *member; /* of the reply: the array */
        /* Members of a row: the time from which on, and to which, it is what it says. */
        const char *from, *to;
        const ListingField *fields;
        unsigned n_fields;
} Listing;

/* Calls with PARAMETERS, which it takes over; with --at, prints only what was there then. */
bool listing_print(const Listing *listing, Link *link, json_t *parameters, const Options *options,
                   GError **error);
