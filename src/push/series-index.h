/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Series index: the series of the processes of one part after another
 *
 * A process is often over when its last part is looked at: it then has the series that it had in
 * the part before.
 */

#include "push/process-series.h"

typedef struct SeriesIndex SeriesIndex;

SeriesIndex *series_index_new(void);
/* NULL is fine. */
void series_index_free(SeriesIndex *index);

/* As process_series_init(), with what is known of the part before. Borrowed until the next call. */
const ProcessSeries *series_index_find(SeriesIndex *index, int32_t pid, uint64_t time,
                                       const char *comm);
/* A process that was in no sample of this part is forgotten. */
void series_index_end_part(SeriesIndex *index);
