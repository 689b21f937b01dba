/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * String table: names of the whole daemon, each once for each account
 *
 * A name is a number of 32 bits. References to it are counted; the last unref frees it. Equal names
 * of two accounts are two names: so that nobody pays for what another one keeps.
 */

#include "codemap/account.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* 0: there is no name. */
typedef uint32_t Str;

typedef struct Strtab Strtab;

/* ACCOUNT is borrowed. */
Strtab *strtab_new(Account *account);
void strtab_free(Strtab *tab);

/* The number of a text (N bytes, not NULL). The caller owns one reference to it. */
Str strtab_add(Strtab *tab, const char *text, size_t n);
/* The same, booked on ACCOUNT, whose total is the table's account, or which is that account. */
Str strtab_add_for(Strtab *tab, Account *account, const char *text, size_t n);
/* The same; LIKE: a name that it probably is, or 0. If it is, nothing is searched. */
Str strtab_add_like(Strtab *tab, Account *account, Str like, const char *text, size_t n);
/* True if the name is one of that account. */
bool strtab_is_of(const Strtab *tab, Str str, const Account *account);
Str strtab_ref(Strtab *tab, Str str);
void strtab_unref(Strtab *tab, Str str);

/* NUL-terminated, valid as long as there is a reference; NULL for 0. */
const char *strtab_text(const Strtab *tab, Str str);
/* Bytes of a name, without the NUL; not of 0. */
size_t strtab_length(const Strtab *tab, Str str);
/* The highest number in use, or higher. */
Str strtab_end(const Strtab *tab);

/*
 * The number of a freed name is used again, for another name. For whoever remembers numbers without
 * a reference: how often that happened, and which number it was the I-th time, from 0 on; false if
 * that was too long ago to be known.
 */
uint64_t strtab_n_reuses(const Strtab *tab);
bool strtab_reuse(const Strtab *tab, uint64_t i, Str *ret_str);

size_t strtab_n_strings(const Strtab *tab);
/* Bytes that the next strtab_add() of N bytes may take. */
size_t strtab_growth(const Strtab *tab, size_t n);
