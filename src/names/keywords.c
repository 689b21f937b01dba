/* SPDX-License-Identifier: MIT */
#include "names/keywords.h"

#define N_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

typedef struct Word {
        const char *raw, *shown;
} Word;

static const Word OF_SIGNATURES[] = {
        {"void", "void"},
        {"bool", "bool"},
        {"wchar", "char"},
        {"int8", "sbyte"},
        {"unsigned int8", "byte"},
        {"int16", "short"},
        {"unsigned int16", "ushort"},
        {"int32", "int"},
        {"unsigned int32", "uint"},
        {"int64", "long"},
        {"unsigned int64", "ulong"},
        {"int", "nint"},
        {"unsigned int", "nuint"},
        {"float32", "float"},
        {"float64", "double"},
        {"refany", "TypedReference"},
        {"class System.Object", "object"},
        {"class System.String", "string"},
        {"class System.__Canon", "__Canon"},
        {"value class System.Decimal", "decimal"},
};

static const Word OF_TYPES[] = {
        {"System.Void", "void"},
        {"System.Boolean", "bool"},
        {"System.Char", "char"},
        {"System.SByte", "sbyte"},
        {"System.Byte", "byte"},
        {"System.Int16", "short"},
        {"System.UInt16", "ushort"},
        {"System.Int32", "int"},
        {"System.UInt32", "uint"},
        {"System.Int64", "long"},
        {"System.UInt64", "ulong"},
        {"System.IntPtr", "nint"},
        {"System.UIntPtr", "nuint"},
        {"System.Single", "float"},
        {"System.Double", "double"},
        {"System.Decimal", "decimal"},
        {"System.Object", "object"},
        {"System.String", "string"},
        {"System.TypedReference", "TypedReference"},
        {"System.__Canon", "__Canon"},
};

static const struct {
        const char *raw, *shown;
        unsigned n_arguments;
        bool is_instance;
} OPERATORS[] = {
        {"op_UnaryPlus", "+", 1, false},
        {"op_UnaryNegation", "-", 1, false},
        {"op_CheckedUnaryNegation", "checked -", 1, false},
        {"op_LogicalNot", "!", 1, false},
        {"op_OnesComplement", "~", 1, false},
        {"op_Increment", "++", 1, false},
        {"op_CheckedIncrement", "checked ++", 1, false},
        {"op_Decrement", "--", 1, false},
        {"op_CheckedDecrement", "checked --", 1, false},
        {"op_True", "true", 1, false},
        {"op_False", "false", 1, false},
        {"op_Addition", "+", 2, false},
        {"op_CheckedAddition", "checked +", 2, false},
        {"op_Subtraction", "-", 2, false},
        {"op_CheckedSubtraction", "checked -", 2, false},
        {"op_Multiply", "*", 2, false},
        {"op_CheckedMultiply", "checked *", 2, false},
        {"op_Division", "/", 2, false},
        {"op_CheckedDivision", "checked /", 2, false},
        {"op_Modulus", "%", 2, false},
        {"op_BitwiseAnd", "&", 2, false},
        {"op_BitwiseOr", "|", 2, false},
        {"op_ExclusiveOr", "^", 2, false},
        {"op_LeftShift", "<<", 2, false},
        {"op_RightShift", ">>", 2, false},
        {"op_UnsignedRightShift", ">>>", 2, false},
        {"op_Equality", "==", 2, false},
        {"op_Inequality", "!=", 2, false},
        {"op_LessThan", "<", 2, false},
        {"op_GreaterThan", ">", 2, false},
        {"op_LessThanOrEqual", "<=", 2, false},
        {"op_GreaterThanOrEqual", ">=", 2, false},
        {"op_IncrementAssignment", "++", 0, true},
        {"op_CheckedIncrementAssignment", "checked ++", 0, true},
        {"op_DecrementAssignment", "--", 0, true},
        {"op_CheckedDecrementAssignment", "checked --", 0, true},
        {"op_AdditionAssignment", "+=", 1, true},
        {"op_CheckedAdditionAssignment", "checked +=", 1, true},
        {"op_SubtractionAssignment", "-=", 1, true},
        {"op_CheckedSubtractionAssignment", "checked -=", 1, true},
        {"op_MultiplicationAssignment", "*=", 1, true},
        {"op_CheckedMultiplicationAssignment", "checked *=", 1, true},
        {"op_DivisionAssignment", "/=", 1, true},
        {"op_CheckedDivisionAssignment", "checked /=", 1, true},
        {"op_ModulusAssignment", "%=", 1, true},
        {"op_BitwiseAndAssignment", "&=", 1, true},
        {"op_BitwiseOrAssignment", "|=", 1, true},
        {"op_ExclusiveOrAssignment", "^=", 1, true},
        {"op_LeftShiftAssignment", "<<=", 1, true},
        {"op_RightShiftAssignment", ">>=", 1, true},
        {"op_UnsignedRightShiftAssignment", ">>>=", 1, true},
};

/* All names of code that the runtime generates. */
static const Word STUBS[] = {
        {"IL_STUB", "IL stub"},
        {"IL_STUB_PInvoke", "P/Invoke stub"},
        {"IL_STUB_ReversePInvoke", "reverse P/Invoke stub"},
        {"IL_STUB_CLRtoCOM", "CLR to COM stub"},
        {"IL_STUB_CLRtoCOM_Event", "CLR to COM event stub"},
        {"IL_STUB_COMtoCLR", "COM to CLR stub"},
        {"IL_STUB_CLRtoWinRT", "CLR to WinRT stub"},
        {"IL_STUB_WinRTtoCLR", "WinRT to CLR stub"},
        {"IL_STUB_StructMarshal", "struct marshalling stub"},
        {"IL_STUB_Array", "array stub"},
        {"IL_STUB_Array_Get", "array get stub"},
        {"IL_STUB_Array_Set", "array set stub"},
        {"IL_STUB_Array_Address", "array address stub"},
        {"IL_STUB_MulticastDelegate_Invoke", "multicast delegate invoke stub"},
        {"IL_STUB_Delegate_Invoke", "delegate invoke stub"},
        {"IL_STUB_WrapperDelegate_Invoke", "wrapper delegate invoke stub"},
        {"IL_STUB_SecureDelegate_Invoke", "secure delegate invoke stub"},
        {"IL_STUB_DelegateShuffleThunk", "delegate shuffle thunk"},
        {"IL_STUB_UnboxingStub", "unboxing stub"},
        {"IL_STUB_InstantiatingStub", "instantiating stub"},
        {"IL_STUB_StoreTailCallArgs", "tail call store arguments stub"},
        {"IL_STUB_CallTailCallTarget", "tail call target stub"},
        {"IL_STUB_VirtualStaticMethodDispatch", "virtual static method dispatch stub"},
        {"IL_STUB_AsyncResume", "async resume stub"},
};

static const struct {
        const char *name;
        KeywordUse use;
} TAKEN[] = {
        {"get", KEYWORD_MEMBER},          {"set", KEYWORD_MEMBER},
        {"init", KEYWORD_MEMBER},         {"add", KEYWORD_MEMBER},
        {"remove", KEYWORD_MEMBER},       {"lambda", KEYWORD_GENERATED},
        {"async", KEYWORD_GENERATED},     {"iterator", KEYWORD_GENERATED},
        {"machine", KEYWORD_GENERATED},   {"closure", KEYWORD_GENERATED},
        {"anonymous", KEYWORD_GENERATED},
};

static const char *keyword_find(const Word *words, size_t n, Span raw)
{
        size_t i;

        for (i = 0; i < n; i++)
                if (span_equal(raw, words[i].raw))
                        return words[i].shown;
        return NULL;
}

const char *keyword_of_signature(Span type)
{
        return keyword_find(OF_SIGNATURES, N_ELEMENTS(OF_SIGNATURES), type);
}

const char *keyword_of_type(Span type)
{
        return keyword_find(OF_TYPES, N_ELEMENTS(OF_TYPES), type);
}

const char *keyword_of_operator(Span method, bool is_instance, unsigned n_arguments)
{
        size_t i;

        for (i = 0; i < N_ELEMENTS(OPERATORS); i++)
                if (OPERATORS[i].is_instance == is_instance &&
                    OPERATORS[i].n_arguments == n_arguments && span_equal(method, OPERATORS[i].raw))
                        return OPERATORS[i].shown;
        return NULL;
}

const char *keyword_of_stub(Span method)
{
        return keyword_find(STUBS, N_ELEMENTS(STUBS), method);
}

/* True for a type parameter in this room's spelling: T1, M12. */
static bool is_type_parameter(Span name)
{
        unsigned number;

        return (span_skip(&name, "T") || span_skip(&name, "M")) &&
               span_skip_number(&name, &number) && name.at == name.end;
}

bool keyword_is_taken(Span name, unsigned uses)
{
        size_t i;

        for (i = 0; i < N_ELEMENTS(TAKEN); i++)
                if ((uses & TAKEN[i].use) && span_equal(name, TAKEN[i].name))
                        return true;
        if (!(uses & KEYWORD_TYPE))
                return false;
        for (i = 0; i < N_ELEMENTS(OF_TYPES); i++)
                if (span_equal(name, OF_TYPES[i].shown))
                        return true;
        return is_type_parameter(name);
}
