/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Queries of source.clrsym.ctf: babeltrace.support-info and babeltrace.trace-infos
 */

#include <babeltrace2/babeltrace.h>

bt_component_class_query_method_status source_query(bt_self_component_class_source *self,
                                                    bt_private_query_executor *executor,
                                                    const char *object, const bt_value *params,
                                                    void *data, const bt_value **ret_result);
