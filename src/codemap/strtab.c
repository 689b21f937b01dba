/* SPDX-License-Identifier: MIT */
#include "codemap/strtab.h"

#include "util/hash.h"

#include <string.h>

typedef struct StrtabEntry {
        uint32_t n_refs;
        uint32_t hash;
        uint32_t n;
        uint32_t account; /* number of the account that pays for it */
        char text[];      /* n bytes and a NUL */
} StrtabEntry;

/* The hash is stored beside the number, so that a probe rarely reads other entries. */
typedef struct StrtabSlot {
        Str str; /* 0: free */
        uint32_t hash;
} StrtabSlot;

/* Reuses of numbers that the table remembers. */
enum { N_REUSED = 16384 };

struct Strtab {
        Account *account;      /* borrowed */
        GPtrArray *accounts;   /* owned: borrowed Accounts by number, of the names */
        StrtabEntry **entries; /* by number - 1; owned; a freed one is NULL */
        uint32_t n_entries;
        uint32_t n_allocated;
        GArray *free;      /* owned, of Str: numbers to be used again */
        StrtabSlot *slots; /* open addressing by hash; 0: free */
        unsigned n_bits;
        uint32_t n_strings;
        uint64_t n_reuses;
        Str reused[N_REUSED]; /* the latest reuses, as a ring */
};

/* A number's pointer, and its entry among the free numbers, which can be as many. */
#define NUMBER_SIZE (sizeof(StrtabEntry *) + 2 * sizeof(uint32_t))

static size_t slots_size(unsigned n_bits)
{
        return sizeof(StrtabSlot) << n_bits;
}

Strtab *strtab_new(Account *account)
{
        Strtab *tab = g_new0(Strtab, 1);

        tab->account = account;
        tab->accounts = g_ptr_array_new();
        tab->free = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        tab->n_bits = 8;
        tab->slots = g_new0(StrtabSlot, (size_t)1 << tab->n_bits);
        account_add(account, sizeof(*tab) + slots_size(tab->n_bits));
        return tab;
}

/* An account's names are all gone before its number is given to another account. */
static void strtab_book(Strtab *tab, const StrtabEntry *entry, Account *account)
{
        if (entry->account >= tab->accounts->len)
                g_ptr_array_set_size(tab->accounts, (gint)entry->account + 1);
        tab->accounts->pdata[entry->account] = account;
        account_add(account, sizeof(*entry) + entry->n + 1);
}

static void strtab_unbook(const Strtab *tab, const StrtabEntry *entry)
{
        account_remove(tab->accounts->pdata[entry->account], sizeof(*entry) + entry->n + 1);
}

void strtab_free(Strtab *tab)
{
        uint32_t i;

        if (!tab)
                return;
        for (i = 0; i < tab->n_entries; i++) {
                if (tab->entries[i])
                        strtab_unbook(tab, tab->entries[i]);
                g_free(tab->entries[i]);
        }
        account_remove(tab->account, sizeof(*tab) + slots_size(tab->n_bits));
        account_remove(tab->account, tab->n_allocated * NUMBER_SIZE);
        g_free(tab->entries);
        g_array_unref(tab->free);
        g_ptr_array_unref(tab->accounts);
        g_free(tab->slots);
        g_free(tab);
}

static bool entry_is(const StrtabEntry *entry, uint32_t account, const char *text, size_t n)
{
        return entry->n == n && entry->account == account && !memcmp(entry->text, text, n);
}

static size_t strtab_slot(const Strtab *tab, uint32_t account, const char *text, size_t n,
                          uint32_t hash)
{
        size_t mask = ((size_t)1 << tab->n_bits) - 1, i = hash & mask;

        for (; tab->slots[i].str; i = (i + 1) & mask) {
                const StrtabEntry *entry;

                if (tab->slots[i].hash != hash)
                        continue;
                entry = tab->entries[tab->slots[i].str - 1];
                if (entry_is(entry, account, text, n))
                        break;
        }
        return i;
}

static void strtab_resize(Strtab *tab, unsigned n_bits)
{
        size_t mask = ((size_t)1 << n_bits) - 1, i;
        StrtabSlot *slots = g_new0(StrtabSlot, mask + 1);
        uint32_t number;

        for (number = 1; number <= tab->n_entries; number++) {
                const StrtabEntry *entry = tab->entries[number - 1];

                if (!entry)
                        continue;
                for (i = entry->hash & mask; slots[i].str; i = (i + 1) & mask)
                        ;
                slots[i] = (StrtabSlot){number, entry->hash};
        }
        g_free(tab->slots);
        account_change(tab->account, sizeof(*tab) + slots_size(tab->n_bits),
                       sizeof(*tab) + slots_size(n_bits));
        tab->slots = slots;
        tab->n_bits = n_bits;
}

Str strtab_add_for(Strtab *tab, Account *account, const char *text, size_t n)
{
        /* Several users can have equal names, which must not fall into one slot. */
        uint32_t hash = (uint32_t)hash_bytes(text, n) ^ account->number * UINT32_C(0x9e3779b1);
        size_t i;
        StrtabEntry *entry;
        Str str;

        if ((size_t)(tab->n_strings + 1) * 4 > ((size_t)3 << tab->n_bits))
                strtab_resize(tab, tab->n_bits + 1);
        i = strtab_slot(tab, account->number, text, n, hash);
        if (tab->slots[i].str)
                return strtab_ref(tab, tab->slots[i].str);
        if (tab->free->len) {
                str = g_array_index(tab->free, uint32_t, tab->free->len - 1);
                g_array_set_size(tab->free, tab->free->len - 1);
                tab->reused[tab->n_reuses++ % N_REUSED] = str;
        } else {
                if (tab->n_entries == tab->n_allocated) {
                        uint32_t more = MAX(256, tab->n_allocated / 2);

                        account_change(tab->account, tab->n_allocated * NUMBER_SIZE,
                                       (tab->n_allocated + more) * NUMBER_SIZE);
                        tab->n_allocated += more;
                        tab->entries = g_renew(StrtabEntry *, tab->entries, tab->n_allocated);
                }
                str = ++tab->n_entries;
        }
        entry = g_malloc(sizeof(*entry) + n + 1);
        *entry = (StrtabEntry){
                .n_refs = 1, .hash = hash, .n = (uint32_t)n, .account = account->number};
        memcpy(entry->text, text, n);
        entry->text[n] = '\0';
        tab->entries[str - 1] = entry;
        tab->slots[i] = (StrtabSlot){str, hash};
        tab->n_strings++;
        strtab_book(tab, entry, account);
        return str;
}

Str strtab_add_like(Strtab *tab, Account *account, Str like, const char *text, size_t n)
{
        const StrtabEntry *entry = like ? tab->entries[like - 1] : NULL;

        return entry && entry_is(entry, account->number, text, n)
                       ? strtab_ref(tab, like)
                       : strtab_add_for(tab, account, text, n);
}

Str strtab_add(Strtab *tab, const char *text, size_t n)
{
        return strtab_add_for(tab, tab->account, text, n);
}

bool strtab_is_of(const Strtab *tab, Str str, const Account *account)
{
        return tab->entries[str - 1]->account == account->number;
}

Str strtab_ref(Strtab *tab, Str str)
{
        if (str)
                tab->entries[str - 1]->n_refs++;
        return str;
}

/* Closes the hole in the probe sequence: moves up each slot that may move. */
static void strtab_free_slot(Strtab *tab, size_t i)
{
        size_t mask = ((size_t)1 << tab->n_bits) - 1, j = i;

        for (;;) {
                size_t home;

                j = (j + 1) & mask;
                if (!tab->slots[j].str)
                        break;
                home = tab->slots[j].hash & mask;
                if (((j - home) & mask) >= ((j - i) & mask)) {
                        tab->slots[i] = tab->slots[j];
                        i = j;
                }
        }
        tab->slots[i] = (StrtabSlot){0};
}

void strtab_unref(Strtab *tab, Str str)
{
        StrtabEntry *entry;

        if (!str)
                return;
        entry = tab->entries[str - 1];
        if (--entry->n_refs)
                return;
        strtab_free_slot(tab, strtab_slot(tab, entry->account, entry->text, entry->n, entry->hash));
        tab->n_strings--;
        strtab_unbook(tab, entry);
        tab->entries[str - 1] = NULL;
        g_array_append_val(tab->free, str);
        g_free(entry);
}

const char *strtab_text(const Strtab *tab, Str str)
{
        return str ? tab->entries[str - 1]->text : NULL;
}

size_t strtab_length(const Strtab *tab, Str str)
{
        return tab->entries[str - 1]->n;
}

Str strtab_end(const Strtab *tab)
{
        return tab->n_entries;
}

uint64_t strtab_n_reuses(const Strtab *tab)
{
        return tab->n_reuses;
}

bool strtab_reuse(const Strtab *tab, uint64_t i, Str *ret_str)
{
        if (tab->n_reuses - i > N_REUSED)
                return false;
        *ret_str = tab->reused[i % N_REUSED];
        return true;
}

size_t strtab_n_strings(const Strtab *tab)
{
        return tab->n_strings;
}

size_t strtab_growth(const Strtab *tab, size_t n)
{
        size_t growth = account_size(sizeof(StrtabEntry) + n + 1);

        if ((size_t)(tab->n_strings + 4) * 4 > ((size_t)3 << tab->n_bits))
                growth += slots_size(tab->n_bits + 1);
        if (tab->free->len < 4 && tab->n_entries + 4 > tab->n_allocated)
                growth += MAX(256, tab->n_allocated / 2) * NUMBER_SIZE;
        return growth;
}
