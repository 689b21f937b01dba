/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * sink.clrsym.feed: decoded .NET events to the daemon
 */

#include <babeltrace2/babeltrace.h>

bt_component_class_initialize_method_status
feed_initialize(bt_self_component_sink *self, bt_self_component_sink_configuration *configuration,
                const bt_value *params, void *data);
void feed_finalize(bt_self_component_sink *self);
bt_component_class_sink_graph_is_configured_method_status
feed_graph_is_configured(bt_self_component_sink *self);
bt_component_class_sink_consume_method_status feed_consume(bt_self_component_sink *self);
