/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Series index: the series of processes, from part to part
 *
 * A process has often ended when its last part is named: then it has the series of the part before.
 */

#include "push/process-series.h"

typedef struct SeriesIndex SeriesIndex;

SeriesIndex *series_index_new(void);
/* NULL is fine. */
void series_index_free(SeriesIndex *index);

/* Like process_series_init(), but knows the processes of the part before. Borrowed until the next
 * call. */
const ProcessSeries *series_index_find(SeriesIndex *index, int32_t pid, uint64_t time,
                                       const char *comm);
/* Processes without a sample in this part are dropped. */
void series_index_end_part(SeriesIndex *index);
