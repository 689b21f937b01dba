/* SPDX-License-Identifier: MIT */
#include "daemon/config.h"

#include "support/suite.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* The configuration files of a test, and its log. */
static char *directory;
static char *path;
static GString *logged;

static GLogWriterOutput write_log(GLogLevelFlags level, const GLogField *fields, gsize n_fields,
                                  gpointer unused)
{
        gsize i;

        for (i = 0; i < n_fields; i++)
                if (!strcmp(fields[i].key, "MESSAGE"))
                        g_string_append_printf(logged, "%s\n", (const char *)fields[i].value);
        return G_LOG_WRITER_HANDLED;
}

static void set_up(void)
{
        directory = g_dir_make_tmp("clrsym-config-XXXXXX", NULL);
        path = g_build_filename(directory, "clrsymd.conf", NULL);
        logged = g_string_new(NULL);
        g_log_set_writer_func(write_log, NULL, NULL);
}

static void remove_all(const char *name)
{
        g_autoptr(GDir) entries = g_dir_open(name, 0, NULL);
        const char *entry;

        while (entries && (entry = g_dir_read_name(entries))) {
                g_autofree char *child = g_build_filename(name, entry, NULL);

                remove_all(child);
        }
        g_remove(name);
}

static void tear_down(void)
{
        remove_all(directory);
        g_free(directory);
        g_free(path);
        g_string_free(logged, TRUE);
}

static void put(const char *text)
{
        ck_assert(g_file_set_contents(path, text, -1, NULL));
}

static void put_drop_in(const char *name, const char *text)
{
        g_autofree char *drop_ins = g_strconcat(path, ".d", NULL);
        g_autofree char *drop_in = g_build_filename(drop_ins, name, NULL);

        g_mkdir(drop_ins, 0755);
        ck_assert(g_file_set_contents(drop_in, text, -1, NULL));
}

static void load(Config *ret_config)
{
        g_autoptr(GError) error = NULL;

        ck_assert_msg(config_load(path, ret_config, &error), "%s", error ? error->message : "");
}

/* Returns the error; checks that CONFIG is unchanged. */
static char *load_fails(void)
{
        g_autoptr(GError) error = NULL;
        Config config = {.memory_max = 42}, before = config;

        ck_assert(!config_load(path, &config, &error));
        ck_assert_ptr_nonnull(error);
        ck_assert_mem_eq(&config, &before, sizeof(config));
        return g_strdup(error->message);
}

#define KIB UINT64_C(1024)
#define DAY UINT64_C(86400)

static const Config DEFAULTS = {
        .memory_max = KIB * KIB * KIB,
        .retention = DAY,
        .max_clients = 64,
        .max_clients_user = 16,
        .max_feeders = 1280,
        .metrics_interval = 15,
};

static void assert_equal(const Config *got, const Config *want)
{
        ck_assert_uint_eq(got->memory_max, want->memory_max);
        ck_assert_uint_eq(got->retention, want->retention);
        ck_assert_uint_eq(got->max_clients, want->max_clients);
        ck_assert_uint_eq(got->max_clients_user, want->max_clients_user);
        ck_assert_uint_eq(got->max_feeders, want->max_feeders);
        ck_assert_uint_eq(got->metrics_interval, want->metrics_interval);
        ck_assert_pstr_eq(got->metrics_file, want->metrics_file);
}

/* Files without any effect. */
static const char *const EMPTY[] = {
        "",
        "\n\n",
        "# nothing\n",
        "[Daemon]\n",
        "[Daemon]",
        "[Daemon]\n#MemoryMax=5G\n# Retention=7\n",
        "[Daemon]\nMemoryMax=\nRetention=\nMaxClients=\nMetricsFile=\nMetricsInterval=\n",
        "[Daemon]\nMemoryMax=2G\nMaxFeeders=3\n[Daemon]\nMemoryMax=\nMaxFeeders=  \n",
};

START_TEST(test_defaults)
{
        g_auto(Config) config = {0};

        put(EMPTY[_i]);
        load(&config);
        assert_equal(&config, &DEFAULTS);
        ck_assert_str_eq(logged->str, "");
}
END_TEST

START_TEST(test_all)
{
        g_auto(Config) config = {0};
        const Config want = {
                .memory_max = 512 * KIB * KIB,
                .retention = 2 * 3600,
                .max_clients = 1000,
                .max_clients_user = 100,
                .max_feeders = 7,
                .metrics_file = (char *)"/var/lib/a b\\s/ü.prom",
                .metrics_interval = 60,
        };

        put("[Daemon]\n"
            "MemoryMax = 512M \n"
            "Retention=2h\n"
            "MaxClients=1000\n"
            "MaxClientsPerUser=100\n"
            "MaxFeeders=7\n"
            "MetricsFile=/var/lib/a b\\s/ü.prom\n"
            "MetricsInterval=1 min\n");
        load(&config);
        assert_equal(&config, &want);
        ck_assert_str_eq(logged->str, "");
}
END_TEST

static const struct {
        const char *line;
        uint64_t memory, retention; /* 0: default */
        bool is_zero;
} VALUES[] = {
        {"MemoryMax=8M", 8 * KIB *KIB, 0, false},
        {"MemoryMax=8388608", 8 * KIB *KIB, 0, false},
        {"MemoryMax=8192K", 8 * KIB *KIB, 0, false},
        {"MemoryMax=16T", 16 * KIB *KIB *KIB *KIB, 0, false},
        {"MemoryMax=0", 0, 0, true},
        {"MemoryMax=0G", 0, 0, true},
        {"Retention=1", 0, 1, false},
        {"Retention=90s", 0, 90, false},
        {"Retention=90min", 0, 5400, false},
        {"Retention=3650d", 0, 3650 * DAY, false},
};

START_TEST(test_values)
{
        g_auto(Config) config = {0};
        g_autofree char *text = g_strdup_printf("[Daemon]\n%s\n", VALUES[_i].line);
        uint64_t memory = VALUES[_i].memory, retention = VALUES[_i].retention;

        put(text);
        load(&config);
        ck_assert_uint_eq(config.memory_max,
                          memory || VALUES[_i].is_zero ? memory : DEFAULTS.memory_max);
        ck_assert_uint_eq(config.retention, retention ? retention : DEFAULTS.retention);
}
END_TEST

/* Values, and the error after the file, the key and the value. */
static const struct {
        const char *key, *value, *allowed;
} BAD[] = {
        {"MemoryMax", "8388607", "from 8M to 16T, or 0 for no limit"},
        {"MemoryMax", "1", "from 8M to 16T, or 0 for no limit"},
        {"MemoryMax", "-1", "a size in bytes or with K, M, G, T"},
        {"MemoryMax", "+9M", "a size"},
        {"MemoryMax", "17T", "a size"},
        {"MemoryMax", "18446744073709551615", "a size"},
        {"MemoryMax", "18446744073717940224", "a size"}, /* 2^64 + 8M */
        {"MemoryMax", "18014398509481992K", "a size"},   /* 2^64 + 8M in K */
        {"MemoryMax", "1GB", "a size"},
        {"MemoryMax", "1.5G", "a size"},
        {"MemoryMax", "1g", "a size"},
        {"MemoryMax", "G", "a size"},
        {"MemoryMax", "0x10000000", "a size"},
        {"MemoryMax", "512M # comment", "a size"},
        {"MemoryMax", "64min", "a size"},
        {"Retention", "1m", "a time in seconds or with s, min, h, d"},
        {"Retention", "3651d", "from 1s to 3650d, or 0 for as long as MemoryMax allows"},
        {"Retention", "forever", "a time"},
        {"Retention", "1h 30min", "a time"},
        {"MaxClients", "0", "a number, from 1 to 65536"},
        {"MaxClients", "65537", "a number"},
        {"MaxClients", "10K", "a number"},
        {"MaxClients", "4294967297", "a number"},
        {"MaxClientsPerUser", "0", "a number"},
        {"MaxFeeders", "4097", "a number, from 1 to 4096"},
        {"MetricsFile", "clrsym.prom", "an absolute path"},
        {"MetricsInterval", "0", "a time in seconds or with s, min, h, d, from 1s to 1d"},
        {"MetricsInterval", "86401", "a time"},
};

START_TEST(test_bad_value)
{
        g_autofree char *text =
                g_strdup_printf("[Daemon]\nMaxFeeders=1\n%s=%s\n", BAD[_i].key, BAD[_i].value);
        g_autofree char *quoted = g_strdup_printf("'%s'", BAD[_i].value);
        g_autofree char *where = g_strdup_printf("%s: %s= takes ", path, BAD[_i].key);
        g_autofree char *message = NULL;

        put(text);
        message = load_fails();
        ck_assert_msg(g_str_has_prefix(message, where), "%s", message);
        ck_assert_msg(strstr(message, BAD[_i].allowed) != NULL, "%s", message);
        ck_assert_msg(g_str_has_suffix(message, quoted), "%s", message);
}
END_TEST

static const char *const BROKEN[] = {
        "MemoryMax=1G\n",  "[Daemon\nMemoryMax=1G\n", "[Daemon]\nMemoryMax\n",
        "[Daemon]\n=1G\n", "[Daemon]\n; comment\n",
};

START_TEST(test_broken)
{
        g_autofree char *message = NULL;

        put(BROKEN[_i]);
        message = load_fails();
        ck_assert_msg(g_str_has_prefix(message, path), "%s", message);
        ck_assert_ptr_nonnull(strstr(message, "allowed are [Daemon], Key=Value"));
}
END_TEST

#define BYTES(literal) literal, sizeof(literal) - 1

static const struct {
        const char *text;
        gssize n;
} NO_TEXT[] = {
        {BYTES("\xff\xfe\n")},
        {BYTES("[Daemon]\nMetricsFile=/\xff\n")},
        {BYTES("\0\0\0\0")},
        {BYTES("[Daemon]\nMaxClients=\0"
               "7\n")},
};

START_TEST(test_no_text)
{
        g_autofree char *want = g_strdup_printf("%s: is not text in UTF-8", path);
        g_autofree char *message = NULL;

        ck_assert(g_file_set_contents(path, NO_TEXT[_i].text, NO_TEXT[_i].n, NULL));
        message = load_fails();
        ck_assert_str_eq(message, want);
}
END_TEST

START_TEST(test_unknown)
{
        g_auto(Config) config = {0};
        g_autofree char *want = g_strdup_printf(
                "%1$s: unknown section [Client], ignored: see clrsymd.conf(5)\n"
                "%1$s: unknown key Colour in [Daemon], ignored: see clrsymd.conf(5)\n"
                "%1$s: unknown key maxfeeders in [Daemon], ignored: see clrsymd.conf(5)\n"
                "%1$s: unknown key MaxFeeders[de] in [Daemon], ignored: see clrsymd.conf(5)\n",
                path);

        put("[Daemon]\nColour=red\nmaxfeeders=2\nMaxFeeders[de]=3\nMaxClients=5\n"
            "[Client]\nMaxClients=x\n");
        load(&config);
        ck_assert_str_eq(logged->str, want);
        ck_assert_uint_eq(config.max_clients, 5);
        ck_assert_uint_eq(config.max_feeders, 1280);
}
END_TEST

START_TEST(test_drop_ins)
{
        g_auto(Config) config = {0}, again = {0};
        g_autofree char *drop_ins = g_strconcat(path, ".d", NULL), *message = NULL;
        g_autofree char *masked = g_build_filename(drop_ins, "30.conf", NULL);
        g_autofree char *bad = g_build_filename(drop_ins, "20.conf", NULL);

        put("[Daemon]\nMaxClients=1\nMaxFeeders=1\nMetricsFile=/1\nRetention=1\n");
        put_drop_in("20.conf", "[Daemon]\nMaxFeeders=20\nMetricsFile=\n");
        put_drop_in("10.conf", "[Daemon]\nMaxFeeders=10\nMetricsFile=/10\nRetention=10\n");
        put_drop_in("9.conf", "[Daemon]\nMaxClients=9\n"); /* last drop-in by name */
        put_drop_in("99.conf~", "[Daemon]\nMaxClients=99\n");
        put_drop_in(".99.conf", "[Daemon]\nMaxClients=99\n");
        ck_assert_int_eq(symlink("/dev/null", masked), 0);
        load(&config);
        ck_assert_uint_eq(config.max_feeders, 20);
        ck_assert_uint_eq(config.max_clients, 9);
        ck_assert_uint_eq(config.retention, 10);
        ck_assert_ptr_null(config.metrics_file);

        /* Load again; nothing of the first load may remain. */
        put("");
        put_drop_in("10.conf", "");
        load(&again);
        ck_assert_uint_eq(again.max_feeders, 20);
        ck_assert_uint_eq(again.retention, DEFAULTS.retention);

        put_drop_in("20.conf", "[Daemon]\nMaxFeeders=0\n");
        message = load_fails();
        ck_assert_msg(g_str_has_prefix(message, bad), "%s", message);

        /* An unknown key is an error even if a later file overrides it. */
        put_drop_in("25.conf", "[Daemon]\nMaxFeeders=5\n");
        g_free(message);
        message = load_fails();
        ck_assert_msg(g_str_has_prefix(message, bad), "%s", message);
}
END_TEST

START_TEST(test_absent)
{
        g_autofree char *message = load_fails(), *drop_ins = g_strconcat(path, ".d", NULL);
        g_autofree char *dangling = g_build_filename(drop_ins, "a.conf", NULL);

        ck_assert_ptr_nonnull(strstr(message, path));
        ck_assert_ptr_nonnull(strstr(message, "No such file"));

        put("");
        g_mkdir(drop_ins, 0755);
        ck_assert_int_eq(symlink("nothing", dangling), 0);
        g_free(message);
        message = load_fails();
        ck_assert_ptr_nonnull(strstr(message, dangling));

        g_remove(path);
        g_mkdir(path, 0755);
        g_free(message);
        message = load_fails();
        ck_assert_ptr_nonnull(strstr(message, path));

        remove_all(drop_ins);
        remove_all(path);
        put("");
        ck_assert(g_file_set_contents(drop_ins, "", -1, NULL)); /* a file, not a directory */
        g_free(message);
        message = load_fails();
        ck_assert_ptr_nonnull(strstr(message, drop_ins));
}
END_TEST

/* Options of the command line have priority over the file. */
START_TEST(test_set)
{
        g_auto(Config) config = {0};
        g_autoptr(GError) error = NULL;

        config_init(&config);
        assert_equal(&config, &DEFAULTS);
        ck_assert(config_set(&config, "MemoryMax", "9M", "--memory-max", &error));
        ck_assert_uint_eq(config.memory_max, 9 * KIB * KIB);
        ck_assert(config_set(&config, "MetricsFile", "/a", "--metrics-file", &error));
        ck_assert(config_set(&config, "MetricsFile", "/b", "--metrics-file", &error));
        ck_assert_str_eq(config.metrics_file, "/b");
        ck_assert(config_set(&config, "MetricsFile", "", "--metrics-file", &error));
        ck_assert_ptr_null(config.metrics_file);
        ck_assert(!config_set(&config, "MemoryMax", "", "--memory-max", &error));
        ck_assert_str_eq(error->message,
                         "--memory-max takes a size in bytes or with K, M, G, T, from 8M to 16T, "
                         "or 0 for no limit, not ''");
        ck_assert_uint_eq(config.memory_max, 9 * KIB * KIB);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("config");
        TCase *tcase = tcase_create("config");

        tcase_add_checked_fixture(tcase, set_up, tear_down);
        tcase_add_loop_test(tcase, test_defaults, 0, G_N_ELEMENTS(EMPTY));
        tcase_add_test(tcase, test_all);
        tcase_add_loop_test(tcase, test_values, 0, G_N_ELEMENTS(VALUES));
        tcase_add_loop_test(tcase, test_bad_value, 0, G_N_ELEMENTS(BAD));
        tcase_add_loop_test(tcase, test_broken, 0, G_N_ELEMENTS(BROKEN));
        tcase_add_loop_test(tcase, test_no_text, 0, G_N_ELEMENTS(NO_TEXT));
        tcase_add_test(tcase, test_unknown);
        tcase_add_test(tcase, test_drop_ins);
        tcase_add_test(tcase, test_absent);
        tcase_add_test(tcase, test_set);
        suite_add_tcase(suite, tcase);
        return suite;
}
