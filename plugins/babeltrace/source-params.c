/* SPDX-License-Identifier: MIT */
#include "source-params.h"

#include "params.h"

static const Param PARAMS[] = {
        {"inputs", PARAM_STRINGS},
        {"all", PARAM_BOOL},
        {"trace-name", PARAM_STRING},
};

bool source_params_init(SourceParams *source, const bt_value *params, char **ret_error)
{
        const bt_value *inputs;
        uint64_t i;

        source->inputs = g_ptr_array_new_with_free_func(g_free);
        if (!bt_value_is_map(params)) {
                *ret_error = g_strdup("The parameters are not a map");
                return false;
        }
        *ret_error = params_error(params, PARAMS, G_N_ELEMENTS(PARAMS));
        if (*ret_error)
                return false;
        inputs = bt_value_map_borrow_entry_value_const(params, "inputs");
        for (i = 0; inputs && i < bt_value_array_get_length(inputs); i++)
                g_ptr_array_add(source->inputs,
                                g_strdup(bt_value_string_get(
                                        bt_value_array_borrow_element_by_index_const(inputs, i))));
        if (source->inputs->len == 0) {
                *ret_error = g_strdup("Parameter `inputs` is missing: a list of directories with "
                                      "traces, such as inputs=[\"/tmp/my-trace\"]");
                return false;
        }
        source->has_others = params_bool(params, "all");
        source->trace_name = g_strdup(params_string(params, "trace-name"));
        return true;
}

void source_params_deinit(SourceParams *source)
{
        if (source->inputs)
                g_ptr_array_unref(source->inputs);
        g_free(source->trace_name);
        *source = (SourceParams){0};
}
