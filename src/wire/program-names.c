/* SPDX-License-Identifier: MIT */
#include "wire/program-names.h"

/* Processes that are remembered. With more of them, names are sent again. */
#define MAX_PROCESSES 4096

void program_names_clear(ProgramNames *names)
{
        g_clear_pointer(&names->sent, g_hash_table_unref);
}

/* Another program may have the pid from now on. */
static bool record_separates_programs(const Record *record)
{
        return record->event && (record->event->kind == EVENT_KIND_RUNTIME_START ||
                                 record->event->kind == EVENT_KIND_APP_DOMAIN_UNLOAD);
}

static guint name_hash(const Value *name)
{
        guint hash = 5381;
        uint32_t i;

        for (i = 0; i < name->n; i++)
                hash = hash * 33 + name->data[i];
        return hash;
}

bool program_names_note(ProgramNames *names, const Record *record)
{
        gpointer hash = GUINT_TO_POINTER(name_hash(&record->program)), known;

        if (names->sent && record_separates_programs(record))
                g_hash_table_remove(names->sent, &record->process);
        if (!record->program.n || record->tid != record->process.pid)
                return false;
        if (!names->sent)
                names->sent =
                        g_hash_table_new_full(process_key_hash, process_key_equal, g_free, NULL);
        if (g_hash_table_lookup_extended(names->sent, &record->process, NULL, &known) &&
            known == hash)
                return false;
        if (g_hash_table_size(names->sent) >= MAX_PROCESSES)
                g_hash_table_remove_all(names->sent);
        g_hash_table_replace(names->sent, g_memdup2(&record->process, sizeof(record->process)),
                             hash);
        return g_utf8_validate((const char *)record->program.data, record->program.n, NULL);
}
