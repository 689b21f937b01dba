/* SPDX-License-Identifier: MIT */
#include "perf/folded-labels.h"

#include "perf/folded-text.h"
#include "util/array.h"
#include "util/file-name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void folded_labels_clear(FoldedLabels *labels)
{
        uint32_t i;

        for (i = 0; i < labels->n; i++)
                free(labels->texts[i]);
        labels->n = 0;
        if (labels->n_of)
                memset(labels->of, 0xff, labels->n_of * sizeof(*labels->of));
        hash_index_clear(&labels->index);
}

void folded_labels_deinit(FoldedLabels *labels)
{
        folded_labels_clear(labels);
        free(labels->texts);
        free(labels->of);
        hash_index_deinit(&labels->index);
        *labels = (FoldedLabels){0};
}

/* "[libcoreclr.so]": the label of a frame without a name. */
static char *module_label(const char *module)
{
        char *text;

        module = file_name_of(module);
        if (!module || !*module)
                module = "unknown";
        return asprintf(&text, *module == '[' ? "%s" : "[%s]", module) < 0 ? NULL : text;
}

static char *frame_label(const FoldedLabels *labels, const NamedFrame *frame)
{
        const char *annotation = labels->is_annotated ? folded_annotation(frame->kind) : "";
        char *text;

        if (!frame->name)
                return module_label(frame->module);
        if (frame->file)
                return asprintf(&text, "%s:%s:%" PRIu32 "%s", frame->name,
                                file_name_of(frame->file), frame->line, annotation) < 0
                               ? NULL
                               : text;
        return asprintf(&text, "%s%s", frame->name, annotation) < 0 ? NULL : text;
}

static bool equal_text(const void *rows, uint32_t number, const void *key)
{
        return !strcmp(((char *const *)rows)[number], key);
}

/* Takes over TEXT, a label; NULL: no memory. */
static uint32_t folded_labels_add(FoldedLabels *labels, char *text)
{
        uint32_t number;
        uint64_t hash;

        if (!text)
                return INDEX_NONE;
        hash = hash_text(0, text);
        number = hash_index_find(&labels->index, hash, equal_text, labels->texts, text);
        if (number != INDEX_NONE) {
                free(text);
                return number;
        }
        if (!array_grow(&labels->texts, &labels->n_texts, labels->n + (size_t)1,
                        sizeof(*labels->texts)) ||
            !hash_index_add(&labels->index, hash, labels->n)) {
                free(text);
                return INDEX_NONE;
        }
        labels->texts[labels->n] = text;
        return labels->n++;
}

/* Makes room for labels of N frames. */
static bool folded_labels_make_room(FoldedLabels *labels, uint32_t n)
{
        const size_t n_old = labels->n_of;

        if (!array_grow(&labels->of, &labels->n_of, n, sizeof(*labels->of)))
                return false;
        if (labels->n_of > n_old)
                memset(labels->of + n_old, 0xff, (labels->n_of - n_old) * sizeof(*labels->of));
        return true;
}

uint32_t folded_labels_frame(FoldedLabels *labels, const Frames *frames, uint32_t number)
{
        NamedFrame frame = frames_get(frames, number);
        char *text;

        if (!folded_labels_make_room(labels, frames->n))
                return INDEX_NONE;
        if (labels->of[number] == INDEX_NONE) {
                text = frame_label(labels, &frame);
                if (text)
                        folded_escape_frame(text);
                labels->of[number] = folded_labels_add(labels, text);
        }
        return labels->of[number];
}

uint32_t folded_labels_comm(FoldedLabels *labels, const Frames *frames, uint32_t number)
{
        const char *name = frames_get(frames, number).name;
        char *text;

        if (!folded_labels_make_room(labels, frames->n))
                return INDEX_NONE;
        if (labels->of[number] == INDEX_NONE) {
                text = strdup(*name ? name : "[unknown]");
                if (text)
                        folded_escape_comm(text);
                labels->of[number] = folded_labels_add(labels, text);
        }
        return labels->of[number];
}
