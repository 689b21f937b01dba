/* SPDX-License-Identifier: MIT */
#include "attach/attachment-file.h"

#include "wire/hold-request.h"

#include <stdio.h>
#include <string.h>

#define GROUP  "attachment"
#define INGEST "ingest"

/* The first N_NUMBERS are in the order in which earlier versions wrote the numbers. */
static const struct {
        const char *name;
        size_t offset;
} FIELDS[] = {
        {"session", offsetof(AttachmentFile, session)},
        {"persistent", offsetof(AttachmentFile, is_persistent)},
        {"held_since", offsetof(AttachmentFile, held_since)},
        {"held_until", offsetof(AttachmentFile, held_until)},
        {"worker", offsetof(AttachmentFile, worker)},
        {"worker_start", offsetof(AttachmentFile, worker_start)},
        {"vpid", offsetof(AttachmentFile, vpid)},
        {"pid_ns", offsetof(AttachmentFile, pid_ns)},
        {"via", offsetof(AttachmentFile, via)},
        {"list", offsetof(AttachmentFile, list)},
        {"clock_offset", offsetof(AttachmentFile, clock_offset)},
};

/* Fields that every file has. */
#define N_NUMBERS 8

static uint64_t *attachment_file_field(AttachmentFile *file, size_t i)
{
        return (uint64_t *)((char *)file + FIELDS[i].offset);
}

char *attachment_file_path(const char *directory, pid_t pid, uint64_t start_ticks)
{
        return g_strdup_printf("%s/%d-%" G_GUINT64_FORMAT, directory, (int)pid,
                               (guint64)start_ticks);
}

bool attachment_file_parse_name(const char *name, pid_t *ret_pid, uint64_t *ret_start_ticks)
{
        unsigned long long ticks;
        int pid, n = 0;

        if (sscanf(name, "%d-%llu%n", &pid, &ticks, &n) != 2 || name[n] || pid <= 0)
                return false;
        *ret_pid = pid;
        *ret_start_ticks = ticks;
        return true;
}

static bool attachment_file_parse_numbers(const char *text, AttachmentFile *ret_file)
{
        g_auto(GStrv) numbers = g_strsplit(text, " ", N_NUMBERS + 1);
        AttachmentFile file = {0};
        size_t i;

        if (g_strv_length(numbers) != N_NUMBERS)
                return false;
        for (i = 0; i < N_NUMBERS; i++) {
                guint64 number;

                g_strchomp(numbers[i]);
                if (!g_ascii_string_to_unsigned(numbers[i], 10, 0, UINT64_MAX, &number, NULL))
                        return false;
                *attachment_file_field(&file, i) = number;
        }
        *ret_file = file;
        return true;
}

bool attachment_file_parse(const char *text, AttachmentFile *ret_file)
{
        g_autoptr(GKeyFile) keys = g_key_file_new();
        AttachmentFile file;
        size_t i;

        if (g_ascii_isdigit(*text))
                return attachment_file_parse_numbers(text, ret_file);
        if (!g_key_file_load_from_data(keys, text, strlen(text), G_KEY_FILE_NONE, NULL))
                return false;
        for (i = 0; i < G_N_ELEMENTS(FIELDS); i++) {
                g_autoptr(GError) error = NULL;

                *attachment_file_field(&file, i) =
                        g_key_file_get_uint64(keys, GROUP, FIELDS[i].name, &error);
                if (error && (i < N_NUMBERS || error->code != G_KEY_FILE_ERROR_KEY_NOT_FOUND))
                        return false;
        }
        if (file.via >= ATTACH_VIA_AUTO || file.list >= _ATTACH_LIST_MAX)
                return false;
        *ret_file = file;
        return true;
}

char *attachment_file_ingest(const char *text)
{
        g_autoptr(GKeyFile) keys = g_key_file_new();

        return g_key_file_load_from_data(keys, text, strlen(text), G_KEY_FILE_NONE, NULL)
                       ? g_key_file_get_string(keys, GROUP, INGEST, NULL)
                       : NULL;
}

char *attachment_file_format(const AttachmentFile *file, const char *ingest)
{
        g_autoptr(GKeyFile) keys = g_key_file_new();
        AttachmentFile copy = *file;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(FIELDS); i++)
                g_key_file_set_uint64(keys, GROUP, FIELDS[i].name,
                                      *attachment_file_field(&copy, i));
        g_key_file_set_string(keys, GROUP, INGEST, ingest);
        return g_key_file_to_data(keys, NULL, NULL);
}
