/* SPDX-License-Identifier: MIT */
#include "wire/program-names.h"

#include <string.h>

/* Processes kept. If there are more, names are sent again. */
#define MAX_PROCESSES 4096

void program_names_clear(ProgramNames *names)
{
        g_clear_pointer(&names->sent, g_hash_table_unref);
        names->n_latest = 0;
}

/* True if another program may have the pid from now on. */
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

/* True if the latest name was the same, of the same process. */
static bool program_names_is_latest(const ProgramNames *names, const Record *record)
{
        const Value *name = &record->program;

        return name->n == names->n_latest && !memcmp(name->data, names->latest, name->n) &&
               process_key_equal(&record->process, &names->process);
}

static void program_names_set_latest(ProgramNames *names, const Record *record)
{
        names->process = record->process;
        names->n_latest = record->program.n <= PROGRAM_NAME_MAX ? record->program.n : 0;
        memcpy(names->latest, record->program.data, names->n_latest);
}

bool program_names_note(ProgramNames *names, const Record *record)
{
        gpointer hash, known;

        if (names->sent && record_separates_programs(record)) {
                g_hash_table_remove(names->sent, &record->process);
                names->n_latest = 0;
        }
        /* Without a thread, the name is the program's own. */
        if (!record->program.n || (record->tid && record->tid != record->process.pid) ||
            program_names_is_latest(names, record))
                return false;
        program_names_set_latest(names, record);
        hash = GUINT_TO_POINTER(name_hash(&record->program));
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
