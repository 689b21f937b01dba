/* SPDX-License-Identifier: MIT */
#include "cli/record-source.h"

#include "profile/profile.h"

static const RecordSource SOURCES[] = {
        {"runtime", PROFILE_EVENT_MANAGED, EVENTPIPE_SAMPLES_THREADS,
         "no .NET program ran, or it ended too early"},
        {"alloc", PROFILE_EVENT_ALLOC, EVENTPIPE_SAMPLES_ALLOC,
         "less than some 100 kB was allocated, or the program ended too early"},
        {"contention", PROFILE_EVENT_CONTENTION, EVENTPIPE_SAMPLES_CONTENTION,
         "no thread waited for a lock"},
        {"exception", PROFILE_EVENT_EXCEPTION, EVENTPIPE_SAMPLES_EXCEPTION,
         "no exception was thrown"},
};

const RecordSource *record_source_find(const char *name)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(SOURCES); i++)
                if (!strcmp(SOURCES[i].name, name))
                        return &SOURCES[i];
        return NULL;
}
