/* SPDX-License-Identifier: MIT */
#include "perf/frames.h"

#include "perf/type-handles.h"
#include "util/array.h"
#include "util/file-name.h"
#include "util/printable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits of the memory for names: a guess. */
#define MAX_FRAMES (1u << 18)
#define MAX_BYTES  (128u << 20)

/* Bytes of a source's checksum, at most. */
#define MAX_CHECKSUM 32u

/* perf reuses the addresses of its texts: a known address saves the hash. */
#define N_RECENT 8192

/* The key of a method's body, for the time that the runtime keeps it. */
typedef struct BodyKey {
        uint64_t pid_ns, start, loaded, method_id;
        int32_t pid;
        uint32_t generation, rejit_id;
        bool is_marked;
        bool has_line;
        /*
         * Valid with a line. FILE and CHECKSUM are numbers of frames_text(); the checksum of "" is
         * an unknown one.
         */
        uint32_t file, line, checksum;
        clrsym_il_kind il_kind;
} BodyKey;

struct FrameRow {
        char *symbol; /* owned: perf's text; NULL: none */
        char *dso;    /* owned: perf's text; NULL: none */
        char *name;   /* owned: printable; NULL: SYMBOL is printable */
        char *module; /* owned: printable; NULL: DSO is printable */
        NamedKind kind;
        clrsym_tier tier;
        BodyKey key; /* valid for managed frames */
};

bool frames_init(Frames *frames, clrsym_style style)
{
        size_t i;

        *frames = (Frames){.style = style};
        frames->recent = malloc(N_RECENT * sizeof(*frames->recent));
        for (i = 0; frames->recent && i < N_RECENT; i++)
                frames->recent[i] = INDEX_NONE;
        return frames->recent != NULL;
}

static void row_deinit(FrameRow *row)
{
        free(row->symbol);
        free(row->dso);
        free(row->name);
        free(row->module);
}

void frames_clear(Frames *frames)
{
        uint32_t i;

        for (i = 0; i < frames->n; i++)
                row_deinit(&frames->rows[i]);
        for (i = 0; frames->recent && i < N_RECENT; i++)
                frames->recent[i] = INDEX_NONE;
        frames->n = 0;
        frames->n_bytes = 0;
        hash_index_clear(&frames->by_symbol);
        hash_index_clear(&frames->by_body);
}

void frames_deinit(Frames *frames)
{
        frames_clear(frames);
        free(frames->rows);
        free(frames->recent);
        hash_index_deinit(&frames->by_symbol);
        hash_index_deinit(&frames->by_body);
        *frames = (Frames){0};
}

bool frames_is_full(const Frames *frames)
{
        return frames->n >= MAX_FRAMES || frames->n_bytes >= MAX_BYTES;
}

/* Adds ROW, and takes over its members. */
static uint32_t add_row(Frames *frames, HashIndex *index, uint64_t hash, FrameRow *row)
{
        const char *texts[] = {row->symbol, row->dso, row->name, row->module};
        size_t i;

        if (!array_grow(&frames->rows, &frames->n_rows, frames->n + (size_t)1,
                        sizeof(*frames->rows)) ||
            !hash_index_add(index, hash, frames->n)) {
                row_deinit(row);
                return INDEX_NONE;
        }
        for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                frames->n_bytes += texts[i] ? strlen(texts[i]) + 1 : 0;
        frames->rows[frames->n] = *row;
        return frames->n++;
}

typedef struct SymbolKey {
        NamedKind kind;
        const char *symbol, *dso;
} SymbolKey;

static bool text_is_same(const char *one, const char *other)
{
        return one && other ? !strcmp(one, other) : one == other;
}

static bool equal_symbol(const void *rows, uint32_t number, const void *key)
{
        const FrameRow *row = (const FrameRow *)rows + number;
        const SymbolKey *symbol = key;

        return row->kind == symbol->kind && text_is_same(row->symbol, symbol->symbol) &&
               text_is_same(row->dso, symbol->dso);
}

static char *text_printable(const char *text)
{
        TextBuffer writer = {0};

        text_buffer_put_printable(&writer, text);
        writer = (TextBuffer){.buffer = malloc(writer.n + 1), .size = writer.n + 1};
        if (writer.buffer) {
                text_buffer_put_printable(&writer, text);
                text_buffer_end(&writer);
        }
        return writer.buffer;
}

/* Copies a text; RET_PRINTABLE is its printable form, if that differs. */
static bool text_copy(const char *text, char **ret_copy, char **ret_printable)
{
        if (!text)
                return true;
        *ret_copy = strdup(text);
        *ret_printable = text_printable(text);
        if (!*ret_copy || !*ret_printable)
                return false;
        if (!strcmp(*ret_copy, *ret_printable)) {
                free(*ret_printable);
                *ret_printable = NULL;
        }
        return true;
}

static uint32_t add_symbol(Frames *frames, uint64_t hash, const SymbolKey *key)
{
        FrameRow row = {.kind = key->kind};

        if (!text_copy(key->symbol, &row.symbol, &row.name) ||
            !text_copy(key->dso, &row.dso, &row.module)) {
                row_deinit(&row);
                return INDEX_NONE;
        }
        return add_row(frames, &frames->by_symbol, hash, &row);
}

uint32_t frames_symbol(Frames *frames, NamedKind kind, const char *symbol, const char *dso)
{
        const SymbolKey key = {kind, symbol, dso};
        uint64_t addresses = hash_number(hash_number(kind, (uintptr_t)symbol), (uintptr_t)dso);
        uint32_t *recent = &frames->recent[addresses % N_RECENT], number = *recent;
        uint64_t hash;

        /* Compare: perf may have reused the address for another text. */
        if (number < frames->n && equal_symbol(frames->rows, number, &key))
                return number;
        hash = hash_text(hash_text(kind + 1, symbol ? symbol : ""), dso ? dso : "");
        number = hash_index_find(&frames->by_symbol, hash, equal_symbol, frames->rows, &key);
        if (number == INDEX_NONE)
                number = add_symbol(frames, hash, &key);
        *recent = number;
        return number;
}

uint32_t frames_text(Frames *frames, const char *text)
{
        /* Of this kind, only texts and the roots of stacks have a symbol. */
        return frames_symbol(frames, NAMED_UNKNOWN, text ? text : "", NULL);
}

static bool equal_body(const void *rows, uint32_t number, const void *key)
{
        const BodyKey *one = &((const FrameRow *)rows)[number].key, *other = key;

        return one->start == other->start && one->loaded == other->loaded &&
               one->method_id == other->method_id && one->rejit_id == other->rejit_id &&
               one->pid == other->pid && one->pid_ns == other->pid_ns &&
               one->generation == other->generation && one->is_marked == other->is_marked &&
               one->has_line == other->has_line && one->file == other->file &&
               one->line == other->line && one->checksum == other->checksum &&
               one->il_kind == other->il_kind;
}

static char *symbol_of(const clrsym_body *body, clrsym_style style)
{
        size_t n = clrsym_symbol(body, style, NULL, 0);
        char *text = malloc(n + 1);

        if (text) {
                clrsym_symbol(body, style, text, n + 1);
                /* The style clr keeps the runtime's own text. */
                if (style != CLRSYM_STYLE_CLR)
                        type_handles_drop(text);
        }
        return text;
}

static char *module_of(const clrsym_body *body, const char *image)
{
        const char *path = body->module_path && *body->module_path ? body->module_path : image;
        const char *name = file_name_of(path);

        return name && *name ? text_printable(name) : NULL;
}

/* False: no memory. */
static bool key_set_line(Frames *frames, BodyKey *key, const clrsym_line *line,
                         clrsym_il_kind il_kind)
{
        char checksum[2 * MAX_CHECKSUM + 1] = "";
        uint32_t i;

        for (i = 0; line->n_checksum <= MAX_CHECKSUM && i < line->n_checksum; i++)
                snprintf(checksum + (size_t)2 * i, 3, "%02x", line->checksum[i]);
        key->has_line = true;
        key->file = frames_text(frames, line->file);
        key->checksum = frames_text(frames, checksum);
        key->line = line->line;
        key->il_kind = il_kind;
        return key->file != INDEX_NONE && key->checksum != INDEX_NONE;
}

static uint64_t key_hash(const BodyKey *key)
{
        uint64_t hash = hash_number(hash_number(key->start, key->loaded), key->method_id);

        hash = hash_number(hash, (uint64_t)key->pid << 32 ^ key->rejit_id ^ key->is_marked);
        return hash_number(hash, (uint64_t)key->file << 32 ^ key->line);
}

uint32_t frames_body(Frames *frames, const clrsym_answer *answer, const char *image, bool is_marked,
                     const clrsym_line *line)
{
        const clrsym_body *body = &answer->body;
        FrameRow row = {.kind = NAMED_MANAGED,
                        .tier = body->tier,
                        .key = {
                                .pid_ns = answer->pid_ns,
                                .start = body->start,
                                .loaded = body->loaded,
                                .method_id = body->method_id,
                                .pid = answer->pid,
                                .generation = answer->generation,
                                .rejit_id = body->rejit_id,
                                .is_marked = is_marked,
                        }};
        uint64_t hash;
        uint32_t number;

        if (line && !key_set_line(frames, &row.key, line, answer->il_kind))
                return INDEX_NONE;
        hash = key_hash(&row.key);
        number = hash_index_find(&frames->by_body, hash, equal_body, frames->rows, &row.key);
        if (number != INDEX_NONE)
                return number;
        row.name = symbol_of(body, frames->style);
        row.module = module_of(body, image);
        if (!row.name) {
                row_deinit(&row);
                return INDEX_NONE;
        }
        return add_row(frames, &frames->by_body, hash, &row);
}

/* The mark of inlined frames in a profile, because they are approximate. */
#define INLINED " [inlined]"

/* False: no memory. */
static bool row_set_inlined(FrameRow *row, const clrsym_body *inlined, clrsym_style style)
{
        char *symbol = symbol_of(inlined, style);
        size_t n = symbol ? strlen(symbol) + sizeof(INLINED) : 0;

        row->name = symbol ? malloc(n) : NULL;
        if (row->name)
                snprintf(row->name, n, "%s" INLINED, symbol);
        free(symbol);
        row->module = module_of(inlined, NULL);
        return row->name != NULL;
}

/* A line feed separates the parts, because no symbol contains one. */
static char *inlined_key(const FrameRow *row)
{
        size_t n = strlen(row->name) + 64;
        char *key = malloc(n);

        if (key)
                snprintf(key, n, "%s\n%u %u %u %u", row->name, (unsigned)row->tier, row->key.file,
                         row->key.line, row->key.checksum);
        return key;
}

uint32_t frames_inlined(Frames *frames, const clrsym_body *inlined, clrsym_tier tier,
                        const clrsym_line *line)
{
        FrameRow row = {.kind = NAMED_MANAGED, .tier = tier};
        SymbolKey key = {.kind = NAMED_MANAGED};
        uint64_t hash;
        uint32_t number;

        if ((line && !key_set_line(frames, &row.key, line, CLRSYM_IL_EXACT)) ||
            !row_set_inlined(&row, inlined, frames->style)) {
                row_deinit(&row);
                return INDEX_NONE;
        }
        row.symbol = inlined_key(&row);
        row.dso = row.module ? strdup(row.module) : NULL;
        if (!row.symbol || (row.module && !row.dso)) {
                row_deinit(&row);
                return INDEX_NONE;
        }
        key = (SymbolKey){NAMED_MANAGED, row.symbol, row.dso};
        hash = hash_text(hash_text(NAMED_MANAGED + 1, row.symbol), row.dso ? row.dso : "");
        number = hash_index_find(&frames->by_symbol, hash, equal_symbol, frames->rows, &key);
        if (number == INDEX_NONE)
                return add_row(frames, &frames->by_symbol, hash, &row);
        row_deinit(&row);
        return number;
}

static const char *row_name(const FrameRow *row)
{
        return row->name ? row->name : row->symbol;
}

NamedFrame frames_get(const Frames *frames, uint32_t number)
{
        const FrameRow *row = &frames->rows[number];
        const char *checksum = row->key.has_line ? row_name(&frames->rows[row->key.checksum]) : "";

        return (NamedFrame){
                .name = row_name(row),
                .module = row->module ? row->module : row->dso,
                .kind = row->kind,
                .tier = row->tier,
                .is_marked = row->key.is_marked,
                .file = row->key.has_line ? row_name(&frames->rows[row->key.file]) : NULL,
                .line = row->key.line,
                .checksum = *checksum ? checksum : NULL,
                .il_kind = row->key.il_kind,
        };
}
