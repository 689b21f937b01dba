/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Name: a method's name for people
 *
 * Writes the runtime's three texts for a method as one line. Needs libc only, allocates no memory,
 * keeps no state and ignores the locale: any thread can call it at any time.
 *
 * The texts come from the traced program and may be any bytes. Control and format characters, line
 * and paragraph separators and noncharacters become \u{HEX}, bytes that are not UTF-8 become
 * \x{HEX}.
 *
 *   clr     Namespace.Type.Method(args), each text as the runtime writes it
 *   csharp  the same as C# writes it: Ns.List<int>.Add(T1), Ns.Outer.Inner.Name.get()
 *   short   csharp without namespaces and arguments: List<int>.Add. Overloads are equal in it.
 *
 * csharp, where it is not plain C#:
 *
 *   Main.lambda#0_1  Main.Local#3_0     a lambda or local function of Main; before a dot stands the
 *                                       closure that contains it: lambda#c.0_1, Local#15_0.3
 *   Load.async#5()  Items.iterator#6()  the steps of an async method or an iterator; any other
 *                                       member of such a machine: Items.machine#6.Name
 *   closure#15_0  anonymous#0<int>      a class that the compiler made
 *   <Main>$                             another compiler-generated name, as it is
 *   Type..ctor  Type..cctor             constructors, as in stack traces of .NET
 *   Method<int>, Method<?>              a generic method, whose type arguments are known or not
 *   TKey                                a type parameter
 *   T1, M1                              the first type parameter of the type, of the method, if its
 *                                       name is not known
 *   __Canon                             code shared by all reference types
 *   Type<,>                             a generic type that is not instantiated
 *   ?<T1>.Enumerator                    an argument's type, nested in a generic type whose name the
 *                                       signature lacks
 *   ref T                               also an out or in argument of the source: only signatures
 *                                       of virtual methods mark an in
 *   type:0x7f12                         the runtime's handle of a type
 *   [P/Invoke stub](int)                code that the runtime generated
 *   [P/Invoke stub made for Type.Method](int)
 *                                       the same, made for a known method; other methods with an
 *                                       equal signature share it
 *   [dynamic] Name(int)                 a DynamicMethod
 *   Name(?)                             the arguments are not known
 *   @int, Name.@get                     a name equal to the C# keyword int, to the accessor get
 *   ``text``                            text that does not parse, as the runtime writes it
 *
 * Names that differ in clr differ in csharp, except for the differences that C# does not write: a
 * nested type (A+B) and a type in a namespace (A.B); a class and a struct as an argument's type.
 */

#include "names/raw-name.h"

#include <stddef.h>

/* "clr", "csharp", "short"; NULL for another number. */
const char *name_style_text(NameStyle style);

/*
 * Writes the name, NUL-terminated, and returns the size of the whole name in bytes without the NUL,
 * like snprintf. If the result is not below N, the name is truncated, at a character. N 0 only
 * measures; BUFFER may then be NULL. Without a name it writes "" and returns 0. The time is linear
 * in the length of the texts. The output is UTF-8, at most 64 times as long as the texts.
 */
size_t name_format(const RawName *raw, NameStyle style, char *buffer, size_t n);
