/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * sink.clrsym.dump: decoded .NET events as JSON lines, or a perf map
 */

#include <babeltrace2/babeltrace.h>

bt_component_class_initialize_method_status
dump_initialize(bt_self_component_sink *self, bt_self_component_sink_configuration *configuration,
                const bt_value *params, void *data);
void dump_finalize(bt_self_component_sink *self);
bt_component_class_sink_graph_is_configured_method_status
dump_graph_is_configured(bt_self_component_sink *self);
bt_component_class_sink_consume_method_status dump_consume(bt_self_component_sink *self);
