/* SPDX-License-Identifier: MIT */
#include "nettrace/metadata.h"

#include "nettrace/events.h"
#include "nettrace/wide.h"

#define DOTNET_PREFIX  "Microsoft-Windows-"
#define RUNTIME_PREFIX DOTNET_PREFIX "DotNETRuntime"

/* Bytes shown of the name of a provider, or of an event without a row. */
#define MAX_NAME 100

/* Kinds of optional metadata in version 6. */
typedef enum OptionalKind {
        OPTIONAL_OPCODE = 1,
        OPTIONAL_KEYWORD = 3,
        OPTIONAL_TEMPLATE = 4,
        OPTIONAL_DESCRIPTION = 5,
        OPTIONAL_KEY_VALUE = 6,
        OPTIONAL_GUID = 7,
        OPTIONAL_LEVEL = 8,
        OPTIONAL_VERSION = 9,
} OptionalKind;

/* The description of an event in a row. */
typedef struct MetadataRow {
        uint32_t id;
        const char *provider; /* not terminated, UTF-8 */
        size_t n_provider;
        uint32_t event_id;
        uint32_t event_version;
        bool has_version;
        const char *name; /* of version 6, not terminated, UTF-8 */
        size_t n_name;
        NettraceCursor fields; /* of version 6: N_FIELDS, each a u16 size, a name and a type */
        uint16_t n_fields;
} MetadataRow;

void nettrace_metadata_init(NettraceMetadataTable *table, EventUse use, GHashTable *counts)
{
        *table = (NettraceMetadataTable){
                .by_id = g_hash_table_new_full(NULL, NULL, NULL, g_free),
                .counts = counts,
                .use = use,
        };
}

void nettrace_metadata_deinit(NettraceMetadataTable *table)
{
        g_hash_table_destroy(table->by_id);
}

void nettrace_metadata_clear(NettraceMetadataTable *table)
{
        g_hash_table_remove_all(table->by_id);
}

const NettraceMetadata *nettrace_metadata_get(const NettraceMetadataTable *table, uint32_t id)
{
        return g_hash_table_lookup(table->by_id, GUINT_TO_POINTER(id));
}

/* The row of the event table. If the stream has no version, the latest. */
static const Event *row_event(const MetadataRow *row, Provider provider, bool *ret_is_later)
{
        unsigned version;

        if (row->has_version)
                return event_by_id_or_later(provider, row->event_id, row->event_version,
                                            ret_is_later);
        *ret_is_later = false;
        for (version = UINT8_MAX + 1; version-- > 0;) {
                const Event *event = event_by_id(provider, row->event_id, version);

                if (event)
                        return event;
        }
        return NULL;
}

/* The names of providers in EventPipe. */
static const char *const PROVIDERS[_PROVIDER_MAX] = {
        [PROVIDER_RUNTIME] = RUNTIME_PREFIX,
        [PROVIDER_RUNDOWN] = RUNTIME_PREFIX "Rundown",
        [PROVIDER_PRIVATE] = RUNTIME_PREFIX "Private",
        [PROVIDER_ASYNC] = "System.Runtime.CompilerServices.AsyncProfilerEventSource",
        [PROVIDER_UNIVERSAL_SYSTEM] = "Universal.System",
        [PROVIDER_UNIVERSAL_EVENTS] = "Universal.Events",
};

static bool row_is_of(const MetadataRow *row, Provider provider)
{
        const size_t n = strlen(PROVIDERS[provider]);

        return row->n_provider == n && !memcmp(row->provider, PROVIDERS[provider], n);
}

/* In LTTng's form, PROVIDER:NAME; events without a row have numbers in place of names. */
static char *row_name(const MetadataRow *row, const Event *event)
{
        const size_t n_prefix = strlen(DOTNET_PREFIX);

        if (event)
                return g_strconcat(provider_name(event->provider), ":", event->name, NULL);
        return g_strdup_printf("%.*s:event %u version %u",
                               (int)MIN(row->n_provider - n_prefix, MAX_NAME),
                               row->provider + n_prefix, row->event_id, row->event_version);
}

static const char *cursor_take_text(NettraceCursor *cursor, size_t *ret_n)
{
        *ret_n = nettrace_varint32(cursor);
        return (const char *)nettrace_bytes(cursor, *ret_n);
}

/* True if the stream describes the fields of EVENT, possibly with more after them. */
static bool row_has_fields(const MetadataRow *row, const Event *event)
{
        NettraceCursor cursor = row->fields;
        unsigned i;

        for (i = 0; i < event->n_fields && i < row->n_fields; i++) {
                const char *wanted = field_name(event->fields[i].name);
                const uint16_t n_field = nettrace_u16(&cursor);
                const uint8_t *bytes = nettrace_bytes(&cursor, n_field);
                NettraceCursor field = nettrace_cursor(bytes, bytes ? n_field : 0);
                size_t n;
                const char *name = cursor_take_text(&field, &n);

                if (!name || n != strlen(wanted) || memcmp(name, wanted, n) != 0)
                        return false;
        }
        return i == event->n_fields;
}

/* Universal events have names; only some have stable ids. */
static void metadata_set_universal(NettraceMetadataTable *table, NettraceMetadata *metadata,
                                   const MetadataRow *row)
{
        g_autofree char *name =
                g_strdup_printf("%.*s:%.*s", (int)row->n_provider, row->provider,
                                (int)MIN(row->n_name, MAX_NAME), row->n_name ? row->name : "");
        const Event *event = event_by_name(name);
        g_autofree char *shown = NULL;

        if (event && !row->event_version && row_has_fields(row, event))
                metadata->universal = metadata->event = event;
        else
                shown = g_strdup_printf("%s (event %u, version %u)", name, row->event_id,
                                        row->event_version);
        metadata->counts = event_counts_get(table->counts, shown ? shown : name, metadata->event,
                                            /* is_later= */ false);
}

static void metadata_set_dotnet(NettraceMetadataTable *table, NettraceMetadata *metadata,
                                const MetadataRow *row)
{
        const size_t n_prefix = strlen(RUNTIME_PREFIX);
        Provider provider;

        for (provider = 0; provider < PROVIDER_UNIVERSAL_SYSTEM; provider++)
                if (row_is_of(row, provider))
                        metadata->event = row_event(row, provider, &metadata->is_later);
        if (metadata->event ||
            (row->n_provider >= n_prefix && !memcmp(row->provider, RUNTIME_PREFIX, n_prefix))) {
                g_autofree char *name = row_name(row, metadata->is_later ? NULL : metadata->event);

                metadata->counts =
                        event_counts_get(table->counts, name, metadata->event, metadata->is_later);
        }
}

static void metadata_add(NettraceMetadataTable *table, const MetadataRow *row)
{
        NettraceMetadata *metadata = g_new0(NettraceMetadata, 1);

        *metadata = (NettraceMetadata){.id = row->id, .has_version = row->has_version};
        metadata->sample = nettrace_sample_kind(row->provider, row->n_provider, row->event_id);
        if (row_is_of(row, PROVIDER_UNIVERSAL_SYSTEM) || row_is_of(row, PROVIDER_UNIVERSAL_EVENTS))
                metadata_set_universal(table, metadata, row);
        else
                metadata_set_dotnet(table, metadata, row);
        if (metadata->event && !event_kind_is_wanted(metadata->event->kind, table->use))
                metadata->event = NULL;
        g_hash_table_replace(table->by_id, GUINT_TO_POINTER(row->id), metadata);
}

/*
 * Takes the payload of a metadata event in versions 4 and 5. The bytes after the version are
 * fields.
 */
static bool metadata_take_event(NettraceMetadataTable *table, const NettraceEvent *event)
{
        NettraceCursor cursor = nettrace_cursor(event->payload, event->n_payload);
        g_autoptr(GString) provider = g_string_new(NULL), name = g_string_new(NULL);
        MetadataRow row = {.id = nettrace_u32(&cursor), .has_version = true};

        if (cursor.is_short || !nettrace_wide(&cursor, provider))
                return false;
        row.event_id = nettrace_u32(&cursor);
        if (cursor.is_short || !nettrace_wide(&cursor, name))
                return false;
        nettrace_u64(&cursor); /* keywords */
        row.event_version = nettrace_u32(&cursor);
        row.provider = provider->str;
        row.n_provider = provider->len;
        if (cursor.is_short)
                return false;
        metadata_add(table, &row);
        return true;
}

static bool metadata_take_events(NettraceMetadataTable *table, const NettraceBlock *block,
                                 unsigned version)
{
        NettraceEvents events;
        NettraceEventsResult result;

        if (!nettrace_events_init(&events, block, version))
                return false;
        while ((result = nettrace_events_next(&events)) == NETTRACE_EVENTS_ONE)
                if (!metadata_take_event(table, &events.event) ||
                    g_hash_table_size(table->by_id) > NETTRACE_MAX_METADATA)
                        return false;
        return result == NETTRACE_EVENTS_END;
}

static void row_take_optional(MetadataRow *row, NettraceCursor *cursor)
{
        OptionalKind kind = (OptionalKind)nettrace_number(cursor, 1);
        size_t n;

        switch (kind) {
        case OPTIONAL_VERSION:
                row->event_version = (uint32_t)nettrace_number(cursor, 1);
                row->has_version = !cursor->is_short;
                break;
        case OPTIONAL_OPCODE:
        case OPTIONAL_LEVEL:
                nettrace_bytes(cursor, 1);
                break;
        case OPTIONAL_KEYWORD:
                nettrace_bytes(cursor, 8);
                break;
        case OPTIONAL_KEY_VALUE:
                cursor_take_text(cursor, &n);
                cursor_take_text(cursor, &n);
                break;
        case OPTIONAL_TEMPLATE:
        case OPTIONAL_DESCRIPTION:
                cursor_take_text(cursor, &n);
                break;
        case OPTIONAL_GUID:
                nettrace_bytes(cursor, 16);
                break;
        default: /* unknown, and without a size: the rest cannot be read */
                cursor->at = cursor->end;
                break;
        }
}

/* Takes a row of version 6. */
static bool metadata_take_row(NettraceMetadataTable *table, NettraceCursor *cursor)
{
        MetadataRow row = {.id = nettrace_varint32(cursor)};
        NettraceCursor optional;
        const uint8_t *bytes;
        uint16_t n_fields;
        size_t n;

        row.provider = cursor_take_text(cursor, &row.n_provider);
        row.event_id = nettrace_varint32(cursor);
        row.name = cursor_take_text(cursor, &row.n_name);
        n_fields = row.n_fields = nettrace_u16(cursor);
        row.fields = *cursor;
        for (; n_fields > 0 && !cursor->is_short; n_fields--)
                nettrace_bytes(cursor, nettrace_u16(cursor));
        n = nettrace_u16(cursor);
        bytes = nettrace_bytes(cursor, n);
        if (cursor->is_short)
                return false;
        optional = nettrace_cursor(bytes, n);
        while (nettrace_left(&optional))
                row_take_optional(&row, &optional);
        metadata_add(table, &row);
        return true;
}

static bool metadata_take_rows(NettraceMetadataTable *table, const NettraceBlock *block)
{
        NettraceCursor cursor = nettrace_cursor(block->bytes, block->n_bytes);

        nettrace_bytes(&cursor, nettrace_u16(&cursor));
        while (nettrace_left(&cursor)) {
                uint16_t n = nettrace_u16(&cursor);
                const uint8_t *bytes = nettrace_bytes(&cursor, n);
                NettraceCursor row;

                if (!bytes)
                        return false;
                row = nettrace_cursor(bytes, n);
                if (!metadata_take_row(table, &row) ||
                    g_hash_table_size(table->by_id) > NETTRACE_MAX_METADATA)
                        return false;
        }
        return !cursor.is_short;
}

bool nettrace_metadata_take(NettraceMetadataTable *table, const NettraceBlock *block,
                            unsigned version)
{
        return version < 6 ? metadata_take_events(table, block, version)
                           : metadata_take_rows(table, block);
}
