/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JSON struct: converts a struct to a JSON object and back, by a table of its members
 *
 * A child that does work that can hang hands its results to its parent in this form.
 */

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum JsonMemberType {
        JSON_MEMBER_BOOL,    /* bool */
        JSON_MEMBER_INT,     /* int64_t */
        JSON_MEMBER_TEXT,    /* char *, owned or NULL; made valid UTF-8 when written */
        JSON_MEMBER_TEXTS,   /* GPtrArray * of owned char *, owned or NULL */
        JSON_MEMBER_INTS,    /* GArray * of int64_t, owned or NULL */
        JSON_MEMBER_STRUCTS, /* GPtrArray * of owned pointers to ELEMENT, owned or NULL */
} JsonMemberType;

typedef struct JsonStruct JsonStruct;

typedef struct JsonMember {
        const char *name;
        JsonMemberType type;
        size_t offset;
        const JsonStruct *element;
} JsonMember;

struct JsonStruct {
        size_t size;
        const JsonMember *members;
        size_t n_members;
};

/* Frees what the members of FROM own, and sets them to 0. */
void json_struct_clear(const JsonStruct *type, void *from);
/* A JSON object; the caller owns it. Members that are NULL are left out. */
json_t *json_struct_write(const JsonStruct *type, const void *from);
/* Reads OBJECT into RET, which is set to 0 first. Members that are missing, or of another JSON
 * type, stay 0. False: OBJECT is not a JSON object. */
bool json_struct_read(const JsonStruct *type, const json_t *object, void *ret);
