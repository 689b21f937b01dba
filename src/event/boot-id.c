/* SPDX-License-Identifier: MIT */
#include "event/boot-id.h"

#include "util/clock.h"
#include "util/hex-text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * For traces whose clock does not name its boot. LTTng reads the clock's offset once for each
 * session daemon; the real offset drifts with NTP. Two boots of one machine are further apart than
 * this.
 */
#define BOOT_TOLERANCE_NS (INT64_C(10) * (int64_t)NS_PER_SECOND)

#define BOOT_ID_FILE   "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_LENGTH 36 /* A UUID in its usual form, which has 36 characters. */
static bool uuid_parse(const char *text, uint8_t uuid[16])
{
        unsigned i;

        for (i = 0; i < 16; i++) {
                int byte;

                text += *text == '-';
                byte = hex_byte(text);
                if (byte < 0)
                        return false;
                uuid[i] = (uint8_t)byte;
                text += 2;
        }
        return true;
}

static void warn_clock_set(int64_t step)
{
        static bool has_warned;

        if (!has_warned)
                fprintf(stderr,
                        "clrsym: the machine's clock was set by %+.0f s since the tracing session "
                        "began: times of day in this trace are off by that\n",
                        (double)step / NS_PER_SECOND);
        has_warned = true;
}

char *boot_id_read(GError **error)
{
        g_autofree char *text = NULL;
        uint8_t uuid[16];

        if (!g_file_get_contents(BOOT_ID_FILE, &text, NULL, error)) {
                g_prefix_error(error,
                               "the id of this boot cannot be read (a unit with ProcSubset=pid "
                               "hides it: set ProcSubset=all): ");
                return NULL;
        }
        if (strlen(g_strstrip(text)) != BOOT_ID_LENGTH || !uuid_parse(text, uuid)) {
                g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                            BOOT_ID_FILE " does not have the id of this boot: mount the kernel's "
                                         "/proc");
                return NULL;
        }
        return g_steal_pointer(&text);
}

void boot_id_append(GString *out, const char *hostname, const uint8_t *clock_uuid, int64_t offset)
{
        int64_t own = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC), step;
        g_autofree char *boot_id = NULL;
        bool is_near;
        uint8_t uuid[16];
        char name[256];

        if (gethostname(name, sizeof(name)) < 0 || strncmp(name, hostname, sizeof(name)) ||
            !(boot_id = boot_id_read(/* error= */ NULL)) || !uuid_parse(boot_id, uuid))
                return;
        is_near = !__builtin_sub_overflow(own, offset, &step) && step <= BOOT_TOLERANCE_NS &&
                  step >= -BOOT_TOLERANCE_NS;
        if (clock_uuid ? memcmp(clock_uuid, uuid, sizeof(uuid)) != 0 : !is_near)
                return;
        if (!is_near)
                warn_clock_set(step);
        g_string_append(out, boot_id);
}
