/* SPDX-License-Identifier: MIT */
#include "ctf/program.h"

#include <string.h>

/*
 * Fields are compiled in order. Unused neighbours of fixed size become one skip, so that the fields
 * of an unwanted event cost next to nothing. An array of integers is one step, however long; only
 * arrays of structures, texts and arrays are walked.
 */

typedef enum CtfCode {
        CTF_CODE_ALIGN,
        CTF_CODE_SKIP,    /* `size` bits */
        CTF_CODE_NUMBER,  /* an integer of whole bytes, little-endian; to a slot, or to a role */
        CTF_CODE_INTEGER, /* any other integer */
        CTF_CODE_STRING,
        CTF_CODE_ELEMENTS, /* integers or floats, one after the other */
        CTF_CODE_REPEAT,   /* runs the steps up to `target` for each element */
        CTF_CODE_SELECT,   /* jumps to an option's steps */
        CTF_CODE_JUMP,
} CtfCode;

typedef struct CtfStep {
        CtfCode code;
        uint32_t slot; /* UINT32_MAX: do not keep the value */
        uint64_t size; /* in bits: of a skip, an integer, an element */
        unsigned align;
        unsigned shift;      /* of a number: bits of 64 that it does not have */
        unsigned stride;     /* from one element to the next */
        uint32_t count_slot; /* UINT32_MAX: `count` */
        uint64_t count;
        uint32_t target;
        uint32_t n_ranges; /* from `target` on in the program's ranges */
        CtfRole role;
        bool is_signed;
        bool is_big_endian;
} CtfStep;

/* False if COUNT elements, one after the other, take more bits than can be. */
static inline bool elements_size(const CtfStep *step, uint64_t count, uint64_t *ret_size)
{
        *ret_size = 0;
        return !count || !(__builtin_mul_overflow(count - 1, step->stride, ret_size) ||
                           __builtin_add_overflow(*ret_size, step->size, ret_size));
}

typedef struct CtfSelect {
        CtfRange range;
        uint32_t target;
} CtfSelect;

struct CtfProgram {
        GArray *steps;  /* of CtfStep */
        GArray *ranges; /* of CtfSelect */
};

typedef struct CtfCompiler {
        CtfProgram *program;
        uint32_t *n_slots;
        bool is_byte_aligned; /* for certain, at the next step */
        bool may_merge;       /* the last step is a skip that can grow: no jump leads past it */
} CtfCompiler;

static guint compiler_emit(CtfCompiler *compiler, const CtfStep *step)
{
        g_array_append_val(compiler->program->steps, *step);
        compiler->may_merge = step->code == CTF_CODE_SKIP;
        return compiler->program->steps->len - 1;
}

static CtfStep *compiler_step(CtfCompiler *compiler, guint i)
{
        return &g_array_index(compiler->program->steps, CtfStep, i);
}

static void compiler_align(CtfCompiler *compiler, unsigned align)
{
        const CtfStep step = {.code = CTF_CODE_ALIGN, .align = align};

        if (align == 1 || (align <= 8 && compiler->is_byte_aligned))
                return;
        compiler_emit(compiler, &step);
        compiler->is_byte_aligned = align >= 8 || compiler->is_byte_aligned;
}

static void compiler_skip(CtfCompiler *compiler, uint64_t size)
{
        const CtfStep step = {.code = CTF_CODE_SKIP, .size = size};
        CtfStep *last = compiler->may_merge
                                ? compiler_step(compiler, compiler->program->steps->len - 1)
                                : NULL;

        if (last && last->size <= UINT64_MAX - size)
                last->size += size;
        else
                compiler_emit(compiler, &step);
}

/* From here on another path may come in. */
static void compiler_label(CtfCompiler *compiler)
{
        compiler->is_byte_aligned = false;
        compiler->may_merge = false;
}

static uint32_t compiler_slot(CtfCompiler *compiler, CtfClass *class)
{
        if (class->slot != UINT32_MAX)
                class->slot = (*compiler->n_slots)++;
        return class->slot;
}

static void compiler_number(CtfCompiler *compiler, CtfClass *class)
{
        CtfStep step = {
                .code = CTF_CODE_INTEGER,
                .slot = compiler_slot(compiler, class),
                .size = class->size,
                .role = class->role,
                .is_signed = class->is_signed,
                .is_big_endian = class->is_big_endian,
        };

        if (!class->is_big_endian && class->size % 8 == 0) {
                step.code = CTF_CODE_NUMBER;
                step.shift = 64 - class->size;
        }
        compiler_align(compiler, class->align);
        if (step.slot == UINT32_MAX && step.role == CTF_ROLE_NONE)
                compiler_skip(compiler, class->size);
        else
                compiler_emit(compiler, &step);
        compiler->is_byte_aligned = compiler->is_byte_aligned && class->size % 8 == 0;
}

/* True if nobody needs the elements and all are known to take SIZE bits. */
static bool step_is_skip(const CtfStep *step, uint64_t *ret_size)
{
        return step->slot == UINT32_MAX && step->role == CTF_ROLE_NONE &&
               step->count_slot == UINT32_MAX && elements_size(step, step->count, ret_size);
}

static void compiler_class(CtfCompiler *compiler, CtfClass *class);

static void compiler_elements(CtfCompiler *compiler, CtfClass *class)
{
        CtfClass *element = class->element;
        CtfStep step = {
                .code = CTF_CODE_ELEMENTS,
                .slot = compiler_slot(compiler, class),
                .count_slot = class->reference ? class->reference->slot : UINT32_MAX,
                .count = class->length,
                .role = class->role,
        };
        uint64_t size;
        guint repeat;

        /* Also where there are no elements, and of CTF 2 by more than they need. */
        compiler_align(compiler, class->align);
        if (element->kind == CTF_KIND_INTEGER || element->kind == CTF_KIND_FLOAT) {
                step.size = element->size;
                step.stride = (element->size + element->align - 1) & ~(element->align - 1);
                if (step_is_skip(&step, &size))
                        compiler_skip(compiler, size);
                else
                        compiler_emit(compiler, &step);
                compiler->is_byte_aligned = compiler->is_byte_aligned && element->size % 8 == 0;
                return;
        }
        step.code = CTF_CODE_REPEAT;
        repeat = compiler_emit(compiler, &step);
        compiler_label(compiler);
        compiler_class(compiler, element);
        compiler_step(compiler, repeat)->target = compiler->program->steps->len;
        compiler_label(compiler);
}

static void compiler_variant(CtfCompiler *compiler, CtfClass *class)
{
        GArray *ranges = compiler->program->ranges;
        g_autofree guint *jumps = g_new(guint, class->members->len);
        const CtfStep select = {.code = CTF_CODE_SELECT,
                                .count_slot = class->reference->slot,
                                .is_signed = class->reference->is_signed};
        bool begins_aligned = compiler->is_byte_aligned, ends_aligned = true;
        guint at = compiler_emit(compiler, &select), first = ranges->len, i, k, n = 0;

        /* The ranges of one variant are together: options can have variants of their own. */
        for (i = 0; i < class->members->len; i++) {
                const CtfMember *option = &g_array_index(class->members, CtfMember, i);

                for (k = 0; k < option->ranges->len; k++) {
                        const CtfSelect entry = {g_array_index(option->ranges, CtfRange, k), i};

                        g_array_append_val(ranges, entry);
                        n++;
                }
        }
        for (i = 0; i < class->members->len; i++) {
                const CtfStep jump = {.code = CTF_CODE_JUMP};
                uint32_t target = compiler->program->steps->len;

                /* Each option begins where the selection was, and all go on at one place. */
                ends_aligned = ends_aligned && (i == 0 || compiler->is_byte_aligned);
                compiler_label(compiler);
                compiler->is_byte_aligned = begins_aligned;

                for (k = first; k < first + n; k++) {
                        CtfSelect *entry = &g_array_index(ranges, CtfSelect, k);

                        if (entry->target == i && !(entry->target & 1u << 31))
                                entry->target = target | 1u << 31;
                }
                compiler_class(compiler, g_array_index(class->members, CtfMember, i).class);
                jumps[i] = compiler_emit(compiler, &jump);
        }
        for (k = first; k < first + n; k++)
                g_array_index(ranges, CtfSelect, k).target &= ~(1u << 31);
        for (i = 0; i < class->members->len; i++)
                compiler_step(compiler, jumps[i])->target = compiler->program->steps->len;
        compiler_step(compiler, at)->target = first;
        compiler_step(compiler, at)->n_ranges = n;
        ends_aligned = ends_aligned && compiler->is_byte_aligned;
        compiler_label(compiler);
        compiler->is_byte_aligned = ends_aligned;
}

static void compiler_class(CtfCompiler *compiler, CtfClass *class)
{
        guint i;

        switch (class->kind) {
        case CTF_KIND_INTEGER:
        case CTF_KIND_FLOAT:
                compiler_number(compiler, class);
                break;
        case CTF_KIND_STRING: {
                const CtfStep step = {.code = CTF_CODE_STRING,
                                      .slot = compiler_slot(compiler, class)};

                compiler_align(compiler, 8);
                compiler_emit(compiler, &step);
                break;
        }
        case CTF_KIND_STRUCTURE:
                compiler_align(compiler, class->align);
                for (i = 0; i < class->members->len; i++)
                        compiler_class(compiler, g_array_index(class->members, CtfMember, i).class);
                break;
        case CTF_KIND_ARRAY:
        case CTF_KIND_SEQUENCE:
                compiler_elements(compiler, class);
                break;
        case CTF_KIND_VARIANT:
                compiler_variant(compiler, class);
                break;
        case _CTF_KIND_MAX:
                break;
        }
}

CtfProgram *ctf_program_new(CtfClass *root, uint32_t *n_slots, bool *is_byte_aligned)
{
        CtfProgram *program = g_new0(CtfProgram, 1);
        CtfCompiler compiler = {
                .program = program, .n_slots = n_slots, .is_byte_aligned = *is_byte_aligned};

        /* A program without steps has an address too. */
        program->steps = g_array_sized_new(FALSE, FALSE, sizeof(CtfStep), 1);
        program->ranges = g_array_new(FALSE, FALSE, sizeof(CtfSelect));
        if (root)
                compiler_class(&compiler, root);
        *is_byte_aligned = compiler.is_byte_aligned;
        return program;
}

void ctf_program_free(CtfProgram *program)
{
        if (!program)
                return;
        g_array_unref(program->steps);
        g_array_unref(program->ranges);
        g_free(program);
}

/* Little-endian bit fields grow from the lowest bit of a byte, big-endian ones from the highest. */
uint64_t ctf_read_bits(const uint8_t *bytes, unsigned shift, unsigned size, bool is_big_endian)
{
        uint64_t value = 0;
        unsigned i;

        for (i = 0; i < size;) {
                unsigned bit = (shift + i) % 8, n = MIN(8 - bit, size - i);
                uint64_t byte = bytes[(shift + i) / 8], mask = (1u << n) - 1;

                if (is_big_endian)
                        value = value << n | (byte >> (8 - bit - n) & mask);
                else
                        value |= (byte >> bit & mask) << i;
                i += n;
        }
        return value;
}

/* The byte that has bit AT of the packet. */
static inline const uint8_t *cursor_byte_at(const CtfCursor *cursor, uint64_t at)
{
        return cursor->window + (at / 8 - cursor->window_begin);
}

static const uint8_t *cursor_byte(const CtfCursor *cursor)
{
        return cursor_byte_at(cursor, cursor->at);
}

/* A clock that is kept in fewer bits than it has is ahead of the last one, by less than a round. */
static uint64_t clock_update(uint64_t clock, uint64_t value, unsigned size)
{
        uint64_t mask;

        if (size == 64)
                return value;
        mask = (UINT64_C(1) << size) - 1;
        if (value < (clock & mask))
                clock += mask + 1;
        return (clock & ~mask) | value;
}

static inline void cursor_set_role(CtfCursor *cursor, const CtfStep *step, uint64_t value)
{
        if (step->role == CTF_ROLE_NONE)
                return;
        if (step->role == CTF_ROLE_TIMESTAMP)
                cursor->clock = clock_update(cursor->clock, value, (unsigned)step->size);
        cursor->roles[step->role] = value;
        cursor->has_roles |= 1u << step->role;
}

/* A number at a whole byte, bit AT, with eight bytes from there on: as mostly. */
static inline void cursor_number(CtfCursor *cursor, const CtfStep *step, uint64_t at,
                                 CtfSlot *slots)
{
        uint64_t value;

        memcpy(&value, cursor_byte_at(cursor, at), sizeof(value));
        value = GUINT64_FROM_LE(value) << step->shift;
        value = step->is_signed ? (uint64_t)((int64_t)value >> step->shift) : value >> step->shift;
        if (step->slot != UINT32_MAX)
                slots[step->slot].value = value;
        cursor_set_role(cursor, step, value);
}

static bool cursor_integer(CtfCursor *cursor, const CtfStep *step, CtfSlot *slots)
{
        uint64_t value;

        if (cursor->end - cursor->at < step->size)
                return false;
        value = ctf_read_integer(cursor_byte(cursor), cursor->at % 8, (unsigned)step->size,
                                 step->is_big_endian);
        if (step->is_signed && step->size < 64 && value >> (step->size - 1))
                value |= UINT64_MAX << step->size;
        if (step->slot != UINT32_MAX)
                slots[step->slot].value = value;
        cursor_set_role(cursor, step, value);
        cursor->at += step->size;
        return true;
}

static bool cursor_string(CtfCursor *cursor, const CtfStep *step, CtfSlot *slots)
{
        const uint8_t *begin = cursor_byte(cursor), *end;
        size_t n = (cursor->end - cursor->at) / 8;

        end = n ? memchr(begin, 0, n) : NULL;
        if (!end)
                return false;
        if (step->slot != UINT32_MAX)
                slots[step->slot] = (CtfSlot){.data = begin, .n = (uint64_t)(end - begin)};
        cursor->at += 8 * (uint64_t)(end + 1 - begin);
        return true;
}

static bool cursor_elements(CtfCursor *cursor, const CtfStep *step, uint64_t count, CtfSlot *slots)
{
        uint64_t left = cursor->end - cursor->at, size;

        if (!elements_size(step, count, &size) || size > left)
                return false;
        if (step->slot != UINT32_MAX)
                slots[step->slot] =
                        (CtfSlot){.data = cursor_byte(cursor), .n = count, .shift = cursor->at % 8};
        if (step->role == CTF_ROLE_UUID && count == 16 && step->stride == 8 && cursor->at % 8 == 0)
                cursor->uuid = cursor_byte(cursor);
        cursor->at += size;
        return true;
}

static bool select_has(const CtfSelect *entry, uint64_t value, bool is_signed)
{
        return is_signed ? (int64_t)value >= (int64_t)entry->range.low &&
                                   (int64_t)value <= (int64_t)entry->range.high
                         : value >= entry->range.low && value <= entry->range.high;
}

static inline uint64_t step_count(const CtfStep *step, const CtfSlot *slots)
{
        return step->count_slot == UINT32_MAX ? step->count : slots[step->count_slot].value;
}

/* The steps of the option that is selected, or UINT32_MAX. */
static uint32_t program_select(const CtfProgram *program, const CtfStep *step, uint64_t value)
{
        uint32_t i;

        for (i = step->target; i < step->target + step->n_ranges; i++) {
                const CtfSelect *entry = &g_array_index(program->ranges, CtfSelect, i);

                if (select_has(entry, value, step->is_signed))
                        return entry->target;
        }
        return UINT32_MAX;
}

static CtfRunResult program_run(const CtfProgram *program, uint32_t i, uint32_t end,
                                CtfCursor *cursor, CtfSlot *slots);

static CtfRunResult program_repeat(const CtfProgram *program, uint32_t i, uint64_t count,
                                   CtfCursor *cursor, CtfSlot *slots)
{
        const CtfStep *step = &g_array_index(program->steps, CtfStep, i);

        for (; count > 0; count--) {
                uint64_t before = cursor->at;
                CtfRunResult result = program_run(program, i + 1, step->target, cursor, slots);

                if (result != CTF_RUN_OK)
                        return result;
                /* Elements without a size: a count that lies must not keep us. */
                if (cursor->at == before)
                        break;
        }
        return CTF_RUN_OK;
}

/* A step that is not among the usual ones. CTF_RUN_OK: *STEP is the next one. */
static CtfRunResult program_step(const CtfProgram *program, const CtfStep **step, CtfCursor *cursor,
                                 CtfSlot *slots)
{
        const CtfStep *steps = (const CtfStep *)(const void *)program->steps->data, *now = *step;
        CtfRunResult result = CTF_RUN_OK;
        bool is_whole = true;

        *step = now + 1;
        switch (now->code) {
        case CTF_CODE_NUMBER:
        case CTF_CODE_INTEGER:
                is_whole = cursor_integer(cursor, now, slots);
                break;
        case CTF_CODE_STRING:
                is_whole = cursor_string(cursor, now, slots);
                break;
        case CTF_CODE_ELEMENTS:
                is_whole = cursor_elements(cursor, now, step_count(now, slots), slots);
                break;
        case CTF_CODE_REPEAT:
                result = program_repeat(program, (uint32_t)(now - steps), step_count(now, slots),
                                        cursor, slots);
                *step = steps + now->target;
                break;
        default: /* is in program_run() */
                g_assert_not_reached();
        }
        return is_whole ? result : CTF_RUN_SHORT;
}

/*
 * The cursor's position is a variable here: a load of it from memory would have to wait for the
 * store of the step before.
 */
static CtfRunResult program_run(const CtfProgram *program, uint32_t i, uint32_t end,
                                CtfCursor *cursor, CtfSlot *slots)
{
        const CtfStep *steps = (const CtfStep *)(const void *)program->steps->data;
        const CtfStep *step = steps + i, *last = steps + end;
        CtfRunResult result;
        uint64_t at = cursor->at, size;

        while (step < last) {
                if (step->code == CTF_CODE_NUMBER && at % 8 == 0 && cursor->end - at >= 64) {
                        cursor_number(cursor, step, at, slots);
                        at += step->size;
                        step++;
                        continue;
                }
                switch (step->code) {
                case CTF_CODE_ALIGN:
                case CTF_CODE_SKIP:
                        size = step->code == CTF_CODE_SKIP ? step->size : -at & (step->align - 1);
                        if (cursor->end - at < size)
                                return CTF_RUN_SHORT;
                        at += size;
                        step++;
                        break;
                case CTF_CODE_SELECT:
                        i = program_select(program, step, slots[step->count_slot].value);
                        if (i == UINT32_MAX)
                                return CTF_RUN_INVALID;
                        step = steps + i;
                        break;
                case CTF_CODE_JUMP:
                        step = steps + step->target;
                        break;
                default:
                        cursor->at = at;
                        result = program_step(program, &step, cursor, slots);
                        if (result != CTF_RUN_OK)
                                return result;
                        at = cursor->at;
                        break;
                }
        }
        cursor->at = at;
        return CTF_RUN_OK;
}

CtfRunResult ctf_program_run(const CtfProgram *program, CtfCursor *cursor, CtfSlot *slots)
{
        return program_run(program, 0, program->steps->len, cursor, slots);
}
