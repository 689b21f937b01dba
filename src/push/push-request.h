/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Push request: one profile of one series, in a store's form, by HTTP
 *
 * Pyroscope: POST URL/ingest with labels in the query, and the profile as a part of a form. Parca:
 * the POST of its method WriteRaw in JSON, if the URL's path ends in /profiles/writeraw. A
 * collector of OpenTelemetry: the POST of a message ExportProfilesServiceRequest, if the path ends
 * in /v1development/profiles.
 */

#include "push/process-series.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum PushKind {
        PUSH_PYROSCOPE,
        PUSH_PARCA,
        PUSH_OTLP,
} PushKind;

/* One profile. */
typedef struct PushItem {
        ProcessSeries series; /* owned */
        GBytes *profile;      /* owned, compressed: OTLP for PUSH_OTLP, else pprof */
        int64_t from, until;  /* s since 1970 UTC */
} PushItem;

void push_item_free(PushItem *item);

/* NULL: URL is valid; else the error (static). */
const char *push_url_check(const char *url);
PushKind push_url_kind(const char *url);
/* URL, which passed the check, for messages: without user and password. Owned. */
char *push_url_shown(const char *url);

/* The address for ITEM of HOST, from URL, which passed the check. Owned. */
char *push_request_url(const char *url, const PushItem *item, const char *host);
/*
 * The profiles that a collector has rejected, from the N BYTES of its answer, an
 * ExportProfilesServiceResponse. False: it has accepted all, or the answer is damaged. RET_REASON:
 * the collector's text, not checked; owned.
 */
bool push_response_rejects(const uint8_t *bytes, size_t n, char **ret_reason);
/* The body for Parca. Owned. */
char *push_request_json(const PushItem *item, const char *host);
