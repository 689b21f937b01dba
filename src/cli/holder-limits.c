/* SPDX-License-Identifier: MIT */
#include "cli/holder-limits.h"

#include "attach/holder-client.h"
#include "cli/json-field.h"
#include "cli/output.h"
#include "cli/table.h"
#include "util/fd.h"

#include <inttypes.h>
#include <poll.h>

/* ms: a running holder answers at once. */
#define LIMITS_MS 2000

/* The limits that the holder reports, as metrics. */
static const struct {
        const char *limit;  /* name of the limit in the holder's reply */
        const char *metric; /* name of the metric; the metric of the limit itself has the suffix
                             * _limit, then UNIT */
        const char *unit;   /* suffix of the metric's name; "": none */
        const char *help;
} LIMITS[] = {
        {"attachments", "holder_attachments", "", "Processes that are attached"},
        {"spilled-bytes", "holder_spilled", "_bytes", "Bytes of events that wait in files"},
        {"waiting-bytes", "holder_waiting", "_bytes", "Bytes of events that wait in memory"},
};

json_t *holder_limits_ask(void)
{
        const Request request = {.verb = REQUEST_LIMITS};
        FD_AUTO int fd = holder_client_ask(&request, /* is_starting= */ false, /* error= */ NULL);
        struct pollfd answer = {.fd = fd, .events = POLLIN};
        json_auto_t *reply = NULL;

        if (fd >= 0 && poll(&answer, 1, LIMITS_MS) > 0)
                reply = holder_client_answer(fd_steal(&fd), /* error= */ NULL);
        return json_incref(json_object_get(reply, "limits"));
}

void holder_limits_print(const json_t *rows)
{
        static const Column COLUMNS[] = {
                {"LIMIT", false, 0, 0}, {"USER", true, 0, 0}, {"USED", true, 0, 0},
                {"OF", true, 0, 0},     {"SET", false, 1, 0},
        };
        g_autoptr(Table) table = table_new(COLUMNS, G_N_ELEMENTS(COLUMNS));
        const json_t *row;
        size_t i;

        if (json_array_size(rows) == 0)
                return;
        json_array_foreach(rows, i, row)
        {
                table_add(table, field_text(row, "limit"));
                if (json_is_integer(json_object_get(row, "uid")))
                        table_add_format(table, "%" PRIu64, field_number(row, "uid"));
                else
                        table_add(table, "all");
                table_add_format(table, "%" PRIu64, field_number(row, "used"));
                table_add_format(table, "%" PRIu64, field_number(row, "max"));
                table_add(table, field_text(row, "set"));
        }
        output_line("", 0);
        table_print(table);
}

/* The samples of one family: USED, or the limits themselves. */
static void limits_append_family(GString *out, const json_t *rows, size_t which, bool is_used)
{
        const char *end = is_used ? "" : "_limit", *unit = LIMITS[which].unit;
        g_autofree char *name = g_strdup_printf("clrsym_%s%s%s", LIMITS[which].metric, end, unit);
        const json_t *row;
        size_t i;

        g_string_append_printf(out, "# HELP %s %s%s.\n# TYPE %s gauge\n", name, LIMITS[which].help,
                               is_used ? "" : ", at most", name);
        if (*unit)
                g_string_append_printf(out, "# UNIT %s %s\n", name, unit + 1);
        json_array_foreach(rows, i, row)
        {
                g_autofree char *uid = NULL;

                if (g_strcmp0(field_text(row, "limit"), LIMITS[which].limit))
                        continue;
                if (json_is_integer(json_object_get(row, "uid")))
                        uid = g_strdup_printf("%" PRIu64, field_number(row, "uid"));
                g_string_append_printf(out, "%s{uid=\"%s\"} %" PRIu64 "\n", name, uid ? uid : "all",
                                       field_number(row, is_used ? "used" : "max"));
        }
}

void holder_limits_append_metrics(GString *out, const json_t *rows)
{
        size_t i;

        for (i = 0; rows && i < G_N_ELEMENTS(LIMITS); i++) {
                limits_append_family(out, rows, i, /* is_used= */ true);
                limits_append_family(out, rows, i, /* is_used= */ false);
        }
}
