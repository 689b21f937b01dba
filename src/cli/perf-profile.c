/* SPDX-License-Identifier: MIT */
#include "cli/perf-profile.h"

#include "clrsym/clrsym.h"

#include <string.h>

#define JIT "libclrjit.so"

#define CORE_LIBRARY "System.Private.CoreLib.dll"
/* The thread of a runtime that serves sessions. */
#define SESSION_THREAD ".NET EventPipe"

/*
 * Methods of the core library, in names of any style. A session has the runtime call the event
 * sources that it switches on; at the start of a program, when its first source is made. A source
 * describes its events at its first command, which takes most of the time. Commands of the
 * program's own listeners have other callers.
 */
static const struct {
        const char *method;
        SessionRole role;
} SESSION_METHODS[] = {
        {"EventPipeEventProvider.Callback", SESSION_ROOT},
        {"EventSource.DoCommand", SESSION_COMMAND},
        {"NativeRuntimeEventSource..cctor", SESSION_SOURCE},
};

static SessionRole frame_role(const ProfileFrame *frame)
{
        size_t i;

        /* In samples that were saved. */
        if (frame->kind == FRAME_UNKNOWN && !frame->module &&
            !g_strcmp0(frame->name, PROFILE_SESSION))
                return SESSION_ROOT;
        if (frame->kind != FRAME_MANAGED || !frame->name || !frame->module ||
            !g_str_has_suffix(frame->module, CORE_LIBRARY))
                return SESSION_NOTHING;
        for (i = 0; i < G_N_ELEMENTS(SESSION_METHODS); i++)
                if (strstr(frame->name, SESSION_METHODS[i].method))
                        return SESSION_METHODS[i].role;
        return SESSION_NOTHING;
}

static void take_line(void *data, uint32_t line, const char *file)
{
        PerfProfile *profile = data;

        g_free(profile->file);
        profile->file = g_strdup(file);
        profile->line = line;
}

static void take_checksum(void *data, const char *checksum)
{
        PerfProfile *profile = data;

        g_free(profile->checksum);
        profile->checksum = g_strdup(checksum);
}

static void perf_profile_take_frame(void *data, const StreamFrame *frame, const char *name,
                                    const char *module)
{
        static const FrameKind KINDS[_STREAM_KIND_MAX] = {
                [STREAM_MANAGED] = FRAME_MANAGED,
                [STREAM_NATIVE] = FRAME_NATIVE,
                [STREAM_KERNEL] = FRAME_KERNEL,
                [STREAM_UNKNOWN] = FRAME_UNKNOWN,
        };
        PerfProfile *profile = data;
        const ProfileFrame row = {
                .name = frame->n_name ? name : NULL,
                .module = frame->n_module ? module : NULL,
                .kind = KINDS[frame->kind],
                .tier = frame->kind == STREAM_MANAGED && frame->tier != CLRSYM_TIER_UNKNOWN
                                ? clrsym_tier_name((clrsym_tier)frame->tier)
                                : NULL,
                .is_marked = frame->is_marked,
                .file = profile->file,
                .line = profile->file ? profile->line : 0,
                .checksum = profile->checksum,
        };
        uint32_t number = profile_frame(profile->profile, &row);
        const SessionRole role = frame_role(&row);
        const bool is_jit =
                row.kind == FRAME_NATIVE && row.module && g_str_has_suffix(row.module, JIT);

        g_array_append_val(profile->frames, number);
        g_array_append_val(profile->jits, is_jit);
        g_array_append_val(profile->roles, role);
        g_clear_pointer(&profile->file, g_free);
        g_clear_pointer(&profile->checksum, g_free);
}

/* After the JIT's frames nearest to the leaf; 0: there are none. Those that it calls, in libc say,
 * are nearer to the leaf. */
static size_t find_jit_end(const PerfProfile *profile, const uint32_t *frames, size_t n)
{
        size_t end = 0, i;

        for (i = 0; i < n; i++) {
                const bool is_jit = g_array_index(profile->jits, bool, frames[i]);

                if (is_jit)
                        end = i + 1;
                else if (end)
                        break;
        }
        return end;
}

/* Inserts what is compiled, at AT of the sample's stack. */
static void insert_compiling(PerfProfile *profile, const StreamSample *sample, size_t at)
{
        PerfCompiling *compiling = profile->compiling;
        g_autoptr(GString) text = g_string_new("compiling ");
        ProfileFrame frame = {.module = JIT, .kind = FRAME_NATIVE};
        uint32_t number;

        compiling->n_samples++;
        if (!compiling->name(compiling->data, sample->pid, sample->tid, sample->time, text))
                return;
        compiling->n_named++;
        frame.name = text->str;
        number = profile_frame(profile->profile, &frame);
        g_array_insert_val(profile->stack, (guint)at, number);
}

/* How many of the frames nearest to the leaf are a session's; 0: none. */
static size_t find_session_end(const PerfProfile *profile, const char *comm, const uint32_t *frames,
                               size_t n)
{
        size_t end = 0, command = 0, i;

        if (n && !strcmp(comm, SESSION_THREAD))
                return n;
        for (i = 0; i < n; i++) {
                switch (g_array_index(profile->roles, SessionRole, frames[i])) {
                case SESSION_NOTHING:
                        break;
                case SESSION_ROOT:
                        end = i + 1;
                        break;
                case SESSION_COMMAND:
                        command = i + 1;
                        break;
                case SESSION_SOURCE:
                        end = MAX(end, command);
                        break;
                }
        }
        return end;
}

/* The sample's stack is a session's, whatever the first of its frames were called by. */
static void move_to_session(PerfProfile *profile, size_t end)
{
        static const ProfileFrame SESSION = {.name = PROFILE_SESSION, .kind = FRAME_SESSION};
        const uint32_t session = profile_frame(profile->profile, &SESSION);
        size_t i;

        g_array_set_size(profile->stack, (guint)end);
        for (i = 0; i < end; i++) {
                uint32_t *frame = &g_array_index(profile->stack, uint32_t, i);

                *frame = profile_session_frame(profile->profile, *frame);
        }
        if (g_array_index(profile->stack, uint32_t, end - 1) != session)
                g_array_append_val(profile->stack, session);
}

static void perf_profile_take_sample(void *data, const StreamSample *sample, const char *comm,
                                     const char *event, const uint32_t *frames, size_t n)
{
        PerfProfile *profile = data;
        ProfileSample row = {
                .comm = comm,
                .pid = sample->pid,
                .tid = sample->tid,
                .time = sample->time,
                .period = sample->period,
                .is_before = profile->is_before,
        };
        size_t session_end = find_session_end(profile, comm ? comm : "", frames, n), jit_end, i;

        if (session_end && profile->is_borrowed)
                return;
        g_array_set_size(profile->stack, 0);
        for (i = 0; i < n; i++)
                g_array_append_val(profile->stack,
                                   g_array_index(profile->frames, uint32_t, frames[i]));
        jit_end = profile->compiling ? find_jit_end(profile, frames, n) : 0;
        if (session_end)
                move_to_session(profile, session_end);
        else if (jit_end)
                insert_compiling(profile, sample, jit_end);
        row.n_frames = profile->stack->len;
        row.frames = (const uint32_t *)(const void *)profile->stack->data;
        profile_add(profile->profile, &row);
}

static const StreamCalls CALLS = {perf_profile_take_frame, perf_profile_take_sample, take_line,
                                  take_checksum};

void perf_profile_init(PerfProfile *profile, PerfCompiling *compiling, Profile *into)
{
        *profile = (PerfProfile){
                .profile = into ? into : profile_new(),
                .is_borrowed = into != NULL,
                .reader = stream_reader_new(&CALLS, profile),
                .compiling = compiling,
                .jits = g_array_new(FALSE, FALSE, sizeof(bool)),
                .roles = g_array_new(FALSE, FALSE, sizeof(SessionRole)),
                .frames = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                .stack = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
        };
}

void perf_profile_deinit(PerfProfile *profile)
{
        if (!profile->is_borrowed)
                g_clear_pointer(&profile->profile, profile_free);
        g_clear_pointer(&profile->reader, stream_reader_free);
        g_clear_pointer(&profile->file, g_free);
        g_clear_pointer(&profile->checksum, g_free);
        g_clear_pointer(&profile->jits, g_array_unref);
        g_clear_pointer(&profile->roles, g_array_unref);
        g_clear_pointer(&profile->frames, g_array_unref);
        g_clear_pointer(&profile->stack, g_array_unref);
}

bool perf_profile_take(const char *bytes, size_t n, void *data)
{
        PerfProfile *profile = data;

        return profile->reader && stream_reader_take(profile->reader, bytes, n);
}
