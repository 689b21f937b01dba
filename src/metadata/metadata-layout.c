/* SPDX-License-Identifier: MIT */
#include "metadata/metadata-layout.h"

#define U16         COLUMN_U16
#define U32         COLUMN_U32
#define STR         COLUMN_STRING
#define GUID        COLUMN_GUID
#define BLOB        COLUMN_BLOB
#define CODED(code) (COLUMN_CODED + METADATA_##code)
#define COLUMNS(...)                                                                               \
        {                                                                                          \
                sizeof((const uint8_t[]){__VA_ARGS__}),                                            \
                {                                                                                  \
                        __VA_ARGS__                                                                \
                }                                                                                  \
        }

const MetadataColumns metadata_columns[_METADATA_TABLE_MAX] = {
        [0x00] = COLUMNS(U16, STR, GUID, GUID, GUID),                        /* Module */
        [0x01] = COLUMNS(CODED(RESOLUTION_SCOPE), STR, STR),                 /* TypeRef */
        [0x02] = COLUMNS(U32, STR, STR, CODED(TYPE_DEF_OR_REF), 0x04, 0x06), /* TypeDef */
        [0x03] = COLUMNS(0x04),                                              /* FieldPtr */
        [0x04] = COLUMNS(U16, STR, BLOB),                                    /* Field */
        [0x05] = COLUMNS(0x06),                                              /* MethodPtr */
        [0x06] = COLUMNS(U32, U16, U16, STR, BLOB, 0x08),                    /* MethodDef */
        [0x07] = COLUMNS(0x08),                                              /* ParamPtr */
        [0x08] = COLUMNS(U16, U16, STR),                                     /* Param */
        [0x09] = COLUMNS(0x02, CODED(TYPE_DEF_OR_REF)),                      /* InterfaceImpl */
        [0x0a] = COLUMNS(CODED(MEMBER_REF_PARENT), STR, BLOB),               /* MemberRef */
        [0x0b] = COLUMNS(U16, CODED(HAS_CONSTANT), BLOB),                    /* Constant */
        [0x0c] = COLUMNS(CODED(HAS_CUSTOM_ATTRIBUTE), CODED(CUSTOM_ATTRIBUTE_TYPE),
                         BLOB),                                /* CustomAttribute */
        [0x0d] = COLUMNS(CODED(HAS_FIELD_MARSHAL), BLOB),      /* FieldMarshal */
        [0x0e] = COLUMNS(U16, CODED(HAS_DECL_SECURITY), BLOB), /* DeclSecurity */
        [0x0f] = COLUMNS(U16, U32, 0x02),                      /* ClassLayout */
        [0x10] = COLUMNS(U32, 0x04),                           /* FieldLayout */
        [0x11] = COLUMNS(BLOB),                                /* StandAloneSig */
        [0x12] = COLUMNS(0x02, 0x14),                          /* EventMap */
        [0x13] = COLUMNS(0x14),                                /* EventPtr */
        [0x14] = COLUMNS(U16, STR, CODED(TYPE_DEF_OR_REF)),    /* Event */
        [0x15] = COLUMNS(0x02, 0x17),                          /* PropertyMap */
        [0x16] = COLUMNS(0x17),                                /* PropertyPtr */
        [0x17] = COLUMNS(U16, STR, BLOB),                      /* Property */
        [0x18] = COLUMNS(U16, 0x06, CODED(HAS_SEMANTICS)),     /* MethodSemantics */
        [0x19] = COLUMNS(0x02, CODED(METHOD_DEF_OR_REF), CODED(METHOD_DEF_OR_REF)), /* MethodImpl */
        [0x1a] = COLUMNS(STR),                                                      /* ModuleRef */
        [0x1b] = COLUMNS(BLOB),                                                     /* TypeSpec */
        [0x1c] = COLUMNS(U16, CODED(MEMBER_FORWARDED), STR, 0x1a),                  /* ImplMap */
        [0x1d] = COLUMNS(U32, 0x04),                                                /* FieldRVA */
        [0x1e] = COLUMNS(U32, U32),                                                 /* EncLog */
        [0x1f] = COLUMNS(U32),                                                      /* EncMap */
        [0x20] = COLUMNS(U32, U16, U16, U16, U16, U32, BLOB, STR, STR),             /* Assembly */
        [0x21] = COLUMNS(U32),                                           /* AssemblyProcessor */
        [0x22] = COLUMNS(U32, U32, U32),                                 /* AssemblyOS */
        [0x23] = COLUMNS(U16, U16, U16, U16, U32, BLOB, STR, STR, BLOB), /* AssemblyRef */
        [0x24] = COLUMNS(U32, 0x23),                                     /* AssemblyRefProcessor */
        [0x25] = COLUMNS(U32, U32, U32, 0x23),                           /* AssemblyRefOS */
        [0x26] = COLUMNS(U32, STR, BLOB),                                /* File */
        [0x27] = COLUMNS(U32, U32, STR, STR, CODED(IMPLEMENTATION)),     /* ExportedType */
        [0x28] = COLUMNS(U32, U32, STR, CODED(IMPLEMENTATION)),          /* ManifestResource */
        [0x29] = COLUMNS(0x02, 0x02),                                    /* NestedClass */
        [0x2a] = COLUMNS(U16, U16, CODED(TYPE_OR_METHOD_DEF), STR),      /* GenericParam */
        [0x2b] = COLUMNS(CODED(METHOD_DEF_OR_REF), BLOB),                /* MethodSpec */
        [0x2c] = COLUMNS(0x2a, CODED(TYPE_DEF_OR_REF)),     /* GenericParamConstraint */
        [0x30] = COLUMNS(BLOB, GUID, BLOB, GUID),           /* Document */
        [0x31] = COLUMNS(0x30, BLOB),                       /* MethodDebugInformation */
        [0x32] = COLUMNS(0x06, 0x35, 0x33, 0x34, U32, U32), /* LocalScope */
        [0x33] = COLUMNS(U16, U16, STR),                    /* LocalVariable */
        [0x34] = COLUMNS(STR, BLOB),                        /* LocalConstant */
        [0x35] = COLUMNS(0x35, BLOB),                       /* ImportScope */
        [0x36] = COLUMNS(0x06, 0x06),                       /* StateMachineMethod */
        [0x37] = COLUMNS(CODED(HAS_CUSTOM_DEBUG_INFORMATION), GUID,
                         BLOB), /* CustomDebugInformation */
};

#define NONE METADATA_NO_TABLE
#define TAGS(bits, ...)                                                                            \
        {                                                                                          \
                bits, sizeof((const uint8_t[]){__VA_ARGS__}),                                      \
                {                                                                                  \
                        __VA_ARGS__                                                                \
                }                                                                                  \
        }
#define HAS_ATTRIBUTE                                                                              \
        0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00, 0x0e, 0x17, 0x14, 0x11, 0x1a, 0x1b, 0x20,  \
                0x23, 0x26, 0x27, 0x28, 0x2a, 0x2c, 0x2b

const MetadataTags metadata_tags[_METADATA_CODE_MAX] = {
        [METADATA_TYPE_DEF_OR_REF] = TAGS(2, 0x02, 0x01, 0x1b),
        [METADATA_HAS_CONSTANT] = TAGS(2, 0x04, 0x08, 0x17),
        [METADATA_HAS_CUSTOM_ATTRIBUTE] = TAGS(5, HAS_ATTRIBUTE),
        [METADATA_HAS_FIELD_MARSHAL] = TAGS(1, 0x04, 0x08),
        [METADATA_HAS_DECL_SECURITY] = TAGS(2, 0x02, 0x06, 0x20),
        [METADATA_MEMBER_REF_PARENT] = TAGS(3, 0x02, 0x01, 0x1a, 0x06, 0x1b),
        [METADATA_HAS_SEMANTICS] = TAGS(1, 0x14, 0x17),
        [METADATA_METHOD_DEF_OR_REF] = TAGS(1, 0x06, 0x0a),
        [METADATA_MEMBER_FORWARDED] = TAGS(1, 0x04, 0x06),
        [METADATA_IMPLEMENTATION] = TAGS(2, 0x26, 0x23, 0x27),
        [METADATA_CUSTOM_ATTRIBUTE_TYPE] = TAGS(3, NONE, NONE, 0x06, 0x0a, NONE),
        [METADATA_RESOLUTION_SCOPE] = TAGS(2, 0x00, 0x1a, 0x23, 0x01),
        [METADATA_TYPE_OR_METHOD_DEF] = TAGS(1, 0x02, 0x06),
        [METADATA_HAS_CUSTOM_DEBUG_INFORMATION] =
                TAGS(5, HAS_ATTRIBUTE, 0x30, 0x32, 0x33, 0x34, 0x35),
};
