/* SPDX-License-Identifier: MIT */
#include "wire/enum-names.h"

#include <string.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

static const char *const STATUSES[] = {
        [CLRSYM_OK] = "ok",
        [CLRSYM_NO_PROCESS] = "no-process",
        [CLRSYM_NO_METHOD] = "no-method",
        [CLRSYM_UNLOADED] = "unloaded",
        [CLRSYM_NOT_YET] = "not-yet",
        [CLRSYM_AMBIGUOUS] = "ambiguous",
        [CLRSYM_PENDING] = "pending",
        [CLRSYM_EVICTED] = "evicted",
        [CLRSYM_INVALID] = "invalid",
};

static const char *const CONFIDENCES[] = {
        [CLRSYM_EXACT] = "exact",
        [CLRSYM_ASSUMED] = "assumed",
        [CLRSYM_PROVISIONAL] = "provisional",
        [CLRSYM_GAP] = "gap",
};

static const char *const SOURCES[] = {
        [CLRSYM_SOURCE_LOAD] = "load",
        [CLRSYM_SOURCE_RUNDOWN] = "rundown",
        [CLRSYM_SOURCE_UNLOAD] = "unload",
        [CLRSYM_SOURCE_R2R_ENTRY] = "r2r-entry",
};

static const char *const TIERS[] = {
        [CLRSYM_TIER_UNKNOWN] = "Unknown",
        [CLRSYM_TIER_MIN_OPT_JITTED] = "MinOptJitted",
        [CLRSYM_TIER_OPTIMIZED] = "Optimized",
        [CLRSYM_TIER_QUICK_JITTED] = "QuickJitted",
        [CLRSYM_TIER_OPTIMIZED_TIER1] = "OptimizedTier1",
        [CLRSYM_TIER_OPTIMIZED_TIER1_OSR] = "OptimizedTier1OSR",
        [CLRSYM_TIER_INSTRUMENTED] = "InstrumentedTier",
        [CLRSYM_TIER_INSTRUMENTED_OPTIMIZED] = "InstrumentedTierOptimized",
        [CLRSYM_TIER_READY_TO_RUN] = "ReadyToRun",
};

static const char *const IL_KINDS[] = {
        [CLRSYM_IL_UNKNOWN] = "unknown",       [CLRSYM_IL_EXACT] = "exact",
        [CLRSYM_IL_PROLOG] = "prolog",         [CLRSYM_IL_EPILOG] = "epilog",
        [CLRSYM_IL_NO_MAPPING] = "no-mapping",
};

static const char *const PROCESS_STATES[] = {
        [CLRSYM_RUNNING] = "running",
        [CLRSYM_EXITED] = "exited",
        [CLRSYM_RECORDED] = "recorded",
};

static const char *const LINE_STATUSES[] = {
        [CLRSYM_LINE_FOUND] = "found",
        [CLRSYM_LINE_NO_METHOD] = "no-method",
        [CLRSYM_LINE_NO_MODULE] = "no-module",
        [CLRSYM_LINE_NO_IL] = "no-il-offset",
        [CLRSYM_LINE_OTHER_IL] = "other-il",
        [CLRSYM_LINE_NO_PDB] = "no-pdb",
        [CLRSYM_LINE_PDB_MISSING] = "pdb-missing",
        [CLRSYM_LINE_PDB_OTHER] = "pdb-of-another-build",
        [CLRSYM_LINE_PDB_WINDOWS] = "pdb-not-portable",
        [CLRSYM_LINE_PDB_DAMAGED] = "pdb-damaged",
        [CLRSYM_LINE_NONE] = "no-line",
        [CLRSYM_LINE_TOO_MUCH] = "too-much-to-read",
};

static const struct {
        const char *const *names;
        unsigned n;
} TABLES[] = {
        [ENUM_STATUS] = {STATUSES, N(STATUSES)},
        [ENUM_CONFIDENCE] = {CONFIDENCES, N(CONFIDENCES)},
        [ENUM_SOURCE] = {SOURCES, N(SOURCES)},
        [ENUM_TIER] = {TIERS, N(TIERS)},
        [ENUM_IL_KIND] = {IL_KINDS, N(IL_KINDS)},
        [ENUM_PROCESS_STATE] = {PROCESS_STATES, N(PROCESS_STATES)},
        [ENUM_LINE_STATUS] = {LINE_STATUSES, N(LINE_STATUSES)},
};

static const char *enum_name(EnumKind kind, unsigned i)
{
        return i < TABLES[kind].n ? TABLES[kind].names[i] : "?";
}

bool enum_from_name(EnumKind kind, const char *text, unsigned *ret_i)
{
        unsigned i;

        for (i = 0; i < TABLES[kind].n; i++)
                if (!strcmp(text, TABLES[kind].names[i])) {
                        *ret_i = i;
                        return true;
                }
        return false;
}

unsigned enum_n_names(EnumKind kind)
{
        return TABLES[kind].n;
}

const char *clrsym_status_name(clrsym_status status)
{
        return enum_name(ENUM_STATUS, status);
}

const char *clrsym_confidence_name(clrsym_confidence confidence)
{
        return enum_name(ENUM_CONFIDENCE, confidence);
}

const char *clrsym_source_name(clrsym_source source)
{
        return enum_name(ENUM_SOURCE, source);
}

const char *clrsym_tier_name(clrsym_tier tier)
{
        return enum_name(ENUM_TIER, tier);
}

const char *clrsym_il_kind_name(clrsym_il_kind kind)
{
        return enum_name(ENUM_IL_KIND, kind);
}

const char *clrsym_process_state_name(clrsym_process_state state)
{
        return enum_name(ENUM_PROCESS_STATE, state);
}

const char *clrsym_line_status_name(clrsym_line_status status)
{
        return enum_name(ENUM_LINE_STATUS, status);
}
