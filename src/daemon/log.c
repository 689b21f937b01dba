/* SPDX-License-Identifier: MIT */
#include "daemon/log.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The written levels, worst first, with their words and sd-daemon(3)'s marks. */
static const struct {
        GLogLevelFlags level;
        const char *word;
        const char *mark;
} LEVELS[] = {
        {G_LOG_LEVEL_ERROR, "fatal", "<2>"},     {G_LOG_LEVEL_CRITICAL, "error", "<3>"},
        {G_LOG_LEVEL_WARNING, "warning", "<4>"}, {G_LOG_LEVEL_MESSAGE, "info", "<6>"},
        {G_LOG_LEVEL_INFO, "info", "<6>"},
};

static bool is_journal;

/* Makes any message one line without control characters for the terminal. */
static char *one_line(const GLogField *field)
{
        char *text = field->length < 0 ? g_strdup(field->value)
                                       : g_strndup(field->value, (gsize)field->length);
        char *at;

        for (at = text; *at; at++)
                if (g_ascii_iscntrl(*at))
                        *at = ' ';
        return text;
}

static void write_line(size_t level, const GLogField *fields, gsize n_fields)
{
        gsize i;

        for (i = 0; i < n_fields; i++) {
                g_autofree char *text = NULL;

                if (g_strcmp0(fields[i].key, "MESSAGE") != 0)
                        continue;
                text = one_line(&fields[i]);
                /* The journal reads lines, too, if it does not accept messages. */
                fprintf(stderr, "%sclrsymd: %s: %s\n", is_journal ? LEVELS[level].mark : "",
                        LEVELS[level].word, text);
        }
}

/* GLib writes a critical message as a warning; this function sets the right priority. */
static bool write_journal(size_t level, const GLogField *fields, gsize n_fields, gpointer data)
{
        g_autofree GLogField *all = g_new(GLogField, n_fields + 1);
        gsize i;

        for (i = 0; i < n_fields; i++) {
                all[i] = fields[i];
                if (!strcmp(all[i].key, "PRIORITY")) {
                        all[i].value = LEVELS[level].mark + 1;
                        all[i].length = 1;
                }
        }
        all[n_fields] = (GLogField){"SYSLOG_IDENTIFIER", "clrsymd", -1};
        return g_log_writer_journald(LEVELS[level].level, all, n_fields + 1, data) ==
               G_LOG_WRITER_HANDLED;
}

static GLogWriterOutput write_log(GLogLevelFlags level, const GLogField *fields, gsize n_fields,
                                  gpointer data)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(LEVELS); i++)
                if (level & LEVELS[i].level) {
                        if (!is_journal || !write_journal(i, fields, n_fields, data))
                                write_line(i, fields, n_fields);
                        break;
                }
        return G_LOG_WRITER_HANDLED;
}

void log_init(void)
{
        is_journal = g_log_writer_is_journald(STDERR_FILENO);
        g_log_set_writer_func(write_log, NULL, NULL);
}
