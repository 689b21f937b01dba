/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Method signature: the signature of a method in the spelling of the runtime's events
 *
 *     instance generic class System.String  (int32,class List`1<!!0>&)
 *
 * It is made from the method's blob (ECMA-335, II.23.2.1). Nothing in the blob is trusted.
 */

#include "metadata/metadata.h"

/*
 * Writes the signature of METHOD, a row of MethodDef, NUL-terminated, into BUFFER of N bytes.
 * False, with BUFFER empty: the signature is damaged, longer, or has a rare part whose spelling by
 * the runtime is not known: an array with bounds, an optional modifier, a native calling
 * convention.
 */
bool metadata_method_signature(const Metadata *metadata, uint32_t method, char *buffer, size_t n);

/*
 * Turns the signature of an async method into its variant's, in place. The variant returns the
 * task's result: "class System.Threading.Tasks.Task`1<int32>  (bool)" becomes "int32  (bool)".
 * Empty if SIGNATURE does not return a task.
 */
void method_signature_unwrap_task(char *signature);
