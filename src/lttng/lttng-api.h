/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * LTTng API: liblttng-ctl, loaded when it is first needed
 *
 * Few verbs talk to LTTng; the others need not wait until that library and its dependencies are
 * loaded.
 */

#include <glib.h>
#include <lttng/lttng.h>

#define LTTNG_API(X)                                                                               \
        X(lttng_add_context)                                                                       \
        X(lttng_channel_create)                                                                    \
        X(lttng_channel_destroy)                                                                   \
        X(lttng_channel_get_discarded_event_count)                                                 \
        X(lttng_channel_get_lost_packet_count)                                                     \
        X(lttng_create_handle)                                                                     \
        X(lttng_create_session_ext)                                                                \
        X(lttng_destroy_handle)                                                                    \
        X(lttng_destroy_session_ext)                                                               \
        X(lttng_destruction_handle_destroy)                                                        \
        X(lttng_destruction_handle_wait_for_completion)                                            \
        X(lttng_enable_channel)                                                                    \
        X(lttng_enable_event)                                                                      \
        X(lttng_event_create)                                                                      \
        X(lttng_event_destroy)                                                                     \
        X(lttng_list_channels)                                                                     \
        X(lttng_list_domains)                                                                      \
        X(lttng_list_events)                                                                       \
        X(lttng_list_sessions)                                                                     \
        X(lttng_list_tracepoints)                                                                  \
        X(lttng_process_attr_tracker_handle_destroy)                                               \
        X(lttng_process_attr_tracker_handle_set_tracking_policy)                                   \
        X(lttng_process_attr_virtual_process_id_tracker_handle_add_pid)                            \
        X(lttng_save_session)                                                                      \
        X(lttng_save_session_attr_create)                                                          \
        X(lttng_save_session_attr_destroy)                                                         \
        X(lttng_save_session_attr_set_output_url)                                                  \
        X(lttng_save_session_attr_set_session_name)                                                \
        X(lttng_session_daemon_alive)                                                              \
        X(lttng_session_descriptor_destroy)                                                        \
        X(lttng_session_descriptor_live_network_create)                                            \
        X(lttng_session_descriptor_local_create)                                                   \
        X(lttng_session_get_tracker_handle)                                                        \
        X(lttng_start_tracing)                                                                     \
        X(lttng_stop_tracing)                                                                      \
        X(lttng_stop_tracing_no_wait)                                                              \
        X(lttng_strerror)

typedef struct LttngApi {
#define LTTNG_API_MEMBER(name) __typeof__(name) *name;
        LTTNG_API(LTTNG_API_MEMBER)
#undef LTTNG_API_MEMBER
        /* Of LTTng 2.15 and later, with an enum that has the numbers of TraceFormat. NULL: an older
         * version. */
        enum lttng_session_descriptor_status (*lttng_session_descriptor_set_trace_format)(
                struct lttng_session_descriptor *descriptor, unsigned format);
} LttngApi;

/* NULL with ERROR set: it is not installed, or too old. Not thread-safe. */
const LttngApi *lttng_api(GError **error);
