/* SPDX-License-Identifier: MIT */
#include "cli/json-field.h"
#include "cli/answer-source.h"
#include "cli/holder-limits.h"
#include "cli/output.h"
#include "cli/verbs.h"

#include <string.h>

#define END "# EOF\n"

/* Prints the daemon's TEXT, with the holder's limits before its end marker. LIMITS: taken over; may
 * be NULL. */
static void metrics_print(const char *text, json_t *limits)
{
        json_auto_t *rows = limits;
        g_autoptr(GString) out = g_string_new(text);

        if (rows && g_str_has_suffix(text, END)) {
                g_string_truncate(out, out->len - strlen(END));
                holder_limits_append_metrics(out, rows);
                g_string_append(out, END);
        }
        output_bytes(out->str, out->len);
}

/* Prints OpenMetrics text as the daemon sends it. */
bool verb_metrics(const Options *options, GError **error)
{
        g_autoptr(AnswerSource) source = answer_source_open(options, ANSWER_SOURCE_PLAIN, error);
        json_auto_t *metrics = NULL;
        const char *text;

        if (!source)
                return false;
        if (options_has(options, OPTION_JSON))
                return answer_source_print(source, "Metrics", error);
        metrics = answer_source_call(source, "Metrics", NULL, error);
        if (!metrics)
                return false;
        text = field_text(metrics, "text");
        if (!text) {
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "the reply has no \"text\"");
                return false;
        }
        metrics_print(text, options->trace ? NULL : holder_limits_ask());
        return true;
}
