/* SPDX-License-Identifier: MIT */
#include "perf/namer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Form *const FORMS[_FORM_MAX] = {
        [FORM_TEXT] = &form_text,
        [FORM_FOLDED] = &form_folded,
        [FORM_SINK] = &form_sink,
};

bool namer_fail(Namer *namer, const char *message)
{
        if (!*namer->message)
                snprintf(namer->message, sizeof(namer->message), "%s", message);
        return false;
}

bool namer_fail_no_memory(Namer *namer)
{
        return namer_fail(namer, "no memory left");
}

bool namer_fail_write(Namer *namer, int error)
{
        char text[200];

        snprintf(text, sizeof(text), "cannot write the output: %s", strerror(error));
        return namer_fail(namer, text);
}

static bool namer_open_form(Namer *namer, const NamerTarget *target)
{
        char *message = NULL;
        int r;

        namer->form_state = namer->form->new ();
        if (!namer->form_state)
                return namer_fail_no_memory(namer);
        if (!images_init(&namer->images, namer->settings.mappings_fd))
                return namer_fail(namer, "--dlarg mappings: there are no mappings");
        r = batch_resolver_init(&namer->resolver, &namer->settings, &namer->frames, &namer->images,
                                target->handle, &message);
        namer->resolver.callers = target->callers;
        if (target->hiding != OSR_HIDING_AS_HERE)
                namer->resolver.hides_callers = target->hiding == OSR_HIDING;
        if (r < 0)
                namer_fail(namer, message ? message : strerror(-r));
        free(message);
        return r >= 0;
}

bool namer_init(Namer *namer, char **settings, int n, const NamerTarget *target)
{
        char reason[500];

        *namer = (Namer){0};
        if (!settings_read(&namer->settings, settings, n, reason, sizeof(reason)))
                return namer_fail(namer, reason);
        namer->form = FORMS[target->sink ? FORM_SINK : namer->settings.form];
        namer->context = (FormContext){&namer->settings, &namer->frames, &namer->out, target->sink};
        if (!frames_init(&namer->frames, namer->settings.style) ||
            !text_out_init(&namer->out, target->write, target->data))
                return namer_fail_no_memory(namer);
        return namer_open_form(namer, target);
}

void namer_deinit(Namer *namer)
{
        if (namer->form_state)
                namer->form->free(namer->form_state);
        batch_resolver_deinit(&namer->resolver);
        images_deinit(&namer->images);
        batch_deinit(&namer->batch);
        frames_deinit(&namer->frames);
        text_out_deinit(&namer->out);
        settings_deinit(&namer->settings);
}

bool namer_is_full(const Namer *namer)
{
        return batch_is_full(&namer->batch);
}

/* The name of the costly process is that of its samples. */
static void namer_note_costly(Namer *namer)
{
        CostlyProcess *costly = &namer->costly;
        size_t i;

        if (!costly->pid)
                costly->pid = images_costly_process(&namer->images);
        if (!costly->pid)
                costly->pid = clrsym_lines_costly_process(namer->resolver.lines);
        for (i = 0; costly->pid && !*costly->name && i < namer->batch.n_samples; i++)
                if (namer->batch.samples[i].pid == costly->pid)
                        snprintf(costly->name, sizeof(costly->name), "%s",
                                 frames_get(&namer->frames, namer->batch.samples[i].comm).name);
}

bool namer_flush(Namer *namer)
{
        int r = batch_resolver_run(&namer->resolver, &namer->batch);
        size_t i;

        namer_note_costly(namer);
        if (r == -ENOMEM)
                return namer_fail_no_memory(namer);
        if (r < 0)
                return namer_fail(namer, clrsym_message(namer->resolver.handle));
        for (i = 0; i < namer->batch.n_samples; i++) {
                const BatchSample *sample = &namer->batch.samples[i];

                if (!namer->form->add(namer->form_state, &namer->context, sample,
                                      namer->batch.entries + sample->first))
                        return namer_fail_no_memory(namer);
        }
        batch_clear(&namer->batch);
        if (frames_is_full(&namer->frames)) {
                if (!namer->form->forget(namer->form_state, &namer->context))
                        return namer_fail_no_memory(namer);
                frames_clear(&namer->frames);
        }
        return text_out_flush(&namer->out) || namer_fail_write(namer, namer->out.error);
}

bool namer_report_costly(const Namer *namer, char *buffer, size_t n)
{
        const CostlyProcess *costly = &namer->costly;

        if (costly->pid)
                snprintf(buffer, n,
                         "names and source lines of %s (%d) can be missing: its files are larger "
                         "than the %d MiB a minute that are read for a process",
                         *costly->name ? costly->name : "a process", (int)costly->pid,
                         (int)(SOURCES_MAX_WORK >> 20));
        return costly->pid != 0;
}

bool namer_end(Namer *namer)
{
        if (!namer_flush(namer))
                return false;
        if (!namer->form->end(namer->form_state, &namer->context))
                return namer_fail_no_memory(namer);
        return text_out_flush(&namer->out) || namer_fail_write(namer, namer->out.error);
}
