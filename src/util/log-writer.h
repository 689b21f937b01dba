/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Log: GLib's messages go where GLib's own writer sends them, also when there is no memory
 *
 * That writer looks once, by g_once_init_enter(), whether the standard error is systemd's journal.
 * From GLib 2.80 on this function allocates under a lock: if it cannot, the message about that
 * would wait for this very lock, and the program would hang instead of ending.
 */

/* To be called once, before anything that may fail. */
void log_writer_init(void);
