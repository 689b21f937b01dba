/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The versions of babeltrace2's message interchange protocol (MIP)
 *
 * MIP 0 is of babeltrace2 2.0 and CTF 1.8; CTF 2 needs MIP 1, of babeltrace2 2.1. This file has the
 * functions that MIP 1 renamed, or that abort there. Built with babeltrace2 2.0, it declares only
 * MIP 0.
 */

#include "ctf/class.h"

#include <babeltrace2/babeltrace.h>

bt_component_class_get_supported_mip_versions_method_status
graph_mip_sink_versions(bt_self_component_class_sink *self, const bt_value *params, void *data,
                        bt_logging_level log_level, bt_integer_range_set_unsigned *versions);
bt_component_class_get_supported_mip_versions_method_status
graph_mip_source_versions(bt_self_component_class_source *self, const bt_value *params, void *data,
                          bt_logging_level log_level, bt_integer_range_set_unsigned *versions);
bt_component_class_get_supported_mip_versions_method_status
graph_mip_filter_versions(bt_self_component_class_filter *self, const bt_value *params, void *data,
                          bt_logging_level log_level, bt_integer_range_set_unsigned *versions);

/* The UUID of a trace, or a hash of another uid. False: the trace has neither. */
bool graph_mip_trace_uuid(const bt_trace *trace, uint8_t ret_uuid[16]);
/* False: the clock class has no uid, or one that is not a UUID. */
bool graph_mip_clock_uuid(const bt_clock_class *clock_class, uint8_t ret_uuid[16]);

void graph_mip_set_trace_identity(uint64_t mip, bt_trace *trace, const CtfTraceClass *class);
void graph_mip_set_clock_identity(uint64_t mip, bt_clock_class *clock_class, const CtfClock *clock);

/* Copies the identity: a UUID, or a namespace and a uid; for a clock also its origin. */
void graph_mip_copy_trace_identity(uint64_t mip, const bt_trace *original, bt_trace *copy);
void graph_mip_copy_stream_class_identity(uint64_t mip, const bt_stream_class *original,
                                          bt_stream_class *copy);
void graph_mip_copy_event_class_identity(uint64_t mip, const bt_event_class *original,
                                         bt_event_class *copy);
void graph_mip_copy_clock_identity(uint64_t mip, const bt_clock_class *original,
                                   bt_clock_class *copy);

/*
 * An array class whose length is the member LENGTH_NAME, of class LENGTH, of the structure SCOPE.
 * LENGTH NULL: no field has the length.
 */
bt_field_class *graph_mip_array_new(uint64_t mip, bt_trace_class *trace_class,
                                    bt_field_class *element, CtfScope scope,
                                    const char *length_name, bt_field_class *length);
bt_field_class *graph_mip_variant_new(uint64_t mip, bt_trace_class *trace_class);
