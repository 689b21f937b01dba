/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Metadata names: what types and methods of an assembly are called
 *
 * Types are written as the runtime's events have them: "Namespace.Outer+Inner`1", with a backslash
 * before each of ,[]&*+\ in a name. Texts of the metadata are UTF-8 that nobody has checked.
 */

#include "metadata/metadata.h"

/* The row of TypeDef that has the method, or 0. */
uint32_t metadata_method_type(const Metadata *metadata, uint32_t method);
/* The method's own name; NULL: there is none. */
const char *metadata_method_name(const Metadata *metadata, uint32_t method);

/*
 * Writes the name of a type, NUL-terminated, into the N bytes of BUFFER. TABLE is TypeDef or
 * TypeRef. False if there is no such type, it is nested in itself, or its name is longer: BUFFER is
 * empty then.
 */
bool metadata_type_name(const Metadata *metadata, MetadataTable table, uint32_t rid, char *buffer,
                        size_t n);

/*
 * The name of generic parameter number I, from 0, of a type (TABLE TypeDef) or method (MethodDef);
 * NULL: there is none.
 */
const char *metadata_generic_param(const Metadata *metadata, MetadataTable table, uint32_t rid,
                                   uint32_t i);
/* How many generic parameters it has. */
uint32_t metadata_n_generic_params(const Metadata *metadata, MetadataTable table, uint32_t rid);
