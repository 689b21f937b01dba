/* SPDX-License-Identifier: MIT */

/*
 * Process gaps in checkpoints: most processes have none
 */

#include "tracker/checkpoint-parts.h"

void checkpoint_gap(CheckpointIo *io, Gap *gap)
{
        checkpoint_u64(io, &gap->begin);
        checkpoint_u64(io, &gap->end);
}

void checkpoint_rundown(CheckpointIo *io, Rundown *rundown)
{
        checkpoint_u64(io, &rundown->begin);
        checkpoint_u64(io, &rundown->end);
}

static void checkpoint_unannounced(CheckpointIo *io, UnannouncedBody *body)
{
        checkpoint_u64(io, &body->start);
        checkpoint_u64(io, &body->method_id);
        checkpoint_u64(io, &body->time);
}

static void checkpoint_process_gaps(CheckpointIo *io, ProcessGaps *gaps)
{
        checkpoint_u64(io, &gaps->open_since);
        checkpoint_rundown(io, &gaps->deferred);
        checkpoint_u64(io, &gaps->unannounced_since);
        checkpoint_u64(io, &gaps->missing_since);
        checkpoint_u64(io, &gaps->inference_end);
        checkpoint_u32(io, &gaps->n_more_unannounced);
}

static void checkpoint_put_gaps(CheckpointIo *io, CheckpointTag tag, const GArray *gaps)
{
        guint i;

        for (i = 0; i < gaps->len; i++) {
                checkpoint_begin(io, tag);
                checkpoint_gap(io, &g_array_index(gaps, Gap, i));
        }
}

void checkpoint_put_process_gaps(CheckpointIo *io, ProcessGaps *gaps)
{
        guint i;

        checkpoint_begin(io, CHECKPOINT_PROCESS_GAPS);
        checkpoint_process_gaps(io, gaps);
        checkpoint_put_gaps(io, CHECKPOINT_INFERRED_GAP, gaps->inferred);
        checkpoint_put_gaps(io, CHECKPOINT_REPORTED_GAP, gaps->reported);
        for (i = 0; i < gaps->unannounced->len; i++) {
                checkpoint_begin(io, CHECKPOINT_UNANNOUNCED);
                checkpoint_unannounced(io, &g_array_index(gaps->unannounced, UnannouncedBody, i));
        }
}

void checkpoint_get_process_gaps(CheckpointIo *io, ProcessGaps *gaps)
{
        checkpoint_process_gaps(io, gaps);
}

void checkpoint_get_process_gap(CheckpointIo *io, ProcessGaps *gaps, bool is_reported)
{
        Gap gap;

        checkpoint_gap(io, &gap);
        process_gaps_restore(gaps, is_reported, gap);
}

void checkpoint_get_unannounced(CheckpointIo *io, ProcessGaps *gaps)
{
        UnannouncedBody body;

        checkpoint_unannounced(io, &body);
        process_gaps_add_unannounced(gaps, &body);
}
