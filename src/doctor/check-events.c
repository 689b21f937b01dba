/* SPDX-License-Identifier: MIT */

/* Checks of the given process: whether its events are switched on, and their clock */

#include "doctor/doctor.h"

#include <string.h>

/* Abilities of runtimes without LTTng, from a version on; the newest first. */
static const struct {
        unsigned major;
        const char *text;
} ABILITIES[] = {
        {10, "without stacks, and only those that are needed"},
        {9, "without stacks"},
        {0, "with stacks, which cost it more"},
};

static const char *runtime_ability(const char *version)
{
        const guint64 major = version ? g_ascii_strtoull(version, NULL, 10) : 0;
        size_t i = 0;

        while (ABILITIES[i].major > major)
                i++;
        return ABILITIES[i].text;
}

/* Names need LTTng's provider, or an open port. */
static void check_open_port(const Doctor *doctor, Finding *finding)
{
        const InspectionFacts *facts = &doctor->inspection.facts;
        const char *version = facts->runtime_version;
        g_autofree char *attach = g_strdup_printf("clrsym attach %d", (int)doctor->pid);
        bool is_needed = !facts->has_provider && !doctor->is_attached && doctor->n_live <= 0;

        finding_set(finding, is_needed ? FINDING_NOTE : FINDING_OK, is_needed ? attach : NULL,
                    "its diagnostic port is open: its events can come without LTTng, %s (.NET %s)",
                    runtime_ability(version), version ? version : "5");
}

void check_port(const Doctor *doctor, Finding *finding)
{
        const InspectionFacts *facts = &doctor->inspection.facts;
        /* Without a port, nothing can be switched on later. */
        FindingStatus status = facts->is_on_from_start ? FINDING_NOTE : FINDING_PROBLEM;
        g_autofree char *resume = g_strdup_printf("kill -CONT %d", (int)doctor->pid);

        if (!doctor_has_runtime(doctor) && !(facts->is_single_file && facts->has_port))
                return;
        if (facts->has_port)
                check_open_port(doctor, finding);
        else if (facts->is_port_off)
                finding_set(finding, status,
                            "start it without DOTNET_EnableDiagnostics=0, or with the variables "
                            "of: clrsym env",
                            "its diagnostic port is closed (DOTNET_EnableDiagnostics): it cannot "
                            "be attached to");
        else if (facts->is_port_unresponsive)
                finding_set(finding, status, resume,
                            "its runtime does not answer at its diagnostic port: it is stopped, "
                            "or busy");
        else if (facts->is_port_strange)
                finding_set(finding, status,
                            "end the program that listens there, or start it again",
                            "what answers at its diagnostic port is not a .NET runtime");
        else
                finding_set(finding, status, "start it with the variables of: clrsym env",
                            "it does not listen at a diagnostic port in %s: it cannot be attached "
                            "to",
                            facts->port_directory);
}

void check_switched_on(const Doctor *doctor, Finding *finding)
{
        g_autofree char *attach = g_strdup_printf("clrsym attach %d", (int)doctor->pid);
        g_autofree char *rundown = g_strdup_printf("clrsym attach --again %d", (int)doctor->pid);
        bool is_live = doctor->daemon_version && doctor->session && doctor->session->is_live;

        if (!doctor_has_runtime(doctor) || !doctor->inspection.facts.has_provider)
                return;
        if (doctor->n_live > 0)
                finding_set(finding, FINDING_OK, NULL,
                            "the daemon knows %" G_GINT64_FORMAT " of its methods", doctor->n_live);
        else if (!doctor->inspection.facts.is_on_from_start && !doctor->is_attached)
                finding_set(
                        finding, FINDING_PROBLEM, attach,
                        "its events are not switched on: it was started without tracing, and is "
                        "not attached");
        else if (is_live)
                finding_set(finding, FINDING_NOTE, rundown,
                            "its events are switched on, but the daemon knows none of its methods");
        else if (!doctor->is_attached && !doctor->inspection.facts.has_filter)
                finding_set(finding, FINDING_NOTE, "start it with the variables of: clrsym env",
                            "all its events are switched on, which slows it down: "
                            "DOTNET_EventSourceFilter is not set");
        else
                finding_set(finding, FINDING_OK, NULL, "its events are switched on");
}

void check_clock(const Doctor *doctor, Finding *finding)
{
        g_autofree char *attach =
                g_strdup_printf("clrsym attach --via=eventpipe %d", (int)doctor->pid);

        if (!doctor_has_runtime(doctor))
                return;
        if (doctor->inspection.facts.has_clock_plugin)
                finding_set(finding, FINDING_PROBLEM, "start it without LTTNG_UST_CLOCK_PLUGIN",
                            "the times of its events are of another clock than perf's");
        else if (doctor->inspection.facts.is_in_time_ns && doctor->inspection.facts.has_port)
                finding_set(finding, FINDING_NOTE, attach,
                            "it is in another time namespace: clrsym attach and clrsym record "
                            "convert the times of its events, and LTTng does not");
        else if (doctor->inspection.facts.is_in_time_ns)
                finding_set(finding, FINDING_PROBLEM,
                            "start it without a time namespace of its own",
                            "it is in another time namespace: the times of its events are not "
                            "perf's");
        else
                finding_set(finding, FINDING_OK, NULL,
                            "the times of its events are CLOCK_MONOTONIC");
}
