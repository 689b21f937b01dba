/* SPDX-License-Identifier: MIT */

/*
 * The tracker's questions to the host
 *
 * The program with a pid, and its owner, decide about generations and about visibility. A replay
 * must not ask the host again, because the answer may have changed. The journal therefore stores
 * the host's answers after the batch that needed them. A start time is stored only if it differs
 * from the last one in the file.
 */

#include "journal/journal-struct.h"

#include <string.h>

static uint64_t journal_known_start(const Journal *journal, int32_t pid)
{
        const uint64_t *start = g_hash_table_lookup(journal->starts, GINT_TO_POINTER(pid));

        return start ? *start : 0;
}

static void journal_note_start(Journal *journal, int32_t pid, uint64_t start)
{
        g_hash_table_insert(journal->starts, GINT_TO_POINTER(pid),
                            g_memdup2(&start, sizeof(start)));
}

static uint64_t host_start_time(void *data, int32_t pid)
{
        Journal *journal = data;
        uint64_t known = journal_known_start(journal, pid), start;
        JournalAnswer answer;

        if (journal->known_answers && !journal->may_ask)
                return known;
        start = journal->host.start_time(journal->host.data, pid);
        if (start == known)
                return start;
        journal_note_start(journal, pid, start);
        answer = (JournalAnswer){.pid = pid, .value = start};
        g_array_append_val(journal->answers, answer);
        return start;
}

static bool host_uid(void *data, const ProcessKey *key, uint64_t time, uint32_t *ret_uid)
{
        Journal *journal = data;
        JournalAnswer answer = {.is_uid = 1, .pid = key->pid, .pid_ns = key->pid_ns};
        guint i;

        for (i = 0; journal->known_answers && i < journal->known_answers->len; i++) {
                const JournalAnswer *known =
                        &g_array_index(journal->known_answers, JournalAnswer, i);

                if (!known->is_uid || known->pid != key->pid || known->pid_ns != key->pid_ns)
                        continue;
                *ret_uid = (uint32_t)known->value;
                g_array_remove_index(journal->known_answers, i);
                return true;
        }
        if (journal->known_answers && !journal->may_ask)
                return false;
        if (!journal->host.uid(journal->host.data, key, time, ret_uid))
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

void journal_host_take_answers(Journal *journal, const JournalEntry *entry)
{
        JournalAnswer answer;
        uint32_t at;

        for (at = 0; entry->n - at >= sizeof(answer); at += sizeof(answer)) {
                memcpy(&answer, entry->bytes + at, sizeof(answer));
                if (answer.is_uid)
                        g_array_append_val(journal->known_answers, answer);
                else
                        journal_note_start(journal, answer.pid, answer.value);
        }
}
