/* SPDX-License-Identifier: MIT */
#include "doctor/environment.h"

#include <string.h>

void environment_init(Environment *environment, const char *text, size_t n)
{
        /* The copy always ends with a NUL. */
        environment->text = g_malloc(n + 1);
        memcpy(environment->text, text, n);
        environment->text[n] = '\0';
        environment->n = n + 1;
}

void environment_clear(Environment *environment)
{
        g_clear_pointer(&environment->text, g_free);
}

const char *environment_get(const Environment *environment, const char *name)
{
        const char *at = environment->text, *end = at + environment->n;
        size_t n = strlen(name);

        for (; at < end; at += strlen(at) + 1)
                if (!strncmp(at, name, n) && at[n] == '=')
                        return at + n + 1;
        return NULL;
}

const char *environment_get_setting(const Environment *environment, const char *name)
{
        static const char *const PREFIXES[] = {"DOTNET_", "COMPlus_"};
        const char *value = NULL;
        size_t i;

        for (i = 0; !value && i < G_N_ELEMENTS(PREFIXES); i++) {
                g_autofree char *whole = g_strconcat(PREFIXES[i], name, NULL);

                value = environment_get(environment, whole);
        }
        return value;
}

bool environment_is_lttng_off(const Environment *environment)
{
        const char *value = environment_get_setting(environment, "LTTng");
        guint64 number;

        return value && g_ascii_string_to_unsigned(value, 10, 0, G_MAXUINT32, &number, NULL) &&
               number == 0;
}

bool environment_is_event_log_on(const Environment *environment)
{
        const char *value = environment_get_setting(environment, "EnableEventLog");

        return value && g_ascii_strtoull(value, NULL, 16) != 0;
}
