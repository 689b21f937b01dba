/* SPDX-License-Identifier: MIT */

/*
 * Lapses in images: most processes have none
 */

#include "core/image-parts.h"

static void image_lapses(ImageIo *io, Lapses *lapses)
{
        image_field(io, lapses->open);
        image_field(io, lapses->waiting);
        image_field(io, lapses->strangers_since);
        image_field(io, lapses->lacking_since);
        image_field(io, lapses->doubt_end);
        image_field(io, lapses->n_unlisted);
}

static void put_gaps(ImageIo *io, ImageTag tag, const GArray *gaps)
{
        guint i;

        for (i = 0; i < gaps->len; i++) {
                image_begin(io, tag);
                image_field(io, g_array_index(gaps, Gap, i));
        }
}

void image_put_lapses(ImageIo *io, Lapses *lapses)
{
        guint i;

        image_begin(io, IMAGE_LAPSES);
        image_lapses(io, lapses);
        put_gaps(io, IMAGE_LAPSE, lapses->proven);
        put_gaps(io, IMAGE_TOLD_LAPSE, lapses->told);
        for (i = 0; i < lapses->strangers->len; i++) {
                image_begin(io, IMAGE_STRANGER);
                image_field(io, g_array_index(lapses->strangers, Stranger, i));
        }
}

void image_get_lapses(ImageIo *io, Lapses *lapses)
{
        image_lapses(io, lapses);
}

void image_get_lapse(ImageIo *io, Lapses *lapses, bool is_told)
{
        Gap gap;

        image_field(io, gap);
        lapses_restore(lapses, is_told, gap);
}

void image_get_stranger(ImageIo *io, Lapses *lapses)
{
        Stranger stranger;

        image_field(io, stranger);
        lapses_add_stranger(lapses, &stranger);
}
