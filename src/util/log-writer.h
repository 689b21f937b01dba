/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Log: GLib's messages go to the standard error, or systemd's journal, even without memory
 *
 * GLib's own writers find out once, by g_once_init_enter(), what the standard error is. From 2.80
 * on this function allocates under a lock: if it cannot, the message about that would wait for this
 * very lock, and the program would hang instead of ending.
 */

/* To be called once, before anything that can fail. */
void log_writer_init(void);
