/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Metadata names: the names of an assembly's types and methods
 *
 * Types are spelled as in the runtime's events: "Namespace.Outer+Inner`1", with a backslash before
 * each of ,[]&*+\ in a name. Texts of the metadata are unchecked UTF-8.
 */

#include "metadata/metadata.h"

/* The row of TypeDef with the method, or 0. */
uint32_t metadata_method_type(const Metadata *metadata, uint32_t method);
/* The method's own name; NULL: none. */
const char *metadata_method_name(const Metadata *metadata, uint32_t method);

/*
 * Writes the name of a type, NUL-terminated, into BUFFER of N bytes. TABLE is TypeDef or TypeRef.
 * False, with BUFFER empty: no such type, a type nested in itself, or a longer name.
 */
bool metadata_type_name(const Metadata *metadata, MetadataTable table, uint32_t rid, char *buffer,
                        size_t n);

/*
 * The name of generic parameter I, from 0, of a type (TABLE TypeDef) or method (MethodDef); NULL:
 * none.
 */
const char *metadata_generic_param(const Metadata *metadata, MetadataTable table, uint32_t rid,
                                   uint32_t i);
/* The number of its generic parameters. */
uint32_t metadata_n_generic_params(const Metadata *metadata, MetadataTable table, uint32_t rid);
