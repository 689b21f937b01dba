/* SPDX-License-Identifier: MIT */
#include "cli/listing.h"

#include "cli/json-field.h"
#include "cli/output.h"

typedef struct Printing {
        const Listing *listing;
        Table *table; /* NULL: as JSON */
        bool has_time;
        uint64_t time;
} Printing;

/* Of what began unseen, it was there before; what did not end is there. */
static bool is_there(const Printing *printing, const json_t *row)
{
        uint64_t from = 0, to = UINT64_MAX;

        field_time(row, printing->listing->from, &from);
        field_time(row, printing->listing->to, &to);
        return !printing->has_time || (from <= printing->time && printing->time < to);
}

static void add_cell(Table *table, const json_t *value)
{
        if (json_is_integer(value))
                table_add_format(table, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        else
                table_add(table, json_string_value(value));
}

static bool take_row(JsonSpan text, void *data)
{
        const Printing *printing = data;
        const Listing *listing = printing->listing;
        json_t *row = json_span_load(text);
        unsigned i;

        if (is_there(printing, row)) {
                for (i = 0; printing->table && i < listing->n_fields; i++)
                        add_cell(printing->table, json_object_get(row, listing->fields[i].member));
                if (!printing->table)
                        output_line(text.at, text.n);
        }
        json_decref(row);
        return true;
}

bool listing_print(const Listing *listing, Link *link, json_t *parameters, const Options *options,
                   GError **error)
{
        g_autofree Column *columns = g_new(Column, listing->n_fields);
        g_autoptr(Table) table = NULL;
        Printing printing = {.listing = listing, .has_time = options->at != NULL};
        unsigned i;

        if (options->at && !link_time(link, options->at, &printing.time, error)) {
                json_decref(parameters);
                return false;
        }
        for (i = 0; i < listing->n_fields; i++)
                columns[i] = listing->fields[i].column;
        if (!options_has(options, OPTION_JSON))
                printing.table = table = table_new(columns, listing->n_fields);
        if (!link_rows(link, listing->method, parameters, listing->member, take_row, &printing,
                       error))
                return false;
        if (table)
                table_print(table);
        return true;
}
