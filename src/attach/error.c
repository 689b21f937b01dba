/* SPDX-License-Identifier: MIT */
#include "attach/error.h"

#include "wire/hold-request.h"

static const char *const NAMES[_ATTACH_ERROR_MAX] = {
        [ATTACH_ERROR_FAILED] = "failed",
        [ATTACH_ERROR_NO_PROCESS] = REQUEST_NO_PROCESS,
        [ATTACH_ERROR_NOT_DOTNET] = "not-dotnet",
        [ATTACH_ERROR_NOT_ALLOWED] = "not-allowed",
        [ATTACH_ERROR_NO_PORT] = "no-port",
        [ATTACH_ERROR_PORT_OFF] = "port-off",
        [ATTACH_ERROR_NO_PROVIDER] = "no-provider",
        [ATTACH_ERROR_NO_CULTURE] = "no-culture",
        [ATTACH_ERROR_TOO_OLD] = "too-old",
        [ATTACH_ERROR_UNRESPONSIVE] = "silent",
        [ATTACH_ERROR_REFUSED] = "refused",
        [ATTACH_ERROR_BROKEN] = "broken",
        [ATTACH_ERROR_ENDED] = REQUEST_ENDED,
        [ATTACH_ERROR_NOT_ATTACHED] = REQUEST_NOT_ATTACHED,
        [ATTACH_ERROR_NO_PLACE] = "no-place",
};

GQuark attach_error_quark(void)
{
        return g_quark_from_static_string("clrsym-attach");
}

const char *attach_error_name(AttachError code)
{
        return (unsigned)code < _ATTACH_ERROR_MAX ? NAMES[code] : NAMES[ATTACH_ERROR_FAILED];
}

bool attach_error_is_early(const GError *error)
{
        return g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_NO_PORT) ||
               g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_REFUSED) ||
               g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_BROKEN);
}

AttachError attach_error_from_name(const char *name)
{
        unsigned i;

        for (i = 0; i < _ATTACH_ERROR_MAX; i++)
                if (!g_strcmp0(name, NAMES[i]))
                        return (AttachError)i;
        return ATTACH_ERROR_FAILED;
}
