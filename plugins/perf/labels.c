/* SPDX-License-Identifier: MIT */
#include "labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void labels_clear(Labels *labels)
{
        uint32_t i;

        for (i = 0; i < labels->n; i++)
                free(labels->texts[i]);
        labels->n = 0;
        if (labels->n_of)
                memset(labels->of, 0xff, labels->n_of * sizeof(*labels->of));
        index_clear(&labels->index);
}

void labels_deinit(Labels *labels)
{
        labels_clear(labels);
        free(labels->texts);
        free(labels->of);
        index_deinit(&labels->index);
        *labels = (Labels){0};
}

/* Where the run of characters of SET that ends TEXT[0, N) begins. */
static size_t run_begin(const char *text, size_t n, const char *set)
{
        while (n > 0 && strchr(set, text[n - 1]))
                n--;
        return n;
}

static void make_safe(char *text)
{
        size_t n = strlen(text), number = run_begin(text, n, "0123456789."), i;

        for (i = 0; i < n; i++)
                if (text[i] == ';')
                        text[i] = ':';
        for (i = run_begin(text, number, " "); i < number; i++)
                text[i] = '_';
        for (i = 0; text[i] == ' '; i++)
                text[i] = '_';
}

/* "[libcoreclr.so]": all that is known of a frame. */
static char *module_label(const char *module)
{
        const char *slash = module ? strrchr(module, '/') : NULL;
        char *text;

        if (slash)
                module = slash + 1;
        if (!module || !*module)
                module = "unknown";
        return asprintf(&text, *module == '[' ? "%s" : "[%s]", module) < 0 ? NULL : text;
}

static char *frame_label(const Labels *labels, const Frame *frame)
{
        const char *annotation = "";
        char *text;

        if (labels->is_annotated && frame->kind == STREAM_MANAGED)
                annotation = "_[j]";
        if (labels->is_annotated && frame->kind == STREAM_KERNEL)
                annotation = "_[k]";
        if (!frame->name)
                return module_label(frame->module);
        return asprintf(&text, "%s%s", frame->name, annotation) < 0 ? NULL : text;
}

static bool equal_text(const void *rows, uint32_t number, const void *key)
{
        return !strcmp(((char *const *)rows)[number], key);
}

/* Takes over TEXT, which may be NULL. */
static uint32_t add(Labels *labels, char *text)
{
        uint32_t number;
        uint64_t hash;

        if (!text)
                return INDEX_NONE;
        make_safe(text);
        hash = hash_text(0, text);
        number = index_find(&labels->index, hash, equal_text, labels->texts, text);
        if (number != INDEX_NONE) {
                free(text);
                return number;
        }
        if (labels->n == labels->n_texts) {
                uint32_t n = labels->n_texts ? labels->n_texts * 2 : 256;
                char **texts = realloc(labels->texts, n * sizeof(*texts));

                if (!texts) {
                        free(text);
                        return INDEX_NONE;
                }
                labels->texts = texts;
                labels->n_texts = n;
        }
        if (!index_add(&labels->index, hash, labels->n)) {
                free(text);
                return INDEX_NONE;
        }
        labels->texts[labels->n] = text;
        return labels->n++;
}

/* Room for the numbers of all frames. */
static bool make_room(Labels *labels, uint32_t n)
{
        size_t bigger = labels->n_of ? labels->n_of : 1024;
        uint32_t *of;

        if (n <= labels->n_of)
                return true;
        while (bigger < n)
                bigger *= 2;
        of = realloc(labels->of, bigger * sizeof(*of));
        if (!of)
                return false;
        memset(of + labels->n_of, 0xff, (bigger - labels->n_of) * sizeof(*of));
        labels->of = of;
        labels->n_of = bigger;
        return true;
}

uint32_t labels_frame(Labels *labels, const Frames *frames, uint32_t number)
{
        Frame frame = frames_get(frames, number);

        if (!make_room(labels, frames->n))
                return INDEX_NONE;
        if (labels->of[number] == INDEX_NONE)
                labels->of[number] = add(labels, frame_label(labels, &frame));
        return labels->of[number];
}

uint32_t labels_comm(Labels *labels, const Frames *frames, uint32_t number)
{
        const char *name = frames_get(frames, number).name;
        char *text;

        if (!make_room(labels, frames->n))
                return INDEX_NONE;
        if (labels->of[number] == INDEX_NONE) {
                text = strdup(*name ? name : "[unknown]");
                if (text && *text == '#')
                        *text = '_';
                labels->of[number] = add(labels, text);
        }
        return labels->of[number];
}
