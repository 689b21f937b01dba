/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * String table: names of the whole daemon, each once
 *
 * A name is a number of 32 bits. Names are counted: given back by everybody, they are gone.
 */

#include "core/account.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* 0 is no name. */
typedef uint32_t Str;

typedef struct Strtab Strtab;

/* ACCOUNT is borrowed. */
Strtab *strtab_new(Account *account);
void strtab_free(Strtab *tab);

/* The number of a text (N bytes, not NULL), with one reference that is the caller's. */
Str strtab_add(Strtab *tab, const char *text, size_t n);
Str strtab_ref(Strtab *tab, Str str);
void strtab_unref(Strtab *tab, Str str);

/* NUL-terminated, valid as long as the name is; NULL for 0. */
const char *strtab_text(const Strtab *tab, Str str);
/* Its bytes, of a name that is one. */
size_t strtab_length(const Strtab *tab, Str str);
/* No number is above it. */
Str strtab_end(const Strtab *tab);

/*
 * A number that was given back stands for another name when it is given again. For those who
 * remember numbers: how often that was, and which one it was the I-th time, counted from 0; false
 * if that is too long ago to be known.
 */
uint64_t strtab_n_reuses(const Strtab *tab);
bool strtab_reuse(const Strtab *tab, uint64_t i, Str *ret_str);

size_t strtab_n_strings(const Strtab *tab);
/* Bytes that the next strtab_add() of N bytes may take. */
size_t strtab_growth(const Strtab *tab, size_t n);
