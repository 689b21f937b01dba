/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * String table: the names of the whole daemon, each stored once for each account
 *
 * A name is a number of 32 bits. References are counted; the last unref frees the name. Equal names
 * of two accounts are two names, so that nobody pays for another user's names.
 */

#include "codemap/account.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* 0: no name. */
typedef uint32_t Str;

typedef struct Strtab Strtab;

/* ACCOUNT is borrowed. */
Strtab *strtab_new(Account *account);
void strtab_free(Strtab *tab);

/* The number of a text (N bytes, not NULL). The caller owns one reference to it. */
Str strtab_add(Strtab *tab, const char *text, size_t n);
/*
 * Like strtab_add(), booked on ACCOUNT: the table's account, or one whose total is the table's
 * account.
 */
Str strtab_add_for(Strtab *tab, Account *account, const char *text, size_t n);
/*
 * Like strtab_add_for(). LIKE is a guess of the name, or 0. If the guess is right, nothing is
 * searched.
 */
Str strtab_add_like(Strtab *tab, Account *account, Str like, const char *text, size_t n);
/* True if ACCOUNT pays for the name. */
bool strtab_is_of(const Strtab *tab, Str str, const Account *account);
Str strtab_ref(Strtab *tab, Str str);
void strtab_unref(Strtab *tab, Str str);

/* NUL-terminated, valid while a reference exists; NULL for 0. */
const char *strtab_text(const Strtab *tab, Str str);
/* Bytes of a name, without the NUL; not of 0. */
size_t strtab_length(const Strtab *tab, Str str);
/* No number in use is higher. */
Str strtab_end(const Strtab *tab);

/*
 * The number of a freed name is reused for another name. A caller that remembers numbers without a
 * reference asks how often that happened, and which number was the I-th, from 0 on; false if the
 * I-th reuse is no longer remembered.
 */
uint64_t strtab_n_reuses(const Strtab *tab);
bool strtab_reuse(const Strtab *tab, uint64_t i, Str *ret_str);

size_t strtab_n_strings(const Strtab *tab);
/* The most bytes that the next strtab_add() of N bytes allocates. */
size_t strtab_growth(const Strtab *tab, size_t n);
