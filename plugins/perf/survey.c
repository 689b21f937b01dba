/* SPDX-License-Identifier: MIT */
#include "survey.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Enough to distinguish processes: no two have the same layout by chance. */
#define MAX_ADDRESSES 256

typedef struct SurveyAddress {
        uint64_t address, time;
} SurveyAddress;

struct SurveyProcess {
        int32_t pid;
        uint32_t comm; /* name of the main thread at its first sample, else of the first thread */
        bool has_main;
        uint64_t n_samples, first, last;
        SurveyAddress *addresses; /* owned */
        size_t n_addresses;
        uint64_t n_seen, stride; /* one address in so many is kept */
};

void survey_deinit(Survey *survey)
{
        size_t i;

        for (i = 0; i < survey->n; i++)
                free(survey->processes[i].addresses);
        free(survey->processes);
        free(survey->n_samples);
        *survey = (Survey){0};
}

/* A recording has some hundreds of processes, and consecutive samples are often of one. */
static SurveyProcess *survey_find(Survey *survey, int32_t pid)
{
        size_t i;

        if (survey->last && survey->last->pid == pid)
                return survey->last;
        for (i = 0; i < survey->n; i++)
                if (survey->processes[i].pid == pid)
                        return &survey->processes[i];
        if (survey->n == survey->n_processes) {
                size_t n = survey->n_processes ? survey->n_processes * 2 : 64;
                SurveyProcess *processes = realloc(survey->processes, n * sizeof(*processes));

                if (!processes)
                        return NULL;
                survey->processes = processes;
                survey->n_processes = n;
        }
        survey->processes[survey->n] =
                (SurveyProcess){.pid = pid, .comm = INDEX_NONE, .first = UINT64_MAX, .stride = 1};
        return &survey->processes[survey->n++];
}

static bool count_event(Survey *survey, uint32_t event)
{
        uint64_t *n_samples;

        if (event >= survey->n_events) {
                n_samples = realloc(survey->n_samples, (event + 1) * sizeof(*n_samples));
                if (!n_samples)
                        return false;
                memset(n_samples + survey->n_events, 0,
                       (event + 1 - survey->n_events) * sizeof(*n_samples));
                survey->n_samples = n_samples;
                survey->n_events = event + 1;
        }
        survey->n_samples[event]++;
        return true;
}

bool survey_sample(Survey *survey, const BatchSample *sample)
{
        SurveyProcess *process = survey_find(survey, sample->pid);

        if (!process || !count_event(survey, sample->event))
                return false;
        survey->last = process;
        process->n_samples++;
        if (sample->time < process->first)
                process->first = sample->time;
        if (sample->time > process->last)
                process->last = sample->time;
        if (process->comm == INDEX_NONE || (sample->pid == sample->tid && !process->has_main))
                process->comm = sample->comm;
        process->has_main |= sample->pid == sample->tid;
        return true;
}

bool survey_address(Survey *survey, uint64_t address, uint64_t time)
{
        SurveyProcess *process = survey->last;
        size_t i;

        if (process->n_seen++ % process->stride)
                return true;
        if (!process->addresses) {
                process->addresses = malloc(MAX_ADDRESSES * sizeof(*process->addresses));
                if (!process->addresses)
                        return false;
        }
        if (process->n_addresses == MAX_ADDRESSES) {
                for (i = 0; i < MAX_ADDRESSES / 2; i++)
                        process->addresses[i] = process->addresses[2 * i];
                process->n_addresses = MAX_ADDRESSES / 2;
                process->stride *= 2;
        }
        process->addresses[process->n_addresses++] = (SurveyAddress){address, time};
        return true;
}

void survey_write(const Survey *survey, FILE *file)
{
        uint32_t event;
        size_t i, j;

        fprintf(file, "clock %d\nstacks %s\n", survey->clock_id,
                survey->stacks ? survey->stacks : "none");
        for (event = 0; event < survey->n_events; event++)
                if (survey->n_samples[event])
                        fprintf(file, "event %" PRIu64 " %s\n", survey->n_samples[event],
                                frames_get(survey->frames, event).name);
        for (i = 0; i < survey->n; i++) {
                const SurveyProcess *process = &survey->processes[i];

                fprintf(file, "process %" PRId32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
                        process->pid, process->n_samples, process->first, process->last,
                        frames_get(survey->frames, process->comm).name);
                for (j = 0; j < process->n_addresses; j++)
                        fprintf(file, "address %" PRId32 " %" PRIx64 " %" PRIu64 "\n", process->pid,
                                process->addresses[j].address, process->addresses[j].time);
        }
}
