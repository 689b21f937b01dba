/* SPDX-License-Identifier: MIT */
#include "daemon/config.h"

#include "util/runtime-path.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define GROUP "Daemon"

/* A unit after a number, as a multiple of the smallest unit. */
typedef struct Unit {
        const char *name;
        uint64_t factor;
} Unit;

static const Unit SIZE_UNITS[] = {
        {"", 1},
        {"K", UINT64_C(1) << 10},
        {"M", UINT64_C(1) << 20},
        {"G", UINT64_C(1) << 30},
        {"T", UINT64_C(1) << 40},
        {0},
};
static const Unit TIME_UNITS[] = {
        {"", 1}, {"s", 1}, {"min", 60}, {"h", 60 * 60}, {"d", 24 * 60 * 60}, {0},
};
static const Unit NO_UNITS[] = {{"", 1}, {0}};

/* The type of a value; units NULL: a path. */
typedef struct Type {
        const char *what; /* the allowed values, for people */
        const Unit *units;
} Type;

static const Type SIZE = {"a size in bytes or with K, M, G, T", SIZE_UNITS};
static const Type TIME = {"a time in seconds or with s, min, h, d", TIME_UNITS};
static const Type COUNT = {"a number", NO_UNITS};
static const Type PATH = {"an absolute path", NULL};
/* The same; the default is relative to the directory of this user's services. */
static const Type RUNTIME_PATH = {"an absolute path", NULL};

typedef struct Key {
        const char *name;
        const Type *type;
        size_t offset;            /* in a Config: of a uint64_t, or a char * for a path */
        const char *fallback;     /* the default, in the file's notation */
        const char *least, *most; /* of a number, in the file's notation */
        const char *zero;         /* the meaning of 0; NULL: 0 is invalid */
} Key;

#define AT(field) offsetof(Config, field)

static const Key KEYS[] = {
        /* A budget must be able to hold one record. */
        {"MemoryMax", &SIZE, AT(memory_max), "1G", "8M", "16T", "no limit"},
        {"Retention", &TIME, AT(retention), "1d", "1s", "3650d", "as long as MemoryMax allows"},
        {"MaxClients", &COUNT, AT(max_clients), "64", "1", "65536", NULL},
        {"MaxClientsPerUser", &COUNT, AT(max_clients_user), "16", "1", "65536", NULL},
        {"MaxFeeders", &COUNT, AT(max_feeders), "1280", "1", "4096", NULL},
        {"MetricsFile", &PATH, AT(metrics_file), "", NULL, NULL, NULL},
        {"MetricsInterval", &TIME, AT(metrics_interval), "15s", "1s", "1d", NULL},
        {"StateDirectory", &PATH, AT(state_directory), "", NULL, NULL, NULL},
        /* A rundown costs the program time; whether to spend it is its owner's decision. */
        {"RundownAfterGap", &TIME, AT(rundown_after_gap), "0", "1s", "1d", "never"},
        {"Holder", &RUNTIME_PATH, AT(holder), "holder/control", NULL, NULL, NULL},
};

/* Older names of keys. */
static const struct {
        const char *alias, *name;
} ALIASES[] = {
        {"AttachAgain", "RundownAfterGap"},
};

static const Key *key_find(const char *name)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ALIASES); i++)
                if (!strcmp(ALIASES[i].alias, name))
                        name = ALIASES[i].name;
        for (i = 0; i < G_N_ELEMENTS(KEYS); i++)
                if (!strcmp(KEYS[i].name, name))
                        return &KEYS[i];
        return NULL;
}

/* Parses digits and one of the units, with or without blanks between. */
static bool parse_number(const char *text, const Unit *units, uint64_t *ret_number)
{
        guint64 n;
        char *end;

        if (!g_ascii_isdigit(*text))
                return false;
        errno = 0;
        n = g_ascii_strtoull(text, &end, 10);
        if (errno != 0)
                return false;
        end += strspn(end, " \t");
        for (; units->name; units++)
                if (!strcmp(end, units->name))
                        return !__builtin_mul_overflow(n, units->factor, ret_number);
        return false;
}

static bool is_number_allowed(const Key *key, const char *text, uint64_t *ret_number)
{
        uint64_t least = 0, most = 0;
        bool is_sound = parse_number(key->least, key->type->units, &least) &&
                        parse_number(key->most, key->type->units, &most);

        g_assert(is_sound); /* the table is correct */
        if (!parse_number(text, key->type->units, ret_number))
                return false;
        return (*ret_number >= least && *ret_number <= most) || (*ret_number == 0 && key->zero);
}

static bool config_refuse(const Key *key, const char *text, const char *label, GError **error)
{
        g_autoptr(GString) allowed = g_string_new(key->type->what);

        if (key->type->units)
                g_string_append_printf(allowed, ", from %s to %s", key->least, key->most);
        if (key->zero)
                g_string_append_printf(allowed, ", or 0 for %s", key->zero);
        g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE,
                    "%s takes %s, not '%s'", label, allowed->str, text);
        return false;
}

static bool key_set(const Key *key, Config *config, const char *text, const char *label,
                    GError **error)
{
        void *field = (char *)config + key->offset;
        uint64_t number;

        if (!key->type->units) {
                char **path = field;

                if (*text && !g_path_is_absolute(text))
                        return config_refuse(key, text, label, error);
                g_free(*path);
                *path = *text ? g_strdup(text) : NULL;
                return true;
        }
        if (!is_number_allowed(key, text, &number))
                return config_refuse(key, text, label, error);
        memcpy(field, &number, sizeof(number));
        return true;
}

static bool key_set_default(const Key *key, Config *config, const char *label, GError **error)
{
        g_autofree char *path =
                key->type == &RUNTIME_PATH ? runtime_path_service(key->fallback) : NULL;

        return key_set(key, config, path ? path : key->fallback, label, error);
}

void config_init(Config *config)
{
        size_t i;

        memset(config, 0, sizeof(*config));
        for (i = 0; i < G_N_ELEMENTS(KEYS); i++)
                key_set_default(&KEYS[i], config, KEYS[i].name, NULL);
}

void config_clear(Config *config)
{
        g_clear_pointer(&config->metrics_file, g_free);
        g_clear_pointer(&config->state_directory, g_free);
        g_clear_pointer(&config->holder, g_free);
}

bool config_set(Config *config, const char *name, const char *text, const char *label,
                GError **error)
{
        const Key *key = key_find(name);

        g_assert(key);
        return key_set(key, config, text, label, error);
}

static bool apply_key(GKeyFile *file, const char *path, const char *name, Config *config,
                      GError **error)
{
        const Key *key = key_find(name);
        g_autofree char *label = NULL, *text = NULL;

        if (!key) {
                g_warning("%s: unknown key %s in [" GROUP "], ignored: see clrsymd.conf(5)", path,
                          name);
                return true;
        }
        label = g_strdup_printf("%s: %s=", path, name);
        /* The raw string: a backslash in a path is no escape. */
        text = g_key_file_get_value(file, GROUP, name, NULL);
        if (!text || !*g_strstrip(text))
                return key_set_default(key, config, label, error);
        return key_set(key, config, text, label, error);
}

static bool apply_text(const char *path, const char *text, gsize n, Config *config, GError **error)
{
        g_autoptr(GKeyFile) file = g_key_file_new();
        g_autoptr(GError) wrong = NULL;
        g_auto(GStrv) groups = NULL, keys = NULL;
        gsize i;

        /* After a crash of the machine a file can be all zeros, which would count as empty. */
        if (!g_utf8_validate(text, (gssize)n, NULL)) {
                g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE,
                            "%s: is not text in UTF-8", path);
                return false;
        }
        /* Keep all translations, so that Key[de]= is not ignored. */
        if (!g_key_file_load_from_data(file, text, n, G_KEY_FILE_KEEP_TRANSLATIONS, &wrong)) {
                g_set_error(error, wrong->domain, wrong->code,
                            "%s: %s (allowed are [" GROUP "], Key=Value and # comments)", path,
                            wrong->message);
                return false;
        }
        groups = g_key_file_get_groups(file, NULL);
        for (i = 0; groups[i]; i++)
                if (strcmp(groups[i], GROUP) != 0)
                        g_warning("%s: unknown section [%s], ignored: see clrsymd.conf(5)", path,
                                  groups[i]);
        keys = g_key_file_get_keys(file, GROUP, NULL, NULL);
        for (i = 0; keys && keys[i]; i++)
                if (!apply_key(file, path, keys[i], config, error))
                        return false;
        return true;
}

static bool apply_file(const char *path, bool may_be_absent, Config *config, GError **error)
{
        g_autofree char *text = NULL;
        g_autoptr(GError) wrong = NULL;
        gsize n;

        if (g_file_get_contents(path, &text, &n, &wrong))
                return apply_text(path, text, n, config, error);
        if (may_be_absent && g_error_matches(wrong, G_FILE_ERROR, G_FILE_ERROR_NOENT))
                return true;
        g_propagate_prefixed_error(error, g_steal_pointer(&wrong), "no configuration: ");
        return false;
}

static gint compare_names(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool apply_directory(const char *path, Config *config, GError **error)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GError) wrong = NULL;
        g_autoptr(GDir) directory = g_dir_open(path, 0, &wrong);
        const char *name;
        guint i;

        if (!directory && g_error_matches(wrong, G_FILE_ERROR, G_FILE_ERROR_NOENT))
                return true;
        if (!directory) {
                g_propagate_prefixed_error(error, g_steal_pointer(&wrong), "no configuration: ");
                return false;
        }
        while ((name = g_dir_read_name(directory)))
                if (*name != '.' && g_str_has_suffix(name, ".conf"))
                        g_ptr_array_add(names, g_build_filename(path, name, NULL));
        g_ptr_array_sort(names, compare_names);
        for (i = 0; i < names->len; i++)
                if (!apply_file(names->pdata[i], false, config, error))
                        return false;
        return true;
}

bool config_load(const char *path, Config *ret_config, GError **error)
{
        g_autofree char *directory = g_strconcat(path ? path : CONFIG_FILE, ".d", NULL);
        g_auto(Config) config;

        config_init(&config);
        if (!apply_file(path ? path : CONFIG_FILE, path == NULL, &config, error) ||
            !apply_directory(directory, &config, error))
                return false;
        *ret_config = config;
        config.metrics_file = NULL;
        config.state_directory = NULL;
        config.holder = NULL;
        return true;
}
