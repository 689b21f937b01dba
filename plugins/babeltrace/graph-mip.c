/* SPDX-License-Identifier: MIT */
#include "graph-mip.h"

#include <string.h>

#ifdef HAVE_MIP_1
#define MAX_MIP 1
#else
#define MAX_MIP 0
#endif

static bt_component_class_get_supported_mip_versions_method_status
graph_mip_versions(bt_integer_range_set_unsigned *versions)
{
        return bt_integer_range_set_unsigned_add_range(versions, 0, MAX_MIP) ==
                               BT_INTEGER_RANGE_SET_ADD_RANGE_STATUS_OK
                       ? BT_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_STATUS_OK
                       : BT_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_STATUS_MEMORY_ERROR;
}

bt_component_class_get_supported_mip_versions_method_status
graph_mip_sink_versions(bt_self_component_class_sink *self, const bt_value *params, void *data,
                        bt_logging_level log_level, bt_integer_range_set_unsigned *versions)
{
        return graph_mip_versions(versions);
}

bt_component_class_get_supported_mip_versions_method_status
graph_mip_source_versions(bt_self_component_class_source *self, const bt_value *params, void *data,
                          bt_logging_level log_level, bt_integer_range_set_unsigned *versions)
{
        return graph_mip_versions(versions);
}

bt_component_class_get_supported_mip_versions_method_status
graph_mip_filter_versions(bt_self_component_class_filter *self, const bt_value *params, void *data,
                          bt_logging_level log_level, bt_integer_range_set_unsigned *versions)
{
        return graph_mip_versions(versions);
}

static bool copy_uuid(bt_uuid uuid, uint8_t ret_uuid[16])
{
        if (uuid)
                memcpy(ret_uuid, uuid, 16);
        return uuid != NULL;
}

bool graph_mip_trace_uuid(const bt_trace *trace, uint8_t ret_uuid[16])
{
#ifdef HAVE_MIP_1
        if (bt_trace_class_get_graph_mip_version(bt_trace_borrow_class_const(trace)) > 0) {
                const char *uid = bt_trace_get_uid(trace);

                if (uid)
                        ctf_uuid_from_uid(bt_trace_get_namespace(trace), uid, ret_uuid);
                return uid != NULL;
        }
#endif
        return copy_uuid(bt_trace_get_uuid(trace), ret_uuid);
}

bool graph_mip_clock_uuid(const bt_clock_class *clock_class, uint8_t ret_uuid[16])
{
#ifdef HAVE_MIP_1
        if (bt_clock_class_get_graph_mip_version(clock_class) > 0) {
                const char *uid = bt_clock_class_get_uid(clock_class);

                return uid && ctf_uuid_from_text(uid, ret_uuid);
        }
#endif
        return copy_uuid(bt_clock_class_get_uuid(clock_class), ret_uuid);
}

#ifdef HAVE_MIP_1
static char *uuid_text(const uint8_t uuid[16])
{
        GString *text = g_string_new(NULL);
        unsigned i;

        for (i = 0; i < 16; i++)
                g_string_append_printf(text, "%s%02x",
                                       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
        return g_string_free(text, FALSE);
}
#endif

void graph_mip_set_trace_identity(uint64_t mip, bt_trace *trace, const CtfTraceClass *class)
{
#ifdef HAVE_MIP_1
        if (mip > 0) {
                g_autofree char *text = class->has_uuid ? uuid_text(class->uuid) : NULL;

                if (class->name_space)
                        (void)bt_trace_set_namespace(trace, class->name_space);
                if (class->uid || text)
                        (void)bt_trace_set_uid(trace, class->uid ? class->uid : text);
                return;
        }
#endif
        if (class->has_uuid)
                bt_trace_set_uuid(trace, class->uuid);
}

void graph_mip_set_clock_identity(uint64_t mip, bt_clock_class *clock_class, const CtfClock *clock)
{
        uint8_t uuid[16];

        if (!clock->uid)
                return;
#ifdef HAVE_MIP_1
        if (mip > 0) {
                (void)bt_clock_class_set_uid(clock_class, clock->uid);
                return;
        }
#endif
        if (ctf_uuid_from_text(clock->uid, uuid))
                bt_clock_class_set_uuid(clock_class, uuid);
}

#ifdef HAVE_MIP_1
static const bt_field_location_scope SCOPES[_CTF_SCOPE_MAX] = {
        [CTF_SCOPE_PACKET_CONTEXT] = BT_FIELD_LOCATION_SCOPE_PACKET_CONTEXT,
        [CTF_SCOPE_EVENT_CONTEXT] = BT_FIELD_LOCATION_SCOPE_EVENT_COMMON_CONTEXT,
        [CTF_SCOPE_SPECIFIC_CONTEXT] = BT_FIELD_LOCATION_SCOPE_EVENT_SPECIFIC_CONTEXT,
        [CTF_SCOPE_PAYLOAD] = BT_FIELD_LOCATION_SCOPE_EVENT_PAYLOAD,
};

static bt_field_class *array_of_location(bt_trace_class *trace_class, bt_field_class *element,
                                         CtfScope scope, const char *length_name)
{
        const bt_field_location *location =
                bt_field_location_create(trace_class, SCOPES[scope], &length_name, 1);
        bt_field_class *array =
                location ? bt_field_class_array_dynamic_with_length_field_location_create(
                                   trace_class, element, location)
                         : NULL;

        if (location)
                bt_field_location_put_ref(location);
        return array;
}
#endif

bt_field_class *graph_mip_array_new(uint64_t mip, bt_trace_class *trace_class,
                                    bt_field_class *element, CtfScope scope,
                                    const char *length_name, bt_field_class *length)
{
#ifdef HAVE_MIP_1
        if (mip > 0)
                return length ? array_of_location(trace_class, element, scope, length_name)
                              : bt_field_class_array_dynamic_without_length_field_location_create(
                                        trace_class, element);
#endif
        return bt_field_class_array_dynamic_create(trace_class, element, length);
}

bt_field_class *graph_mip_variant_new(uint64_t mip, bt_trace_class *trace_class)
{
#ifdef HAVE_MIP_1
        if (mip > 0)
                return bt_field_class_variant_without_selector_field_location_create(trace_class);
#endif
        return bt_field_class_variant_create(trace_class, NULL);
}

void graph_mip_copy_trace_identity(uint64_t mip, const bt_trace *original, bt_trace *copy)
{
        bt_uuid uuid;

#ifdef HAVE_MIP_1
        if (mip > 0) {
                if (bt_trace_get_namespace(original))
                        (void)bt_trace_set_namespace(copy, bt_trace_get_namespace(original));
                if (bt_trace_get_uid(original))
                        (void)bt_trace_set_uid(copy, bt_trace_get_uid(original));
                return;
        }
#endif
        uuid = bt_trace_get_uuid(original);
        if (uuid)
                bt_trace_set_uuid(copy, uuid);
}

void graph_mip_copy_stream_class_identity(uint64_t mip, const bt_stream_class *original,
                                          bt_stream_class *copy)
{
#ifdef HAVE_MIP_1
        if (mip > 0 && bt_stream_class_get_namespace(original))
                (void)bt_stream_class_set_namespace(copy, bt_stream_class_get_namespace(original));
        if (mip > 0 && bt_stream_class_get_uid(original))
                (void)bt_stream_class_set_uid(copy, bt_stream_class_get_uid(original));
#endif
}

void graph_mip_copy_event_class_identity(uint64_t mip, const bt_event_class *original,
                                         bt_event_class *copy)
{
#ifdef HAVE_MIP_1
        if (mip > 0 && bt_event_class_get_namespace(original))
                (void)bt_event_class_set_namespace(copy, bt_event_class_get_namespace(original));
        if (mip > 0 && bt_event_class_get_uid(original))
                (void)bt_event_class_set_uid(copy, bt_event_class_get_uid(original));
#endif
}

#ifdef HAVE_MIP_1
static void clock_copy_uid(const bt_clock_class *original, bt_clock_class *copy)
{
        uint64_t cycles;

        if (bt_clock_class_get_namespace(original))
                (void)bt_clock_class_set_namespace(copy, bt_clock_class_get_namespace(original));
        if (bt_clock_class_get_uid(original))
                (void)bt_clock_class_set_uid(copy, bt_clock_class_get_uid(original));
        if (bt_clock_class_get_opt_precision(original, &cycles) ==
            BT_PROPERTY_AVAILABILITY_AVAILABLE)
                bt_clock_class_set_precision(copy, cycles);
        if (bt_clock_class_get_accuracy(original, &cycles) == BT_PROPERTY_AVAILABILITY_AVAILABLE)
                bt_clock_class_set_accuracy(copy, cycles);
        if (bt_clock_class_origin_is_unix_epoch(original))
                bt_clock_class_set_origin_unix_epoch(copy);
        else if (bt_clock_class_origin_is_known(original))
                (void)bt_clock_class_set_origin(copy, bt_clock_class_get_origin_namespace(original),
                                                bt_clock_class_get_origin_name(original),
                                                bt_clock_class_get_origin_uid(original));
        else
                bt_clock_class_set_origin_unknown(copy);
}
#endif

void graph_mip_copy_clock_identity(uint64_t mip, const bt_clock_class *original,
                                   bt_clock_class *copy)
{
        bt_uuid uuid;

#ifdef HAVE_MIP_1
        if (mip > 0) {
                clock_copy_uid(original, copy);
                return;
        }
#endif
        uuid = bt_clock_class_get_uuid(original);
        if (uuid)
                bt_clock_class_set_uuid(copy, uuid);
        bt_clock_class_set_precision(copy, bt_clock_class_get_precision(original));
        bt_clock_class_set_origin_is_unix_epoch(copy,
                                                bt_clock_class_origin_is_unix_epoch(original));
}
