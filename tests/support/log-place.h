/* SPDX-License-Identifier: MIT */
#pragma once

/* A temporary directory for the log of a target (attach/target-log.h), and helpers for records */

#include "attach/target-threads.h"
#include "event/record.h"

#include <glib/gstdio.h>

/* All texts are owned. */
typedef struct LogPlace {
        char *directory;
        char *logs;             /* directory of the logs, not created */
        char *path;             /* path of the attachment's file */
        char *log_path;         /* path of the log */
        TargetThreads *threads; /* of process 77, in our own pid namespace */
} LogPlace;

/* NAME: of the directory of logs. */
static inline LogPlace log_place_new(const char *name)
{
        static const ProcInfo PROCESS = {.host_pid = 77, .n_levels = 1};
        LogPlace place = {.directory = g_dir_make_tmp("clrsym-XXXXXX", NULL),
                          .threads = target_threads_new(&PROCESS)};

        place.logs = g_build_filename(place.directory, name, NULL);
        place.path = g_build_filename(place.directory, "77-1", NULL);
        place.log_path = g_build_filename(place.logs, "77-1", NULL);
        return place;
}

/* Removes all logs. */
static inline void log_place_clear(const LogPlace *place)
{
        g_autoptr(GDir) files = g_dir_open(place->logs, 0, NULL);
        const char *name;

        while (files && (name = g_dir_read_name(files))) {
                g_autofree char *path = g_build_filename(place->logs, name, NULL);

                g_unlink(path);
        }
}

static inline void log_place_remove(LogPlace *place)
{
        log_place_clear(place);
        g_rmdir(place->logs);
        g_rmdir(place->directory);
        target_threads_free(place->threads);
        g_free(place->directory);
        g_free(place->logs);
        g_free(place->path);
        g_free(place->log_path);
}

/* Does nothing if the event lacks the field. */
static inline void log_set_value(Record *record, FieldName name, uint64_t value)
{
        const int i = event_field(record->event, name);

        if (i >= 0)
                record->values[i].u = value;
}
