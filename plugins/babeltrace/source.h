/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Component class source.clrsym.ctf: reads CTF traces with the reader of src/ctf, and emits .NET
 * events with named fields
 */

#include <babeltrace2/babeltrace.h>

bt_component_class_initialize_method_status
source_initialize(bt_self_component_source *self,
                  bt_self_component_source_configuration *configuration, const bt_value *params,
                  void *data);
void source_finalize(bt_self_component_source *self);

bt_message_iterator_class_initialize_method_status
source_iterator_initialize(bt_self_message_iterator *self,
                           bt_self_message_iterator_configuration *configuration,
                           bt_self_component_port_output *port);
void source_iterator_finalize(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status source_iterator_next(bt_self_message_iterator *self,
                                                                  bt_message_array_const messages,
                                                                  uint64_t capacity,
                                                                  uint64_t *count);
bt_message_iterator_class_seek_beginning_method_status
source_iterator_seek_beginning(bt_self_message_iterator *self);
bt_message_iterator_class_can_seek_beginning_method_status
source_iterator_can_seek_beginning(bt_self_message_iterator *self, bt_bool *can_seek);
