/* SPDX-License-Identifier: MIT */

/* The owners of processes: from their buffers, and from the host */

#include "tracker/tracker-struct.h"

/* The owner, known to the host, of the program that has had that pid since before TIME. */
static bool host_owner(const Tracker *tracker, const ProcessKey *key, uint64_t time,
                       uint32_t *ret_uid)
{
        return tracker->host.uid && tracker->host.uid(tracker->host.data, key, time, ret_uid);
}

/* The owner of a process with events in a trace without an owner. The host is asked once. */
static uint32_t record_ask_owner(const Tracker *tracker, Trace *trace, const Record *record)
{
        OwnedKey owned = {record->process, PROCESS_OF_NOBODY};
        const OwnedKey *known;

        /* A process's own buffers have only its own events. */
        if (!*trace->boot_id || (trace->pid && trace->pid != record->process.pid))
                return PROCESS_OF_NOBODY;
        known = trace_owner(trace, &record->process);
        if (known)
                return known->uid;
        host_owner(tracker, &record->process, record->time, &owned.uid);
        trace_add_owner(trace, &owned);
        return owned.uid;
}

bool tracker_record_owner(Tracker *tracker, Trace *trace, const Record *record, uint32_t *ret_uid)
{
        uint32_t owner;
        gpointer known;

        *ret_uid = trace->uid;
        /* Its feeder has asked the kernel. */
        if (trace->scheme == BUFFER_SCHEME_PER_PID && trace->uid != PROCESS_OF_NOBODY)
                return record->process.pid == trace->pid;
        if (trace->scheme != BUFFER_SCHEME_PER_UID) {
                *ret_uid = record_ask_owner(tracker, trace, record);
                return true;
        }
        if (!*trace->boot_id || trace->uid == PROCESS_OF_NOBODY ||
            identities_find_again(&tracker->identities, &record->process, *ret_uid))
                return true;
        /* The host is not asked for every record of a flood of forged records. */
        if (g_hash_table_lookup_extended(tracker->forged, &record->process, NULL, &known) &&
            GPOINTER_TO_UINT(known) == trace->uid)
                return false;
        if (!host_owner(tracker, &record->process, record->time, &owner) || owner == trace->uid)
                return true;
        g_hash_table_replace(tracker->forged, g_memdup2(&record->process, sizeof(record->process)),
                             GUINT_TO_POINTER(trace->uid));
        return false;
}

const Process *tracker_process(const Tracker *tracker, const ProcessKey *key)
{
        const GPtrArray *all = identities_of_pid(&tracker->identities, key->pid);
        const Process *best = NULL;
        guint i;

        for (i = 0; all && i < all->len; i++) {
                const Identity *identity = all->pdata[i];

                if (identity->newest && process_key_equal(&identity->id.key, key) &&
                    (!best || identity->newest->last > best->last))
                        best = identity->newest;
        }
        return best;
}

const Process *tracker_process_of(const Tracker *tracker, const ProcessKey *key, uint32_t uid)
{
        const Identity *identity = identities_find(&tracker->identities, key, uid);

        return identity ? identity->newest : NULL;
}

bool tracker_is_newest(const Tracker *tracker, const Process *process)
{
        return identities_is_newest(&tracker->identities, process);
}

bool tracker_may_be_running(const Tracker *tracker, const Process *process)
{
        uint32_t owner;
        guint i;

        if (process->uid != PROCESS_OF_NOBODY)
                return !tracker_owner(tracker, &process->key, &owner) || owner == process->uid;
        /* Buffers of a process have an owner, unless they have another process's events. */
        for (i = 0; i < process->traces->len; i++)
                if (((const Trace *)process->traces->pdata[i])->scheme == BUFFER_SCHEME_PER_PID)
                        return false;
        return true;
}

const Process *tracker_generation_at(const Tracker *tracker, const Process *newest, uint64_t time)
{
        return identity_at(identities_find(&tracker->identities, &newest->key, newest->uid), time);
}

const GPtrArray *tracker_identities(const Tracker *tracker, int32_t pid)
{
        return identities_of_pid(&tracker->identities, pid);
}

bool tracker_owner(const Tracker *tracker, const ProcessKey *key, uint32_t *ret_uid)
{
        return host_owner(tracker, key, UINT64_MAX, ret_uid);
}
