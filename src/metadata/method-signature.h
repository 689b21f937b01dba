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
 * Writes the signature of METHOD, a row of MethodDef, NUL-terminated, into the N bytes of BUFFER.
 * False, with BUFFER empty: the signature is damaged or longer, or it has rare parts whose spelling
 * by the runtime is not known: arrays with bounds, optional modifiers, native calling conventions.
 */
bool metadata_method_signature(const Metadata *metadata, uint32_t method, char *buffer, size_t n);

/*
 * Makes the signature of an async method that of its variant, in place: the variant returns what
 * the task has. "class System.Threading.Tasks.Task`1<int32>  (bool)" becomes "int32  (bool)". Empty
 * if SIGNATURE returns no task.
 */
void method_signature_unwrap_task(char *signature);
