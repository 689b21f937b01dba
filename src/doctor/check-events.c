/* SPDX-License-Identifier: MIT */

/*
 * Checks of the process that was named: are its events on, and of which clock?
 */

#include "doctor/doctor.h"

#include <string.h>

static bool is_on_from_start(const Doctor *doctor)
{
        return inspection_is(&doctor->inspection, "on_from_start");
}

void check_port(const Doctor *doctor, Finding *finding)
{
        /* Without it, nothing can be switched on later. */
        FindingStatus status = is_on_from_start(doctor) ? FINDING_NOTE : FINDING_PROBLEM;
        const Inspection *inspection = &doctor->inspection;
        g_autofree char *go_on = g_strdup_printf("kill -CONT %d", (int)doctor->pid);

        if (!doctor_has_runtime(doctor))
                return;
        if (inspection_is(inspection, "port"))
                finding_set(finding, FINDING_OK, NULL, "its diagnostic port is open");
        else if (inspection_is(inspection, "port_off"))
                finding_set(finding, status,
                            "start it without DOTNET_EnableDiagnostics=0, or with the variables "
                            "of: clrsym env",
                            "its diagnostic port is closed (DOTNET_EnableDiagnostics): it cannot "
                            "be attached to");
        else if (inspection_is(inspection, "port_silent"))
                finding_set(finding, status, go_on,
                            "its diagnostic port takes no connections: it is stopped, or busy");
        else
                finding_set(finding, status, "start it with the variables of: clrsym env",
                            "it does not listen at a diagnostic port in %s: it cannot be attached "
                            "to",
                            inspection_text(inspection, "directory"));
}

void check_switched_on(const Doctor *doctor, Finding *finding)
{
        g_autofree char *attach = g_strdup_printf("clrsym attach %d", (int)doctor->pid);
        g_autofree char *again = g_strdup_printf("clrsym attach --again %d", (int)doctor->pid);
        bool is_live =
                doctor->daemon_version && json_is_true(json_object_get(doctor->session, "live"));

        if (!doctor_has_runtime(doctor) || !inspection_is(&doctor->inspection, "provider"))
                return;
        if (doctor->n_live > 0)
                finding_set(finding, FINDING_OK, NULL,
                            "the daemon knows %" G_GINT64_FORMAT " of its methods", doctor->n_live);
        else if (!is_on_from_start(doctor) && !doctor->is_attached)
                finding_set(finding, FINDING_PROBLEM, attach,
                            "its events are not switched on: it was started without, and is not "
                            "attached");
        else if (is_live)
                finding_set(finding, FINDING_NOTE, again,
                            "its events are switched on, but the daemon has heard of no method");
        else if (!doctor->is_attached && !inspection_is(&doctor->inspection, "filter"))
                finding_set(finding, FINDING_NOTE, "start it with the variables of: clrsym env",
                            "every event of its is switched on, which costs it time: it has no "
                            "DOTNET_EventSourceFilter");
        else
                finding_set(finding, FINDING_OK, NULL, "its events are switched on");
}

void check_clock(const Doctor *doctor, Finding *finding)
{
        if (!doctor_has_runtime(doctor))
                return;
        if (inspection_is(&doctor->inspection, "clock_plugin"))
                finding_set(finding, FINDING_PROBLEM, "start it without LTTNG_UST_CLOCK_PLUGIN",
                            "its events have the times of another clock than perf's");
        else if (inspection_is(&doctor->inspection, "time_ns"))
                finding_set(finding, FINDING_PROBLEM,
                            "start it without a time namespace of its own",
                            "it is in another time namespace: the times of its events are not "
                            "perf's");
        else
                finding_set(finding, FINDING_OK, NULL,
                            "the times of its events are CLOCK_MONOTONIC");
}
