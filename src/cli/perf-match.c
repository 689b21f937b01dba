/* SPDX-License-Identifier: MIT */
#include "cli/perf-match.h"

#include "cli/perf-run.h"

#include <string.h>

/* The inode number of the machine's initial pid namespace. Traces without the context have 0. */
#define INITIAL_PID_NS G_GUINT64_CONSTANT(4026531836)

/* Choices that a message lists; `clrsym ps` shows all. */
#define MAX_LISTED 10

/* A candidate with more than 1/SIMILAR of the best one's hits is about as good. */
#define SIMILAR 4

/* A process of the trace, with all its generations. */
typedef struct ProcessCandidate {
        int32_t pid;
        uint64_t pid_ns;
        char *command; /* or NULL */
        uint64_t since;
        unsigned n_hits; /* number of the recorded process's addresses where it has or had code */
} ProcessCandidate;

typedef struct Match {
        clrsym *handle;
        const Options *options;
        uint64_t perf_ns; /* the pid namespace of perf; 0: not known */
        int64_t clock_offset;
        GArray *candidates; /* of ProcessCandidate */
        unsigned n_matched, n_unmatched;
} Match;

static void candidate_clear(gpointer data)
{
        g_free(((ProcessCandidate *)data)->command);
}

static int add_candidate(const clrsym_process *process, void *data)
{
        Match *match = data;
        ProcessCandidate candidate = {.pid = process->pid,
                                      .pid_ns = process->pid_ns,
                                      .command = g_strdup(process->command),
                                      .since = process->since};
        guint i;

        for (i = 0; i < match->candidates->len; i++) {
                const ProcessCandidate *known =
                        &g_array_index(match->candidates, ProcessCandidate, i);

                if (known->pid == process->pid && known->pid_ns == process->pid_ns) {
                        g_free(candidate.command);
                        return 0;
                }
        }
        g_array_append_val(match->candidates, candidate);
        return 0;
}

static bool set_library_error(Match *match, GError **error)
{
        g_set_error(error, PERF_ERROR, 0, "%s", clrsym_message(match->handle));
        return false;
}

/* True if the trace has code at the address, at any time. */
static bool is_hit(const clrsym_answer *answer)
{
        return answer->status == CLRSYM_OK || answer->status == CLRSYM_UNLOADED ||
               answer->status == CLRSYM_NOT_YET || answer->status == CLRSYM_AMBIGUOUS;
}

static bool count_hits(Match *match, const RecordingProcess *process, ProcessCandidate *candidate,
                       GError **error)
{
        guint i, n = process->addresses->len;
        g_autofree clrsym_query *queries = g_new0(clrsym_query, n);
        g_autofree clrsym_answer *answers = g_new0(clrsym_answer, n);

        candidate->n_hits = 0;
        if (process->has_pid_ns && candidate->pid_ns && process->pid_ns != candidate->pid_ns)
                return true;
        for (i = 0; i < n; i++) {
                const RecordingAddress *address =
                        &g_array_index(process->addresses, RecordingAddress, i);

                queries[i] = (clrsym_query){
                        .pid = candidate->pid,
                        .has_pid_ns = true,
                        .pid_ns = candidate->pid_ns,
                        .has_time = true,
                        .address = address->address,
                        .time = MAX((int64_t)address->time + match->clock_offset, 1),
                };
        }
        if (clrsym_resolve(match->handle, queries, n, 0, answers) < 0)
                return set_library_error(match, error);
        for (i = 0; i < n; i++)
                candidate->n_hits += is_hit(&answers[i]);
        return true;
}

/* True if the process has this pid in the trace, provided that perf and the trace saw the same pid
 * namespace. */
static bool match_is_direct(const Match *match, const RecordingProcess *process,
                            const ProcessCandidate *candidate)
{
        const uint64_t perf_ns = match->perf_ns ? match->perf_ns : INITIAL_PID_NS;
        const uint64_t pid_ns = process->has_pid_ns ? process->pid_ns : perf_ns;

        return candidate->pid == process->pid &&
               (candidate->pid_ns == pid_ns || candidate->pid_ns == 0);
}

/*
 * True if the process is in perf's namespace, so that perf's pid is its own. CANDIDATE: a direct
 * one.
 */
static bool match_is_certain(const Match *match, const RecordingProcess *process,
                             const ProcessCandidate *candidate)
{
        return match->perf_ns ? candidate->pid_ns == match->perf_ns
                              : process->has_pid_ns && process->pid_ns == INITIAL_PID_NS;
}

static bool has_comm(const RecordingProcess *process, const ProcessCandidate *candidate)
{
        g_autofree char *program = NULL, *name = NULL;

        if (!candidate->command)
                return false;
        program = g_strndup(candidate->command, strcspn(candidate->command, " "));
        name = g_path_get_basename(program);
        /* The kernel keeps 15 bytes of the name. */
        return !strncmp(name, process->comm, 15);
}

/*
 * RET_DIRECT: the candidate that match_choose() would choose in any case; NULL: all hits were
 * counted. Without this shortcut, each of a hundred processes is compared with a hundred.
 */
static bool match_count_hits(Match *match, const RecordingProcess *process,
                             const ProcessCandidate **ret_direct, GError **error)
{
        guint i;

        *ret_direct = NULL;
        for (i = 0; i < match->candidates->len; i++) {
                ProcessCandidate *candidate =
                        &g_array_index(match->candidates, ProcessCandidate, i);

                if (!match_is_direct(match, process, candidate) ||
                    !match_is_certain(match, process, candidate))
                        continue;
                if (!count_hits(match, process, candidate, error))
                        return false;
                if (candidate->n_hits > process->addresses->len / SIMILAR) {
                        *ret_direct = candidate;
                        return true;
                }
        }
        for (i = 0; i < match->candidates->len; i++)
                if (!count_hits(match, process,
                                &g_array_index(match->candidates, ProcessCandidate, i), error))
                        return false;
        return true;
}

/*
 * Keeps the candidates with about as many hits as the best; if several remain, keeps those with the
 * right pid or name.
 */
static const ProcessCandidate *match_choose(const Match *match, const RecordingProcess *process,
                                            GPtrArray *ret_similar)
{
        const ProcessCandidate *direct = NULL, *same_comm = NULL;
        unsigned best = 0, n_same_comm = 0;
        guint i;

        for (i = 0; i < match->candidates->len; i++)
                best = MAX(best, g_array_index(match->candidates, ProcessCandidate, i).n_hits);
        for (i = 0; i < match->candidates->len; i++) {
                ProcessCandidate *candidate =
                        &g_array_index(match->candidates, ProcessCandidate, i);

                if (best ? candidate->n_hits > best / SIMILAR
                         : match_is_direct(match, process, candidate))
                        g_ptr_array_add(ret_similar, candidate);
        }
        for (i = 0; i < ret_similar->len; i++) {
                const ProcessCandidate *candidate = g_ptr_array_index(ret_similar, i);

                if (match_is_direct(match, process, candidate))
                        direct = candidate;
                if (has_comm(process, candidate)) {
                        same_comm = candidate;
                        n_same_comm++;
                }
        }
        if (ret_similar->len == 1)
                return g_ptr_array_index(ret_similar, 0);
        if (direct && match_is_certain(match, process, direct))
                return direct;
        return n_same_comm == 1 ? same_comm : NULL;
}

static void append_candidate(GString *text, const ProcessCandidate *candidate)
{
        g_string_append_printf(
                text, " %" G_GUINT64_FORMAT ":%d (%s%ssince %" G_GUINT64_FORMAT ".%03u)",
                (guint64)candidate->pid_ns, candidate->pid,
                candidate->command ? candidate->command : "", candidate->command ? ", " : "",
                (guint64)(candidate->since / 1000000000),
                (unsigned)(candidate->since / 1000000 % 1000));
}

static void set_ambiguous(const RecordingProcess *process, const GPtrArray *similar, GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);
        guint i;

        for (i = 0; i < similar->len && i < MAX_LISTED; i++)
                append_candidate(text, g_ptr_array_index(similar, i));
        g_set_error(error, PERF_ERROR, 0,
                    "process %d (%s) of the recording could be any of %u of the trace:%s%s: choose "
                    "one with --map %d=NS:PID",
                    process->pid, process->comm, similar->len, text->str,
                    similar->len > MAX_LISTED ? " ..." : "", process->pid);
}

static bool is_given(const Options *options, int32_t perf_pid)
{
        unsigned i;

        for (i = 0; i < options->maps.n; i++)
                if (options->maps.maps[i].perf_pid == perf_pid)
                        return true;
        return false;
}

static bool match_process(Match *match, const RecordingProcess *process, GArray *maps,
                          GPtrArray *notes, GError **error)
{
        g_autoptr(GPtrArray) similar = g_ptr_array_new();
        const ProcessCandidate *candidate, *direct;
        ProcessMap map = {.perf_pid = process->pid};

        if (!match_count_hits(match, process, &direct, error))
                return false;
        candidate = direct ? direct : match_choose(match, process, similar);
        if (candidate) {
                map.process = (ProcessName){true, candidate->pid_ns, candidate->pid};
                g_array_append_val(maps, map);
                match->n_matched++;
                return true;
        }
        if (similar->len) {
                set_ambiguous(process, similar, error);
                return false;
        }
        match->n_unmatched++;
        g_ptr_array_add(
                notes,
                g_strdup_printf("process %d (%s): no process of the %s has its code: only its "
                                "precompiled code has names, from the assemblies on this machine",
                                process->pid, process->comm,
                                match->options->trace ? "trace" : "daemon"));
        return true;
}

static char *match_describe_none(const Match *match)
{
        g_autoptr(GString) text = g_string_new(NULL);
        guint i;

        for (i = 0; i < match->candidates->len && i < MAX_LISTED; i++)
                append_candidate(text, &g_array_index(match->candidates, ProcessCandidate, i));
        return g_strdup_printf("no process of this input is known; %u are:%s%s",
                               match->candidates->len, text->len ? text->str : " none",
                               match->candidates->len > MAX_LISTED ? " ..." : "");
}

/* A given trace can be the wrong one; a daemon cannot, because there is only one. */
static bool match_report_none(const Match *match, GPtrArray *notes, GError **error)
{
        g_autofree char *none = match_describe_none(match);

        if (match->options->trace) {
                g_set_error(error, PERF_ERROR, 0,
                            "%s; give the trace of the same run, or --map PERFPID=NS:PID, or "
                            "--force",
                            none);
                return false;
        }
        g_ptr_array_add(notes, g_strdup_printf("%s; jitted code has no names: next time, run "
                                               "clrsym attach PID before perf "
                                               "record or the crash, or use clrsym record",
                                               none));
        return true;
}

bool perf_match(clrsym *handle, const Recording *recording, const Options *options,
                uint64_t perf_ns, int64_t clock_offset, GArray *ret_maps, GPtrArray *notes,
                GError **error)
{
        g_autoptr(GArray) candidates = g_array_new(FALSE, FALSE, sizeof(ProcessCandidate));
        Match match = {
                .handle = handle,
                .options = options,
                .perf_ns = perf_ns,
                .clock_offset = clock_offset,
                .candidates = candidates,
        };
        guint i;

        g_array_set_clear_func(candidates, candidate_clear);
        if (options->maps.n)
                g_array_append_vals(ret_maps, options->maps.maps, options->maps.n);
        if (clrsym_processes(handle, add_candidate, &match) < 0)
                return set_library_error(&match, error);
        for (i = 0; i < recording->processes->len; i++) {
                const RecordingProcess *process = g_ptr_array_index(recording->processes, i);

                if (process->addresses->len == 0 || is_given(options, process->pid))
                        continue;
                if (!match_process(&match, process, ret_maps, notes, error))
                        return false;
        }
        if (match.n_unmatched && !match.n_matched && !options->maps.n &&
            !options_has(options, OPTION_FORCE))
                return match_report_none(&match, notes, error);
        return true;
}
