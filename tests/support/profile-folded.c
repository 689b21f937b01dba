/* SPDX-License-Identifier: MIT */
#include "support/profile-folded.h"

#include "profile/writers.h"

bool profile_write_folded(const Profile *profile, const char *path, bool annotate,
                          GError **reterr_error)
{
        const ProfileOptions options = {.is_annotated = annotate};
        ProfileFile out;

        if (!profile_file_open(&out, path, /* gzip= */ false, reterr_error))
                return false;
        folded_write(profile, &options, &out);
        return profile_file_close(&out, reterr_error);
}
