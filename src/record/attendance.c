/* SPDX-License-Identifier: MIT */
#include "record/attendance.h"

#include "record/scratch.h"
#include "record/services.h"
#include "record/subjects.h"

struct Attendance {
        Scratch *scratch; /* owned, as all members */
        Services *services;
        Subjects *subjects;
        JitMemory *memory;
        pid_t pid;
};

Attendance *attendance_new(pid_t pid, const AttendanceSettings *settings, GError **error)
{
        Attendance *attendance = g_new0(Attendance, 1);

        attendance->pid = pid;
        attendance->memory = jit_memory_new();
        attendance->scratch = scratch_new(error);
        if (attendance->scratch)
                attendance->services =
                        services_start(attendance->scratch, /* has_logs= */ settings->has_async,
                                       settings->has_async, -1, error);
        if (attendance->services) {
                const SubjectsSettings subjects = {
                        .holder = attendance->services->holder_path,
                        .pids = &attendance->pid,
                        .n_pids = 1,
                        .is_perf_used = !settings->needs_runtime,
                        .memory = attendance->memory,
                        .note = settings->note,
                        .data = settings->data,
                };

                attendance->subjects = subjects_new(&subjects);
                if (subjects_begin(attendance->subjects, -1, error))
                        return attendance;
        }
        attendance_free(attendance);
        return NULL;
}

void attendance_free(Attendance *attendance)
{
        if (!attendance)
                return;
        services_free(attendance->services, -1);
        scratch_free(attendance->scratch);
        subjects_free(attendance->subjects);
        jit_memory_free(attendance->memory);
        g_free(attendance);
}

void attendance_detach(Attendance *attendance)
{
        services_detach(attendance->services, -1);
}

const char *attendance_socket(const Attendance *attendance)
{
        return attendance->services->query;
}

const char *attendance_async_logs(const Attendance *attendance)
{
        return attendance->services->async_logs;
}

const JitMemory *attendance_memory(const Attendance *attendance)
{
        return attendance->memory;
}
