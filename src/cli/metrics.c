/* SPDX-License-Identifier: MIT */
#include "cli/json-field.h"
#include "cli/link.h"
#include "cli/output.h"
#include "cli/verbs.h"

#include <string.h>

/* OpenMetrics, as the daemon spells it. */
bool verb_metrics(const Options *options, GError **error)
{
        g_autoptr(Link) link = link_open(options, LINK_PLAIN, error);
        const char *text;
        json_t *metrics;
        JsonSpan reply;

        if (!link || !link_call(link, "Metrics", json_object(), 0, &reply, error))
                return false;
        if (options_has(options, OPTION_JSON)) {
                output_line(reply.at, reply.n);
                return true;
        }
        metrics = json_span_load(reply);
        text = field_text(metrics, "text");
        if (text)
                output_bytes(text, strlen(text));
        else
                g_set_error(error, LINK_ERROR, 0, "the reply has no \"text\"");
        json_decref(metrics);
        return text != NULL;
}
