/* SPDX-License-Identifier: MIT */
#include "cli/perf-profile.h"

#include "cli/profile-row.h"
#include "clrsym/clrsym.h"
#include "profile/profile-marker.h"

#include <string.h>

#define JIT     "libclrjit.so"
#define RUNTIME "libcoreclr.so"

#define CORE_LIBRARY "System.Private.CoreLib.dll"
/* The runtime's thread that serves sessions. */
#define SESSION_THREAD ".NET EventPipe"

/*
 * Methods of the core library, in names of any style. A session makes the runtime call the event
 * sources that it enables; at the start of a program, when the first source is made. A source
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

        /* The form of a session's frame in saved samples. */
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

static FrameOwner frame_owner(const ProfileFrame *frame)
{
        if (frame->kind == FRAME_MANAGED)
                return OWNER_MANAGED;
        return frame->kind == FRAME_NATIVE && frame->module && g_str_has_suffix(frame->module, JIT)
                       ? OWNER_JIT
                       : OWNER_OTHER;
}

static void perf_profile_take_frame(void *data, const NamedFrame *frame)
{
        PerfProfile *profile = data;
        const ProfileFrame row = profile_row_of(frame);
        const uint32_t number = profile_frame(profile->profile, &row);
        const SessionRole role = frame_role(&row);
        const FrameOwner owner = frame_owner(&row);

        perf_async_take_frame(&profile->async, &row);
        g_array_append_val(profile->frames, number);
        g_array_append_val(profile->owners, owner);
        g_array_append_val(profile->roles, role);
}

/* The index after the JIT's frames nearest to the leaf; 0: there are none. Their callees, in libc
 * for example, are nearer to the leaf. */
static size_t find_jit_end(const PerfProfile *profile, const uint32_t *frames, size_t n)
{
        size_t end = 0, i;

        for (i = 0; i < n; i++) {
                if (g_array_index(profile->owners, FrameOwner, frames[i]) == OWNER_JIT)
                        end = i + 1;
                else if (end)
                        break;
        }
        return end;
}

/* Inserts a frame of TEXT, in MODULE, at AT of the sample's stack. */
static void insert_activity(PerfProfile *profile, const char *text, const char *module, size_t at)
{
        const ProfileFrame frame = {.name = text, .module = module, .kind = FRAME_NATIVE};
        const uint32_t number = profile_frame(profile->profile, &frame);

        g_array_insert_val(profile->stack, (guint)at, number);
        if (profile->physical->len)
                g_array_insert_val(profile->physical, (guint)at, number);
}

static uint64_t activity_time(const PerfActivity *activity, const BatchSample *sample)
{
        return sample->time + (uint64_t)activity->clock_offset;
}

static void insert_compiling(PerfProfile *profile, const BatchSample *sample, size_t at)
{
        PerfActivity *activity = profile->activity;
        g_autoptr(GString) text = g_string_new("compiling ");

        activity->n_samples++;
        if (!activity->compiling(activity->data, sample->pid, sample->tid,
                                 activity_time(activity, sample), text))
                return;
        activity->n_named++;
        insert_activity(profile, text->str, JIT, at);
}

/* False: no collection was running. */
static bool insert_collecting(PerfProfile *profile, const BatchSample *sample, const char *comm,
                              const uint32_t *frames, size_t n)
{
        const PerfActivity *activity = profile->activity;
        g_autoptr(GString) text = g_string_new(PROFILE_COLLECTION);
        size_t at = 0;

        if (!activity->collecting(activity->data, sample->pid, sample->tid, comm,
                                  activity_time(activity, sample), text))
                return false;
        while (at < n && g_array_index(profile->owners, FrameOwner, frames[at]) != OWNER_MANAGED)
                at++;
        g_string_append_c(text, ')');
        insert_activity(profile, text->str, RUNTIME, at);
        return true;
}

/* The number of frames at the leaf's end that belong to a session; 0: none. */
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

/* Moves the sample's stack to the session, without the callers of its first frames. */
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

/* Makes the stack logical. Keeps the physical one if it differs. */
static void perf_profile_join(PerfProfile *profile, const BatchSample *sample,
                              const uint32_t *frames, size_t n)
{
        GArray *stack = profile->stack, *physical = profile->physical;

        if (profile->has_physical)
                g_array_append_vals(physical, stack->data, stack->len);
        perf_async_join(&profile->async, sample, frames, n, stack);
        if (physical->len == stack->len &&
            !memcmp(physical->data, stack->data, stack->len * sizeof(uint32_t)))
                g_array_set_size(physical, 0);
}

static void perf_profile_take_sample(void *data, const BatchSample *sample, const char *comm,
                                     const char *event, const uint32_t *frames, size_t n)
{
        PerfProfile *profile = data;
        ProfileSample row = {
                .comm = comm,
                .pid = sample->pid,
                .tid = sample->tid,
                .time = sample->time,
                .period = sample->period,
                .n_equal = profile->is_weighed && sample->period ? sample->period - 1 : 0,
                .is_before = profile->is_before,
        };
        size_t session_end = find_session_end(profile, comm ? comm : "", frames, n), jit_end, i;
        const bool has_known = profile->has_physical && profile->known_physical && !session_end;

        if (profile->activity)
                profile->activity->last =
                        MAX(profile->activity->last, activity_time(profile->activity, sample));
        if (session_end && profile->is_borrowed)
                return;
        g_array_set_size(profile->stack, 0);
        for (i = 0; i < n; i++)
                g_array_append_val(profile->stack,
                                   g_array_index(profile->frames, uint32_t, frames[i]));
        g_array_set_size(profile->physical, 0);
        for (i = 0; has_known && i < profile->n_known_physical; i++)
                g_array_append_val(profile->physical, g_array_index(profile->frames, uint32_t,
                                                                    profile->known_physical[i]));
        if (!session_end && profile->has_logical)
                perf_profile_join(profile, sample, frames, n);
        if (session_end)
                move_to_session(profile, session_end);
        else if (profile->activity && profile->activity->collecting &&
                 !insert_collecting(profile, sample, comm, frames, n) &&
                 (jit_end = find_jit_end(profile, frames, n)) > 0 && jit_end <= profile->stack->len)
                insert_compiling(profile, sample, jit_end);
        row.n_frames = profile->stack->len;
        row.frames = (const uint32_t *)(const void *)profile->stack->data;
        row.n_physical = profile->physical->len;
        row.physical =
                row.n_physical ? (const uint32_t *)(const void *)profile->physical->data : NULL;
        profile_add(profile->profile, &row);
}

GArray *perf_activity_markers(const PerfActivity *activity)
{
        GArray *markers = profile_markers_new();
        guint i;

        if (activity->mark)
                activity->mark(activity->data, markers);
        for (i = 0; i < markers->len; i++) {
                ProfileMarker *marker = &g_array_index(markers, ProfileMarker, i);

                marker->begin -= (uint64_t)activity->clock_offset;
                marker->end -= (uint64_t)activity->clock_offset;
        }
        return markers;
}

void perf_profile_init(PerfProfile *profile, PerfActivity *activity, Profile *into)
{
        *profile = (PerfProfile){
                .profile = into ? into : profile_new(),
                .is_borrowed = into != NULL,
                .activity = activity,
                .owners = g_array_new(FALSE, FALSE, sizeof(FrameOwner)),
                .roles = g_array_new(FALSE, FALSE, sizeof(SessionRole)),
                .frames = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                .stack = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                .physical = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                .has_logical = true,
        };
        perf_async_init(&profile->async, profile->profile);
}

void perf_profile_deinit(PerfProfile *profile)
{
        perf_async_deinit(&profile->async);
        if (!profile->is_borrowed)
                g_clear_pointer(&profile->profile, profile_free);
        g_clear_pointer(&profile->owners, g_array_unref);
        g_clear_pointer(&profile->roles, g_array_unref);
        g_clear_pointer(&profile->frames, g_array_unref);
        g_clear_pointer(&profile->stack, g_array_unref);
        g_clear_pointer(&profile->physical, g_array_unref);
}

SampleSink perf_profile_sink(PerfProfile *profile)
{
        return (SampleSink){.frame = perf_profile_take_frame,
                            .sample = perf_profile_take_sample,
                            .data = profile};
}
