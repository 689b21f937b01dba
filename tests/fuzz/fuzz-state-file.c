/* SPDX-License-Identifier: MIT */

/*
 * Files of the state directory with any bytes: u8 kind, then the file. If root inspects a feeder of
 * the service, another user may have written them.
 */

#include "feed/state-file.h"
#include "lttng/relay-daemon.h"
#include "lttng/session-settings.h"
#include "lttng/state-dir.h"

#include "fuzz.h"

#include <glib/gstdio.h>
#include <string.h>

enum { FILE_SETTINGS, FILE_RELAY, FILE_FEEDER, N_FILES };

static const char *const NAMES[N_FILES] = {"x.session", RELAY_FILE, "x.feeder"};

static char *directory; /* owned until the end of the program */

static void directory_remove(void)
{
        size_t i;

        for (i = 0; i < N_FILES; i++)
                state_dir_remove(directory, NAMES[i]);
        g_rmdir(directory);
}

static void directory_make(void)
{
        directory = g_build_filename(g_get_tmp_dir(), "clrsym-fuzz-XXXXXX", NULL);
        FUZZ_REQUIRE(g_mkdtemp(directory) != NULL);
        g_setenv("CLRSYM_SESSIONS", directory, TRUE);
        atexit(directory_remove);
}

/* Parsed settings can be written, and reading them again gives the same settings. */
static void check_settings(const json_t *value)
{
        g_autoptr(SessionSettings) settings = session_settings_from_json(value), again = NULL;
        json_auto_t *copy = settings ? session_settings_to_json(settings) : NULL;
        json_auto_t *second = NULL;

        if (!settings)
                return;
        FUZZ_REQUIRE(session_settings_is_name(settings->name));
        again = session_settings_from_json(copy);
        FUZZ_REQUIRE(again != NULL);
        second = session_settings_to_json(again);
        FUZZ_REQUIRE(json_equal(copy, second));
}

static void check_relay(const json_t *value)
{
        g_auto(RelayDaemon) relay = {0};

        if (relay_daemon_from_json(value, &relay))
                FUZZ_REQUIRE(relay.process.pid > 0 && relay.output);
}

static void check_feeder(void)
{
        json_auto_t *list = state_file_list(), *one = state_file_read("x");

        FUZZ_REQUIRE(json_is_array(list) && json_array_size(list) <= 1);
        FUZZ_REQUIRE(!one || json_array_size(list) == 1);
        state_file_has_read("x", 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        unsigned which = size ? data[0] % N_FILES : 0;
        g_autofree char *path = NULL;
        json_auto_t *value = NULL;

        if (size == 0 || size > FUZZ_MAX_INPUT)
                return 0;
        if (!directory)
                directory_make();
        path = g_build_filename(directory, NAMES[which], NULL);
        FUZZ_REQUIRE(g_file_set_contents_full(path, (const char *)data + 1, (gssize)size - 1,
                                              G_FILE_SET_CONTENTS_NONE, 0600, NULL));
        value = state_dir_read(directory, NAMES[which], NULL);
        if (value && which == FILE_SETTINGS)
                check_settings(value);
        else if (value && which == FILE_RELAY)
                check_relay(value);
        else if (which == FILE_FEEDER)
                check_feeder();
        g_unlink(path);
        return 0;
}
