/* SPDX-License-Identifier: MIT */
#include "push/series-index.h"

typedef struct Indexed {
        ProcessSeries series; /* owned */
        char *comm;           /* owned: if it changes, another process has the pid */
        unsigned part;        /* the newest part with it */
} Indexed;

struct SeriesIndex {
        GHashTable *processes; /* pid -> owned Indexed */
        unsigned part;
};

static void indexed_free(void *data)
{
        Indexed *indexed = data;

        process_series_clear(&indexed->series);
        g_free(indexed->comm);
        g_free(indexed);
}

SeriesIndex *series_index_new(void)
{
        SeriesIndex *index = g_new0(SeriesIndex, 1);

        index->processes = g_hash_table_new_full(NULL, NULL, NULL, indexed_free);
        return index;
}

void series_index_free(SeriesIndex *index)
{
        if (!index)
                return;
        g_hash_table_unref(index->processes);
        g_free(index);
}

const ProcessSeries *series_index_find(SeriesIndex *index, int32_t pid, uint64_t time,
                                       const char *comm)
{
        Indexed *known = g_hash_table_lookup(index->processes, GINT_TO_POINTER(pid));
        ProcessSeries series;

        if (!process_series_init(&series, pid, time, comm) && known &&
            !g_strcmp0(known->comm, comm)) {
                process_series_clear(&series);
        } else {
                known = g_new0(Indexed, 1);
                *known = (Indexed){.series = series, .comm = g_strdup(comm)};
                g_hash_table_insert(index->processes, GINT_TO_POINTER(pid), known);
        }
        known->part = index->part;
        return &known->series;
}

static gboolean indexed_is_old(gpointer pid, gpointer data, gpointer index)
{
        return ((const Indexed *)data)->part != ((const SeriesIndex *)index)->part;
}

void series_index_end_part(SeriesIndex *index)
{
        g_hash_table_foreach_remove(index->processes, indexed_is_old, index);
        index->part++;
}
