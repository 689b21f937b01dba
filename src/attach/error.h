/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Errors of attaching: each message is for people and gives the remedy
 */

#include <glib.h>
#include <stdbool.h>

typedef enum AttachError {
        ATTACH_ERROR_FAILED,
        ATTACH_ERROR_NO_PROCESS,
        ATTACH_ERROR_NOT_DOTNET,
        ATTACH_ERROR_NOT_ALLOWED,
        ATTACH_ERROR_NO_PORT,     /* the diagnostic port was not found */
        ATTACH_ERROR_PORT_OFF,    /* the process cannot have a port */
        ATTACH_ERROR_NO_PROVIDER, /* the runtime has not loaded its LTTng provider */
        ATTACH_ERROR_NO_CULTURE,  /* a session would abort the process: culture.h */
        ATTACH_ERROR_TOO_OLD,
        ATTACH_ERROR_UNRESPONSIVE, /* does not answer */
        ATTACH_ERROR_REFUSED,
        ATTACH_ERROR_BROKEN, /* answers, but not as a runtime does */
        ATTACH_ERROR_ENDED,  /* the process ended meanwhile */
        ATTACH_ERROR_NOT_ATTACHED,
        ATTACH_ERROR_NO_PLACE, /* the user's attachments have reached their limit */
        _ATTACH_ERROR_MAX,
} AttachError;

#define ATTACH_ERROR (attach_error_quark())
GQuark attach_error_quark(void);

/* "no-process": the kind of an error in JSON. Static. */
const char *attach_error_name(AttachError code);
AttachError attach_error_from_name(const char *name);

/* True for an error that a runtime can give in its first moments, before it has opened its port or
 * accepts a session. ERROR may be NULL. */
bool attach_error_is_early(const GError *error);
