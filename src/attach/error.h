/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Errors of attaching: the message is for people, and says what to do
 */

#include <glib.h>

typedef enum AttachError {
        ATTACH_ERROR_FAILED,
        ATTACH_ERROR_NO_PROCESS,
        ATTACH_ERROR_NOT_DOTNET,
        ATTACH_ERROR_NOT_ALLOWED,
        ATTACH_ERROR_NO_PORT,     /* its diagnostic port is closed, or not to be found */
        ATTACH_ERROR_NO_PROVIDER, /* its runtime has nothing to say to LTTng */
        ATTACH_ERROR_TOO_OLD,
        ATTACH_ERROR_SILENT, /* does not answer */
        ATTACH_ERROR_REFUSED,
        ATTACH_ERROR_BROKEN, /* answers, but not as a runtime does */
        ATTACH_ERROR_ENDED,  /* while we were at it */
        ATTACH_ERROR_NOT_ATTACHED,
        _ATTACH_ERROR_MAX,
} AttachError;

#define ATTACH_ERROR (attach_error_quark())
GQuark attach_error_quark(void);

/* "no-process": in JSON, and between the holder and who asks it. Static. */
const char *attach_error_name(AttachError code);
AttachError attach_error_from_name(const char *name);
