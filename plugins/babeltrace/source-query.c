/* SPDX-License-Identifier: MIT */
#include "source-query.h"

#include "ctf/error.h"
#include "ctf/metadata.h"
#include "ctf/reader.h"
#include "source-params.h"
#include "util/fd.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

/*
 * Below the weight of source.ctf.fs (0.75), which shows every event: `babeltrace2 DIRECTORY` takes
 * this source only if that one cannot read a trace with .NET events.
 */
#define WEIGHT 0.25

static bt_component_class_query_method_status query_fail(bt_self_component_class_source *self,
                                                         const char *reason)
{
        BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT_CLASS(
                bt_self_component_class_source_as_self_component_class(self), "%s", reason);
        return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_ERROR;
}

static const char *query_text(const bt_value *params, const char *name)
{
        const bt_value *value = bt_value_is_map(params)
                                        ? bt_value_map_borrow_entry_value_const(params, name)
                                        : NULL;

        return value && bt_value_is_string(value) ? bt_value_string_get(value) : NULL;
}

static bool trace_has_dotnet(const CtfTraceClass *trace)
{
        GHashTableIter streams, events;
        void *stream, *event;

        g_hash_table_iter_init(&streams, trace->streams);
        while (g_hash_table_iter_next(&streams, NULL, &stream)) {
                g_hash_table_iter_init(&events, ((CtfStreamClass *)stream)->events);
                while (g_hash_table_iter_next(&events, NULL, &event))
                        if (event_name_is_dotnet(((CtfEventClass *)event)->name))
                                return true;
        }
        return false;
}

/* All traces of one group go to one component. */
static void support_add_group(bt_value *result, const CtfTraceClass *trace)
{
        uint8_t uuid[16];
        char text[2 * sizeof(uuid) + 1];
        unsigned i;

        if (trace->has_uuid)
                memcpy(uuid, trace->uuid, sizeof(uuid));
        else if (trace->uid)
                ctf_uuid_from_uid(trace->name_space, trace->uid, uuid);
        else
                return;
        for (i = 0; i < sizeof(uuid); i++)
                g_snprintf(text + 2 * i, 3, "%02x", uuid[i]);
        (void)bt_value_map_insert_string_entry(result, "group", text);
}

static bt_component_class_query_method_status query_support(const bt_value *params,
                                                            const bt_value **ret_result)
{
        const char *type = query_text(params, "type"), *input = query_text(params, "input");
        g_autoptr(CtfTraceClass) trace = NULL;
        bt_value *result = bt_value_map_create();
        FD_AUTO int fd = -1;

        if (input && !g_strcmp0(type, "directory"))
                fd = open(input, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0)
                trace = ctf_metadata_read(fd, NULL);
        if (trace && trace_has_dotnet(trace)) {
                (void)bt_value_map_insert_real_entry(result, "weight", WEIGHT);
                support_add_group(result, trace);
        } else {
                (void)bt_value_map_insert_real_entry(result, "weight", 0);
        }
        *ret_result = result;
        return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK;
}

/* Finds the last packet of a stream. */
static bool stream_last_packet(const CtfDataStream *stream, CtfPacket *ret_packet, GError **error)
{
        const CtfDataFile *file = stream->files->pdata[stream->files->len - 1];
        FD_AUTO int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        CtfLayout *layout = file->layout;
        uint64_t offset = file->offset;

        if (fd < 0) {
                g_set_error(error, CTF_ERROR, CTF_ERROR_SYSTEM, "%s: %s", file->path,
                            g_strerror(errno));
                return false;
        }
        for (; offset < file->end; offset += ret_packet->size / 8)
                if (!ctf_packet_read(fd, file->end, offset, &layout, ret_packet, error))
                        return false;
        return true;
}

static bool infos_add_stream(bt_value *streams, const CtfDataStream *stream, GError **error)
{
        CtfPacket last = {0};
        bt_value *info, *range;

        if (bt_value_array_append_empty_map_element(streams, &info) !=
            BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK)
                return true;
        (void)bt_value_map_insert_string_entry(info, "port-name", "out");
        if (!stream_last_packet(stream, &last, error))
                return false;
        if (!stream->has_clock || !stream->packet.has_begin || !last.has_end ||
            bt_value_map_insert_empty_map_entry(info, "range-ns", &range) !=
                    BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK)
                return true;
        (void)bt_value_map_insert_signed_integer_entry(
                range, "begin", ctf_data_stream_order(stream, stream->packet.begin));
        (void)bt_value_map_insert_signed_integer_entry(range, "end",
                                                       ctf_data_stream_order(stream, last.end));
        return true;
}

/*
 * Adds the streams, in the order of their traces. The reader must still be at their first packets.
 */
static bool infos_add_streams(bt_value *result, const CtfReader *reader, GError **error)
{
        const GPtrArray *streams = ctf_reader_streams(reader);
        const CtfDataStream *previous = NULL;
        bt_value *trace = NULL, *infos = NULL;
        guint i;

        for (i = 0; i < streams->len; i++) {
                const CtfDataStream *stream = streams->pdata[i];

                if (!previous ||
                    memcmp(previous->identity->trace_uuid, stream->identity->trace_uuid, 16) != 0) {
                        if (bt_value_array_append_empty_map_element(result, &trace) !=
                                    BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK ||
                            bt_value_map_insert_empty_array_entry(trace, "stream-infos", &infos) !=
                                    BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK)
                                return true;
                }
                if (!infos_add_stream(infos, stream, error))
                        return false;
                previous = stream;
        }
        return true;
}

static bt_component_class_query_method_status query_traces(bt_self_component_class_source *self,
                                                           const bt_value *params,
                                                           const bt_value **ret_result)
{
        bt_component_class_query_method_status status;
        g_autoptr(GError) error = NULL;
        g_autofree char *reason = NULL;
        SourceParams source = {0};
        bt_value *result = bt_value_array_create();
        CtfReader *reader = NULL;
        bool is_ok = source_params_init(&source, params, &reason);

        if (is_ok)
                reader = ctf_reader_new_of((const char *const *)source.inputs->pdata,
                                           source.inputs->len, EVENT_USE_ALL, true, &error);
        is_ok = reader && infos_add_streams(result, reader, &error);
        if (is_ok) {
                *ret_result = result;
                status = BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK;
        } else {
                bt_value_put_ref(result);
                status = query_fail(self, reason ? reason : error->message);
        }
        ctf_reader_free(reader);
        source_params_deinit(&source);
        return status;
}

bt_component_class_query_method_status source_query(bt_self_component_class_source *self,
                                                    bt_private_query_executor *executor,
                                                    const char *object, const bt_value *params,
                                                    void *data, const bt_value **ret_result)
{
        if (!strcmp(object, "babeltrace.support-info"))
                return query_support(params, ret_result);
        if (!strcmp(object, "babeltrace.trace-infos"))
                return query_traces(self, params, ret_result);
        return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
}
