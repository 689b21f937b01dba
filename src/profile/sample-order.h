/* SPDX-License-Identifier: MIT */
#pragma once

#include "profile/data.h"

/* Numbers of all samples, sorted by process, thread and time. The caller frees them. */
uint32_t *sample_order_new(const Profile *profile);
