/* SPDX-License-Identifier: MIT */
#include "cli/json-field.h"
#include "cli/answer-source.h"
#include "cli/output.h"
#include "cli/verbs.h"

#include <string.h>

/* OpenMetrics, as the daemon spells it. */
bool verb_metrics(const Options *options, GError **error)
{
        g_autoptr(AnswerSource) source = answer_source_open(options, ANSWER_SOURCE_PLAIN, error);
        json_auto_t *metrics = NULL;
        const char *text;
        JsonSpan reply;

        if (!source || !answer_source_call(source, "Metrics", json_object(), 0, &reply, error))
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
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "the reply has no \"text\"");
        return text != NULL;
}
