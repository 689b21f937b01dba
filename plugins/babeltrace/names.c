/* SPDX-License-Identifier: MIT */
#include "names.h"

#include "message-copy.h"
#include "names-batch.h"
#include "params.h"

#include "perf/chain.h"
#include "util/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_NAME    "clr_debug_info"
#define DEFAULT_WAIT_MS 1000
#define MAX_WAIT_MS     60000
/* Limit of names in one event: the trace determines the length of a sequence. */
#define MAX_NAMES 65536

/* Messages named at a time; the last call of upstream may exceed it. */
#define MAX_READY 256

static const char *const DEFAULT_FIELDS[] = {"ip", "perf_ip", "callstack_user", "perf_callchain"};

static const Param PARAMS[] = {
        {"field-name", PARAM_STRING}, {"fields", PARAM_STRINGS},  {"socket", PARAM_STRING},
        {"trace", PARAM_STRING},      {"snapshot", PARAM_STRING}, {"style", PARAM_STRING},
        {"lines", PARAM_BOOL},        {"full-path", PARAM_BOOL},  {"wait", PARAM_INTEGER},
        {"clock", PARAM_STRING},
};

/* Notes, printed once, about events without names. */
typedef enum NamesNote {
        NAMES_NOTE_PROCESS,
        NAMES_NOTE_PID,
        NAMES_NOTE_TYPE,
        NAMES_NOTE_CLOCK,
        NAMES_NOTE_LONG,
        _NAMES_NOTE_MAX,
} NamesNote;

static const char *const NOTES[_NAMES_NOTE_MAX] = {
        [NAMES_NOTE_PROCESS] = "events have addresses and no process: record the context vpid, too "
                               "(lttng add-context -u -t vpid)",
        [NAMES_NOTE_PID] = "a process id is not in the range 0 to 2147483647: events with such a "
                           "process id have no names",
        [NAMES_NOTE_TYPE] = "a field of this name is neither an integer nor an array of integers, "
                            "so its events have no names for it: give other `fields`",
        [NAMES_NOTE_CLOCK] =
                "a trace does not say that its clock is CLOCK_MONOTONIC, so its events "
                "have no names: if the clock is that (perf record -k mono), add the "
                "parameter clock=\"monotonic\"",
        [NAMES_NOTE_LONG] = "an event has too many addresses: the first 65536 have names",
};

typedef struct Names {
        bt_self_component *self; /* borrowed */
        NamedFieldsSettings fields;
        NamesSettings settings;
        bool is_clock_monotonic;
        bool is_noted[_NAMES_NOTE_MAX];
} Names;

typedef struct NamesIterator {
        bt_self_message_iterator *self; /* borrowed */
        Names *names;                   /* borrowed */
        bt_message_iterator *upstream;  /* owned */
        MessageCopier copier;
        NamesBatch batch;
        GPtrArray *ready; /* owned array of owned copies with set fields */
        guint next_ready; /* index of the first untaken one */
        /* Status after the ready messages; OK: more may come. */
        bt_message_iterator_next_status upstream_status;
        const bt_error *error; /* owned: upstream's error; NULL: none */
} NamesIterator;

static void names_free(Names *names)
{
        g_free(names->fields.name);
        if (names->fields.fields)
                g_ptr_array_unref(names->fields.fields);
        g_free(names->settings.socket);
        g_free(names->settings.trace);
        g_free(names);
}

static GPtrArray *fields_of_params(const bt_value *params)
{
        const bt_value *list = bt_value_map_borrow_entry_value_const(params, "fields");
        GPtrArray *fields = g_ptr_array_new_with_free_func(g_free);
        uint64_t i;

        for (i = 0; !list && i < G_N_ELEMENTS(DEFAULT_FIELDS); i++)
                g_ptr_array_add(fields, g_strdup(DEFAULT_FIELDS[i]));
        for (i = 0; list && i < bt_value_array_get_length(list); i++)
                g_ptr_array_add(fields,
                                g_strdup(bt_value_string_get(
                                        bt_value_array_borrow_element_by_index_const(list, i))));
        return fields;
}

/* Returns NULL, or the error text, owned. */
static char *names_read_params(Names *names, const bt_value *params)
{
        const char *style = params_string(params, "style");
        const char *clock = params_string(params, "clock");
        const char *name = params_string(params, "field-name");
        const char *const sources[] = {params_string(params, "socket"),
                                       params_string(params, "trace"),
                                       params_string(params, "snapshot")};
        const bt_value *lines = bt_value_map_borrow_entry_value_const(params, "lines");
        int64_t wait = DEFAULT_WAIT_MS;

        if (!!sources[0] + !!sources[1] + !!sources[2] > 1)
                return g_strdup("Parameters `socket`, `trace` and `snapshot`: give one of them");
        if (style && !clrsym_style_from_name(style, &names->settings.style))
                return g_strdup_printf(
                        "Parameter `style`: there is no style \"%s\": give clr, csharp or short",
                        style);
        if (clock && strcmp(clock, "monotonic"))
                return g_strdup("Parameter `clock` must be \"monotonic\"");
        if (name && !*name)
                return g_strdup("Parameter `field-name` is empty: give the name of a field");
        (void)params_integer(params, "wait", &wait);
        if (wait < 0 || wait > MAX_WAIT_MS)
                return g_strdup_printf("Parameter `wait` must be 0 to %d milliseconds",
                                       MAX_WAIT_MS);
        names->fields.name = g_strdup(name ? name : DEFAULT_NAME);
        names->fields.fields = fields_of_params(params);
        names->settings.socket = g_strdup(sources[0]);
        names->settings.trace = g_strdup(sources[1] ? sources[1] : sources[2]);
        names->settings.has_lines = !lines || params_bool(params, "lines");
        names->settings.is_full_path = params_bool(params, "full-path");
        names->settings.wait_ms = names->settings.trace ? 0 : (unsigned)wait;
        names->is_clock_monotonic = clock != NULL;
        return NULL;
}

bt_component_class_initialize_method_status
names_initialize(bt_self_component_filter *self_filter,
                 bt_self_component_filter_configuration *configuration, const bt_value *params,
                 void *data)
{
        bt_self_component *self = bt_self_component_filter_as_self_component(self_filter);
        Names *names = g_new0(Names, 1);
        g_autofree char *reason = NULL;

        names->self = self;
        if (params_check(self, params, PARAMS, G_N_ELEMENTS(PARAMS))) {
                reason = names_read_params(names, params);
                if (reason)
                        BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self, "%s", reason);
                else if (bt_self_component_filter_add_input_port(self_filter, "in", NULL, NULL) ==
                                 BT_SELF_COMPONENT_ADD_PORT_STATUS_OK &&
                         bt_self_component_filter_add_output_port(self_filter, "out", NULL, NULL) ==
                                 BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
                        bt_self_component_set_data(self, names);
                        return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
                }
        }
        names_free(names);
        return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
}

void names_finalize(bt_self_component_filter *self)
{
        names_free(bt_self_component_get_data(bt_self_component_filter_as_self_component(self)));
}

/* FIELD: the name of the field that the note is about, or NULL. */
static void names_note(Names *names, NamesNote note, const char *field)
{
        if (!names->is_noted[note])
                fprintf(stderr, "clrsym: filter.clrsym.names: %s%s%s\n", field ? field : "",
                        field ? ": " : "", NOTES[note]);
        names->is_noted[note] = true;
}

static uint64_t integer_value(const bt_field *field)
{
        return bt_field_class_type_is(bt_field_get_class_type(field),
                                      BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)
                       ? bt_field_integer_unsigned_get_value(field)
                       : (uint64_t)bt_field_integer_signed_get_value(field);
}

static uint64_t member_value(const bt_field *structure, uint64_t number)
{
        return integer_value(
                bt_field_structure_borrow_member_field_by_index_const(structure, number));
}

/* -1: VALUE is no pid. */
static int32_t pid_of_value(uint64_t value)
{
        return value > INT32_MAX ? -1 : (int32_t)value;
}

/* False: no field identifies the process. Sets a pid of -1 if the field's value is no pid. */
static bool event_find_process(const EventCopy *event, clrsym_query *query)
{
        unsigned kind;
        size_t i;

        for (kind = 0; kind < _PID_MEMBER_MAX; kind++)
                for (i = 0; i < EVENT_N_ROOTS; i++) {
                        const NamedFields *fields = event->fields[i];

                        if (!event->originals[i] || fields->pids[kind] == NO_MEMBER)
                                continue;
                        query->pid =
                                pid_of_value(member_value(event->originals[i], fields->pids[kind]));
                        /* The vpid is a pid in that namespace. */
                        if (kind == PID_MEMBER_VPID && fields->pid_ns != NO_MEMBER) {
                                query->has_pid_ns = true;
                                query->pid_ns = member_value(event->originals[i], fields->pid_ns);
                        }
                        return true;
                }
        query->pid = pid_of_value((uint64_t)event->stream->pid);
        return event->stream->pid >= 0;
}

/* False: the clock is not the daemon's. */
static bool event_find_time(const EventCopy *event, clrsym_query *query)
{
        const uint64_t frequency = event->stream->class->frequency;
        unsigned __int128 time;

        if (!event->time || !event->stream->class->is_monotonic)
                return false;
        time = (unsigned __int128)bt_clock_snapshot_get_value(event->time) * NS_PER_SECOND /
               frequency;
        query->has_time = true;
        query->time = time > UINT64_MAX ? UINT64_MAX : (uint64_t)time;
        return true;
}

/* Names each address of a sequence. */
static bool iterator_name_sequence(NamesIterator *iterator, const bt_field *addresses,
                                   bt_field *names, clrsym_query *query)
{
        const uint64_t n = bt_field_array_get_length(addresses);
        const uint64_t n_named = MIN(n, MAX_NAMES);
        g_autofree uint64_t *words = g_new(uint64_t, n_named);
        Chain chain = chain_of(words, n_named);
        bool has_callee = false;
        ChainLink link;
        uint64_t i, next = 0;

        if (n > n_named)
                names_note(iterator->names, NAMES_NOTE_LONG, /* field= */ NULL);
        if (bt_field_array_dynamic_set_length(names, n_named) !=
            BT_FIELD_DYNAMIC_ARRAY_SET_LENGTH_STATUS_OK)
                return false;
        for (i = 0; i < n_named; i++)
                words[i] = integer_value(
                        bt_field_array_borrow_element_field_by_index_const(addresses, i));
        while (next < n_named) {
                const bool is_there = chain_next(&chain, &link);
                const uint64_t at = is_there ? n_named - chain.n - 1 : n_named;
                NameQuestion question = {0};

                /* Skipped elements, which are no addresses, have no names. */
                for (; next < at; next++)
                        if (!names_batch_add(
                                    &iterator->batch,
                                    bt_field_array_borrow_element_field_by_index(names, next),
                                    &question))
                                return false;
                if (!is_there)
                        break;
                question.ip = link.ip;
                question.has_callee = has_callee && link.is_user;
                if (query && link.is_user && link.ip) {
                        query->address = link.address;
                        question.query = query;
                }
                has_callee = question.query != NULL;
                if (!names_batch_add(&iterator->batch,
                                     bt_field_array_borrow_element_field_by_index(names, next++),
                                     &question))
                        return false;
        }
        return true;
}

static bool iterator_name_root(NamesIterator *iterator, const NamedFields *fields,
                               const bt_field *original, bt_field *copy, clrsym_query *query)
{
        guint i;

        for (i = 0; i < fields->members->len; i++) {
                const NamedMember *member = &g_array_index(fields->members, NamedMember, i);
                const bt_field *from = bt_field_structure_borrow_member_field_by_index_const(
                        original, member->from);
                bt_field *to = bt_field_structure_borrow_member_field_by_index(copy, member->to);
                NameQuestion question = {.query = query};

                if (member->is_sequence) {
                        if (!iterator_name_sequence(iterator, from, to, query))
                                return false;
                        continue;
                }
                question.ip = integer_value(from);
                if (query)
                        query->address = question.ip;
                if (!names_batch_add(&iterator->batch, to, &question))
                        return false;
        }
        return true;
}

static bool iterator_on_event(void *data, const EventCopy *event)
{
        NamesIterator *iterator = data;
        clrsym_query query = {0};
        bool is_known, has_fields = false;
        size_t i;

        for (i = 0; i < EVENT_N_ROOTS; i++) {
                if (!event->originals[i])
                        continue;
                has_fields |= event->fields[i]->members->len > 0;
                if (event->fields[i]->misfit)
                        names_note(iterator->names, NAMES_NOTE_TYPE, event->fields[i]->misfit);
        }
        if (!has_fields)
                return true;
        is_known = event_find_process(event, &query);
        if (!is_known)
                names_note(iterator->names, NAMES_NOTE_PROCESS, /* field= */ NULL);
        else if (query.pid < 0)
                names_note(iterator->names, NAMES_NOTE_PID, /* field= */ NULL);
        else if (!event_find_time(event, &query))
                names_note(iterator->names, NAMES_NOTE_CLOCK, /* field= */ NULL);
        for (i = 0; i < EVENT_N_ROOTS; i++)
                if (event->originals[i] &&
                    !iterator_name_root(iterator, event->fields[i], event->originals[i],
                                        event->copies[i],
                                        is_known && query.has_time ? &query : NULL))
                        return false;
        return true;
}

/* Drops the untaken messages. */
static void iterator_clear(NamesIterator *iterator)
{
        for (; iterator->next_ready < iterator->ready->len; iterator->next_ready++)
                bt_message_put_ref(iterator->ready->pdata[iterator->next_ready]);
        g_ptr_array_set_size(iterator->ready, 0);
        iterator->next_ready = 0;
}

static void iterator_free(NamesIterator *iterator)
{
        if (iterator->error)
                bt_error_release(iterator->error);
        iterator_clear(iterator);
        g_ptr_array_unref(iterator->ready);
        graph_copy_deinit(&iterator->copier.graph);
        names_batch_deinit(&iterator->batch);
        bt_message_iterator_put_ref(iterator->upstream);
        g_free(iterator);
}

bt_message_iterator_class_initialize_method_status
names_iterator_initialize(bt_self_message_iterator *self,
                          bt_self_message_iterator_configuration *configuration,
                          bt_self_component_port_output *port)
{
        bt_self_component *component = bt_self_message_iterator_borrow_component(self);
        bt_self_component_port_input *in = bt_self_component_filter_borrow_input_port_by_name(
                (bt_self_component_filter *)component, "in");
        Names *names = bt_self_component_get_data(component);
        NamesIterator *iterator = g_new0(NamesIterator, 1);
        char *message = NULL;

        iterator->self = self;
        iterator->names = names;
        iterator->ready = g_ptr_array_new();
        iterator->copier.self = self;
        iterator->copier.on_event = iterator_on_event;
        iterator->copier.data = iterator;
        graph_copy_init(&iterator->copier.graph, component, &names->fields,
                        names->is_clock_monotonic);
        if (!names_batch_init(&iterator->batch, &names->settings, &message)) {
                BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(
                        self, "%s", message ? message : "Not enough memory");
                free(message);
                iterator_free(iterator);
                return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
        }
        if (bt_message_iterator_create_from_message_iterator(self, in, &iterator->upstream) !=
            BT_MESSAGE_ITERATOR_CREATE_FROM_MESSAGE_ITERATOR_STATUS_OK) {
                iterator_free(iterator);
                return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
        }
        bt_self_message_iterator_configuration_set_can_seek_forward(
                configuration, bt_message_iterator_can_seek_forward(iterator->upstream));
        bt_self_message_iterator_set_data(self, iterator);
        return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void names_iterator_finalize(bt_self_message_iterator *self)
{
        NamesIterator *iterator = bt_self_message_iterator_get_data(self);

        if (iterator)
                iterator_free(iterator);
}

/* Takes over MESSAGES. False: no memory. */
static bool iterator_copy(NamesIterator *iterator, bt_message_array_const messages, uint64_t n)
{
        bool ok = true;
        uint64_t i;

        for (i = 0; i < n; i++) {
                const bt_message *copy =
                        ok ? message_copier_copy(&iterator->copier, messages[i]) : NULL;

                ok = copy != NULL;
                if (ok)
                        g_ptr_array_add(iterator->ready, (void *)copy);
                bt_message_put_ref(messages[i]);
        }
        return ok;
}

/*
 * Collects messages until upstream pauses, because one request names many addresses. False: no
 * memory.
 */
static bool iterator_fill(NamesIterator *iterator)
{
        bt_message_iterator_next_status status = BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
        bool ok = true;

        while (ok && status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK &&
               iterator->ready->len < MAX_READY && !names_batch_is_full(&iterator->batch)) {
                bt_message_array_const messages;
                uint64_t n;

                status = bt_message_iterator_next(iterator->upstream, &messages, &n);
                if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
                        ok = iterator_copy(iterator, messages, n);
        }
        iterator->upstream_status = status;
        if (status < 0)
                iterator->error = bt_current_thread_take_error();
        return ok && names_batch_run(&iterator->batch);
}

/* Returns upstream's status, with its error. */
static bt_message_iterator_class_next_method_status iterator_pass_status(NamesIterator *iterator)
{
        const bt_message_iterator_next_status status = iterator->upstream_status;

        if (iterator->error)
                bt_current_thread_move_error(g_steal_pointer(&iterator->error));
        if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN)
                iterator->upstream_status = BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
        return (bt_message_iterator_class_next_method_status)status;
}

bt_message_iterator_class_next_method_status names_iterator_next(bt_self_message_iterator *self,
                                                                 bt_message_array_const messages,
                                                                 uint64_t capacity, uint64_t *ret_n)
{
        NamesIterator *iterator = bt_self_message_iterator_get_data(self);
        uint64_t i, n;

        if (iterator->next_ready == iterator->ready->len) {
                iterator_clear(iterator);
                if (iterator->upstream_status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
                        return iterator_pass_status(iterator);
                if (!iterator_fill(iterator)) {
                        names_batch_clear(&iterator->batch);
                        iterator_clear(iterator);
                        BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(
                                self, "Not enough memory");
                        return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
                }
                if (!iterator->ready->len)
                        return iterator_pass_status(iterator);
        }
        n = MIN(iterator->ready->len - iterator->next_ready, capacity);
        for (i = 0; i < n; i++)
                messages[i] = iterator->ready->pdata[iterator->next_ready++];
        *ret_n = n;
        return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

bt_message_iterator_class_can_seek_beginning_method_status
names_iterator_can_seek_beginning(bt_self_message_iterator *self, bt_bool *ret_can)
{
        const NamesIterator *iterator = bt_self_message_iterator_get_data(self);

        return (bt_message_iterator_class_can_seek_beginning_method_status)
                bt_message_iterator_can_seek_beginning(iterator->upstream, ret_can);
}

bt_message_iterator_class_seek_beginning_method_status
names_iterator_seek_beginning(bt_self_message_iterator *self)
{
        NamesIterator *iterator = bt_self_message_iterator_get_data(self);

        iterator_clear(iterator);
        names_batch_clear(&iterator->batch);
        iterator->upstream_status = BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
        graph_copy_rewind(&iterator->copier.graph);
        return (bt_message_iterator_class_seek_beginning_method_status)
                bt_message_iterator_seek_beginning(iterator->upstream);
}
