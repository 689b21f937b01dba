/* SPDX-License-Identifier: MIT */
#include "cli/answer-text.h"

#include "cli/json-field.h"
#include "cli/printable.h"

#include <math.h>
#include <string.h>

/* "Foo.Bar()+0x10" */
static void append_place(GString *out, const json_t *body)
{
        const char *symbol = field_text(body, "symbol");

        printable_append(out, symbol ? symbol : "?");
        g_string_append_printf(out, "+0x%" G_GINT64_MODIFIER "x",
                               (guint64)field_number(body, "offset"));
}

/* SECONDS in the unit that leaves the fewest digits. */
static void append_duration(GString *out, double seconds)
{
        static const struct {
                double seconds;
                const char *name;
        } UNITS[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
        size_t i;

        seconds = fabs(seconds);
        for (i = 0; i < G_N_ELEMENTS(UNITS); i++)
                if (seconds >= UNITS[i].seconds) {
                        g_string_append_printf(out, "%.1f %s", seconds / UNITS[i].seconds,
                                               UNITS[i].name);
                        return;
                }
        g_string_append_printf(out, "%.0f ns", seconds * 1e9);
}

static void append_in(GString *out, char open, const char *text, char close)
{
        if (!text)
                return;
        g_string_append_printf(out, " %c", open);
        printable_append(out, text);
        g_string_append_c(out, close);
}

static void append_ok(GString *out, const json_t *answer)
{
        append_place(out, answer);
        append_in(out, '(', module_file_name(answer), ')');
        append_in(out, '[', field_text(field_object(answer, "version"), "tier"), ']');
}

/* HOW far the nearest body is from the time asked: "3.2 ms before", that is when it ended. */
static void append_nearest(GString *out, const json_t *answer, const char *how)
{
        const json_t *nearest = field_object(answer, "nearest");
        const json_t *distance = json_object_get(nearest, "distance");

        if (!nearest)
                return;
        if (json_is_number(distance)) {
                g_string_append_c(out, ' ');
                append_duration(out, json_number_value(distance));
                g_string_append_printf(out, " %s", how);
        }
        g_string_append(out, ": ");
        append_place(out, nearest);
}

static void append_process(GString *out, const json_t *process)
{
        g_string_append_printf(out, "%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT,
                               (guint64)field_number(process, "pid_ns"),
                               (guint64)field_number(process, "pid"));
}

static void append_ambiguous(GString *out, const json_t *answer)
{
        const json_t *candidates = json_object_get(answer, "candidates");
        const char *address = field_text(answer, "addr");
        size_t i, n = json_array_size(candidates);

        if (json_object_get(json_array_get(candidates, 0), "start")) {
                g_string_append_printf(
                        out, ": %" G_GSIZE_FORMAT " bodies, give a time (clrsym history -p ", n);
                if (field_number(answer, "pid_ns"))
                        append_process(out, answer);
                else
                        g_string_append_printf(out, "%" G_GUINT64_FORMAT,
                                               (guint64)field_number(answer, "pid"));
                g_string_append_c(out, ' ');
                printable_append(out, address ? address : "?");
                g_string_append_c(out, ')');
                return;
        }
        g_string_append_printf(
                out, ": %" G_GSIZE_FORMAT " pid namespaces have that PID, give one of", n);
        for (i = 0; i < n; i++) {
                g_string_append_c(out, ' ');
                append_process(out, json_array_get(candidates, i));
        }
}

static void append_reason(GString *out, const json_t *answer, const char *status)
{
        static const struct {
                const char *status;
                const char *how; /* of the nearest body */
        } NEAREST[] = {{"unloaded", "before"}, {"not-yet", "later"}, {"pending", "away"}};
        const char *reason = field_text(answer, "reason");
        size_t i;

        g_string_append(out, "?? ");
        printable_append(out, status ? status : "no status");
        if (!g_strcmp0(status, "ambiguous"))
                append_ambiguous(out, answer);
        for (i = 0; i < G_N_ELEMENTS(NEAREST); i++)
                if (!g_strcmp0(status, NEAREST[i].status))
                        append_nearest(out, answer, NEAREST[i].how);
        if (reason) {
                g_string_append(out, ": ");
                printable_append(out, reason);
        }
}

void answer_text_append(GString *out, const json_t *answer)
{
        const char *address = field_text(answer, "addr"), *status = field_text(answer, "status");
        const char *confidence = field_text(answer, "confidence");

        printable_append(out, address && *address ? address : "?");
        g_string_append_c(out, ' ');
        if (!g_strcmp0(status, "ok"))
                append_ok(out, answer);
        else
                append_reason(out, answer, status);
        if (confidence && strcmp(confidence, "exact") != 0)
                g_string_append(out, " ~");
}
