/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Name: a method's name for people
 *
 * Makes one line of the runtime's three texts for a method. Needs libc only, takes no memory, keeps
 * no state and ignores the locale: can be called from everywhere, in any thread.
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
 *                                       closure that it is in: lambda#c.0_1, Local#15_0.3
 *   Load.async#5()  Items.iterator#6()  the steps of an async method or an iterator; any other
 *                                       member of such a machine: Items.machine#6.Name
 *   closure#15_0  anonymous#0<int>      a class that the compiler made
 *   <Main>$                             other names that a compiler made, as they are
 *   Type..ctor  Type..cctor             constructors, as every stack trace of .NET has them
 *   Method<int>, Method<?>              a generic method, whose type arguments are known or not
 *   TKey, T1, M1                        a type parameter by its name, and if that is not known, the
 *                                       first one of the type, of the method
 *   __Canon                             code shared by all reference types
 *   Type<,>                             a generic type that is not instantiated
 *   ?<T1>.Enumerator                    an argument's type that is nested in a generic type, whose
 *                                       name is not in the signature
 *   ref T                               also out or in of the source: only the signatures of
 * virtual methods mark an in type:0x7f12                         the runtime's own handle of a type
 *   [P/Invoke stub](int)                code that the runtime generated
 *   [P/Invoke stub made for Type.Method](int)
 *                                       the same, made for a known method; other methods with an
 *                                       equal signature share it
 *   [dynamic] Name(int)                 a DynamicMethod
 *   Name(?)                             the arguments are not known
 *   @int, Name.@get                     has this very name; int and get alone are the C# keyword
 *                                       and an accessor
 *   ``text``                            was not understood: as the runtime writes it
 *
 * Names that differ in clr differ in csharp, except for what C# does not write: whether a type is
 * nested (A+B) or in a namespace (A.B), and whether an argument's type is a class or a struct.
 */

#include "names/raw-name.h"

#include <stddef.h>

/* "clr", "csharp", "short"; NULL for another number. */
const char *name_style_text(NameStyle style);

/*
 * Writes the name, NUL-terminated, and returns the bytes of the whole name without the NUL, like
 * snprintf: if the result is not below N, the name was cut, at a character. N 0 only measures,
 * BUFFER may then be NULL. Without a name it writes "" and returns 0. Takes time in proportion to
 * the length of the texts. The output is UTF-8, at most 64 times as long as the texts.
 */
size_t name_format(const RawName *raw, NameStyle style, char *buffer, size_t n);
