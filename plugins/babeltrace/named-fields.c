/* SPDX-License-Identifier: MIT */
#include "named-fields.h"

#include "graph-mip.h"

#include <string.h>

/*
 * The field whose name member is the settings' name alone; other fields' names get the field as a
 * prefix.
 */
#define MAIN_FIELD "ip"
#define PERF_CHAIN "perf_callchain"

static const char *const PID_MEMBERS[_PID_MEMBER_MAX] = {
        [PID_MEMBER_VPID] = "vpid",
        [PID_MEMBER_PID] = "pid",
        [PID_MEMBER_PERF_PID] = "perf_pid",
};

static const char *const NAME_MEMBERS[_NAME_MEMBER_MAX] = {
        [NAME_BIN] = "bin",
        [NAME_FUNC] = "func",
        [NAME_SRC] = "src",
};

static bool class_is_integer(const bt_field_class *class)
{
        return bt_field_class_type_is(bt_field_class_get_type(class), BT_FIELD_CLASS_TYPE_INTEGER);
}

static bool class_is_sequence(const bt_field_class *class)
{
        return bt_field_class_type_is(bt_field_class_get_type(class), BT_FIELD_CLASS_TYPE_ARRAY) &&
               class_is_integer(bt_field_class_array_borrow_element_field_class_const(class));
}

/* Takes over MEMBER. */
static bool structure_append(bt_field_class *structure, const char *name, bt_field_class *member)
{
        const bool ok = member && bt_field_class_structure_append_member(structure, name, member) ==
                                          BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK;

        bt_field_class_put_ref(member);
        return ok;
}

static bt_field_class *name_class_new(bt_trace_class *trace_class)
{
        bt_field_class *structure = bt_field_class_structure_create(trace_class);
        unsigned i;

        for (i = 0; structure && i < _NAME_MEMBER_MAX; i++) {
                if (structure_append(structure, NAME_MEMBERS[i],
                                     bt_field_class_string_create(trace_class)))
                        continue;
                bt_field_class_put_ref(structure);
                structure = NULL;
        }
        return structure;
}

/* Returns NAME as the settings have it; NULL: no field with addresses. */
static const char *settings_find_name(const NamedFieldsSettings *settings, const char *name)
{
        guint i;

        for (i = 0; i < settings->fields->len; i++)
                if (!strcmp(settings->fields->pdata[i], name))
                        return settings->fields->pdata[i];
        return NULL;
}

static bool fields_append(NamedFields *fields, const NamedFieldsSettings *settings, uint64_t mip,
                          bt_trace_class *trace_class, bt_field_class *copy, const char *name,
                          NamedMember member)
{
        g_autofree char *own = strcmp(name, MAIN_FIELD)
                                       ? g_strdup_printf("%s_%s", name, settings->name)
                                       : g_strdup(settings->name);
        bt_field_class *class, *element;

        if (bt_field_class_structure_borrow_member_by_name_const(copy, own))
                return true;
        class = name_class_new(trace_class);
        if (class && member.is_sequence) {
                element = class;
                class = graph_mip_array_new(mip, trace_class, element, CTF_SCOPE_PAYLOAD,
                                            /* length_name= */ NULL, /* length= */ NULL);
                bt_field_class_put_ref(element);
        }
        if (!structure_append(copy, own, class))
                return false;
        member.to = bt_field_class_structure_get_member_count(copy) - 1;
        g_array_append_val(fields->members, member);
        return true;
}

static void fields_find_process(NamedFields *fields, const char *name, uint64_t number)
{
        unsigned i;

        for (i = 0; i < _PID_MEMBER_MAX; i++)
                if (!strcmp(name, PID_MEMBERS[i]))
                        fields->pids[i] = number;
        if (!strcmp(name, "pid_ns"))
                fields->pid_ns = number;
}

bool named_fields_init(NamedFields *fields, const NamedFieldsSettings *settings, uint64_t mip,
                       bt_trace_class *trace_class, const bt_field_class *original,
                       bt_field_class *copy)
{
        uint64_t i, n = original ? bt_field_class_structure_get_member_count(original) : 0;
        unsigned j;

        *fields = (NamedFields){.pid_ns = NO_MEMBER};
        for (j = 0; j < _PID_MEMBER_MAX; j++)
                fields->pids[j] = NO_MEMBER;
        if (!original)
                return true;
        fields->members = g_array_new(FALSE, FALSE, sizeof(NamedMember));
        for (i = 0; i < n; i++) {
                const bt_field_class_structure_member *member =
                        bt_field_class_structure_borrow_member_by_index_const(original, i);
                const bt_field_class *class =
                        bt_field_class_structure_member_borrow_field_class_const(member);
                const char *name = bt_field_class_structure_member_get_name(member), *own;

                if (class_is_integer(class))
                        fields_find_process(fields, name, i);
                own = settings_find_name(settings, name);
                if (!own)
                        continue;
                if (!class_is_integer(class) && !class_is_sequence(class)) {
                        fields->misfit = own;
                        continue;
                }
                if (!fields_append(fields, settings, mip, trace_class, copy, name,
                                   (NamedMember){.from = i,
                                                 .is_sequence = !class_is_integer(class),
                                                 .has_markers = !strcmp(name, PERF_CHAIN)}))
                        return false;
        }
        return true;
}

void named_fields_deinit(NamedFields *fields)
{
        if (fields->members)
                g_array_unref(fields->members);
        *fields = (NamedFields){0};
}
