/* SPDX-License-Identifier: MIT */
#pragma once

/* filter.clrsym.names: adds the names of managed code to events that have addresses */

#include <babeltrace2/babeltrace.h>

bt_component_class_initialize_method_status
names_initialize(bt_self_component_filter *self,
                 bt_self_component_filter_configuration *configuration, const bt_value *params,
                 void *data);
void names_finalize(bt_self_component_filter *self);

bt_message_iterator_class_initialize_method_status
names_iterator_initialize(bt_self_message_iterator *self,
                          bt_self_message_iterator_configuration *configuration,
                          bt_self_component_port_output *port);
void names_iterator_finalize(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status names_iterator_next(bt_self_message_iterator *self,
                                                                 bt_message_array_const messages,
                                                                 uint64_t capacity,
                                                                 uint64_t *ret_n);
bt_message_iterator_class_can_seek_beginning_method_status
names_iterator_can_seek_beginning(bt_self_message_iterator *self, bt_bool *ret_can);
bt_message_iterator_class_seek_beginning_method_status
names_iterator_seek_beginning(bt_self_message_iterator *self);
