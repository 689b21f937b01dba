/* SPDX-License-Identifier: MIT */

/*
 * Files of /proc whose content the process controls, partly or wholly: maps, environ, stat and
 * status; and the files of a holder's directory
 */

#include "attach/attachment-file.h"
#include "attach/target.h"
#include "doctor/environment.h"
#include "doctor/runtime-detect.h"
#include "fuzz.h"
#include "util/proc-stat.h"

#include <string.h>

static void read_text(const char *text)
{
        g_auto(DetectedRuntime) here = {NULL}, elsewhere = {NULL};
        uint32_t numbers[4];
        AttachmentFile file;
        ProcStat stat;
        Target target = {.pidfd = -1};

        runtime_detect(text, NULL, &here);
        runtime_detect(text, "/proc/1/root", &elsewhere);
        target_take_maps(&target, text);
        (void)proc_stat_parse(text, &stat);
        (void)proc_status_numbers(text, "Uid", numbers, G_N_ELEMENTS(numbers));
        (void)attachment_file_parse(text, &file);
        target_close(&target);
}

static void read_environment(const char *text, size_t n)
{
        g_auto(Environment) environment = {NULL};
        Target target = {.pidfd = -1};

        environment_init(&environment, text, n);
        (void)environment_get(&environment, "HOME");
        (void)environment_is_lttng_off(&environment);
        (void)environment_is_event_log_on(&environment);
        target_take_environment(&target, text, n);
        target_close(&target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *bytes = g_malloc(size + 1);

        if (size)
                memcpy(bytes, data, size);
        bytes[size] = '\0';
        read_text(bytes);
        read_environment(bytes, size);
        return 0;
}
