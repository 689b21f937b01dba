/* SPDX-License-Identifier: MIT */

/*
 * What is learned of the host
 *
 * Which program has a pid, and whose it is, decides about generations and about who sees what: a
 * replay must not ask again, for it is another time. So what the host says is written down, behind
 * the batch in which it was asked; of when programs were started only what is news to the file.
 */

#include "service/journal-struct.h"

#include <string.h>

static uint64_t told_start(const Journal *journal, int32_t pid)
{
        const uint64_t *start = g_hash_table_lookup(journal->starts, GINT_TO_POINTER(pid));

        return start ? *start : 0;
}

static void note_start(Journal *journal, int32_t pid, uint64_t start)
{
        g_hash_table_insert(journal->starts, GINT_TO_POINTER(pid),
                            g_memdup2(&start, sizeof(start)));
}

static uint64_t host_start_time(void *data, int32_t pid)
{
        Journal *journal = data;
        uint64_t told = told_start(journal, pid), start;
        JournalAnswer answer;

        if (journal->told && !journal->may_ask)
                return told;
        start = journal->host.start_time(journal->host.data, pid);
        if (start == told)
                return start;
        note_start(journal, pid, start);
        answer = (JournalAnswer){.pid = pid, .value = start};
        g_array_append_val(journal->answers, answer);
        return start;
}

static bool host_uid(void *data, const ProcessKey *key, uint32_t *ret_uid)
{
        Journal *journal = data;
        JournalAnswer answer = {.is_uid = 1, .pid = key->pid, .pid_ns = key->pid_ns};
        guint i;

        for (i = 0; journal->told && i < journal->told->len; i++) {
                const JournalAnswer *told = &g_array_index(journal->told, JournalAnswer, i);

                if (!told->is_uid || told->pid != key->pid || told->pid_ns != key->pid_ns)
                        continue;
                *ret_uid = (uint32_t)told->value;
                g_array_remove_index(journal->told, i);
                return true;
        }
        if (journal->told && !journal->may_ask)
                return false;
        if (!journal->host.uid(journal->host.data, key, ret_uid))
                return false;
        answer.value = *ret_uid;
        g_array_append_val(journal->answers, answer);
        return true;
}

static bool host_is_running(void *data, const ProcessKey *key)
{
        const Journal *journal = data;

        return journal->host.is_running(journal->host.data, key);
}

TrackerHost journal_host(Journal *journal)
{
        const TrackerHost *host = &journal->host;

        return (TrackerHost){.data = journal,
                             .pid_ns = host->pid_ns,
                             .start_time = host->start_time ? host_start_time : NULL,
                             .uid = host->uid ? host_uid : NULL,
                             .is_running = host->is_running ? host_is_running : NULL};
}

void journal_host_begin_part(Journal *journal)
{
        g_hash_table_remove_all(journal->starts);
}

void journal_host_tell(Journal *journal, const JournalEntry *entry)
{
        JournalAnswer answer;
        uint32_t at;

        for (at = 0; entry->n - at >= sizeof(answer); at += sizeof(answer)) {
                memcpy(&answer, entry->bytes + at, sizeof(answer));
                if (answer.is_uid)
                        g_array_append_val(journal->told, answer);
                else
                        note_start(journal, answer.pid, answer.value);
        }
}
