/* SPDX-License-Identifier: MIT */
#include "names/name.h"

#include "support/suite.h"

#include <string.h>

/* The three styles of names from the runtime's events. */
static const struct {
        const char *name_space, *name, *signature;
        const char *clr, *csharp, *simple;
} ROWS[] = {
        {"Ns.Type", "Method", "instance void  (class System.String,int32)",
         "Ns.Type.Method(class System.String,int32)", "Ns.Type.Method(string, int)", "Type.Method"},
        {"Type", "Method", "void  ()", "Type.Method()", "Type.Method()", "Type.Method"},
        {"", "main", "int32  ()", "main()", "main()", "main"},
        {"A.B+C+D", "M", "void  ()", "A.B+C+D.M()", "A.B.C.D.M()", "B.C.D.M"},
        {"System.Int32", "Parse", "int32  (class System.String)",
         "System.Int32.Parse(class System.String)", "int.Parse(string)", "int.Parse"},
        {"System.Thing", "M", "void  ()", "System.Thing.M()", "System.Thing.M()", "Thing.M"},
        {"A", "B", "not a signature)", "A.B()", "A.B(?)", "A.B"},
        {NULL, "Helper", NULL, "Helper()", "Helper(?)", "Helper"},
        {"A", "B", "", "A.B()", "A.B(?)", "A.B"},
        {"A", "B", "(odd)", "A.B(odd)", "A.B(``odd``)", "A.B"},
        {"A", NULL, "void  ()", "", "", ""},
        {"A", "", "void  ()", "", "", ""},

        /* Generic types. */
        {"Box`1[System.Int32]", "Get", "instance !0  ()", "Box`1[System.Int32].Get()",
         "Box<int>.Get()", "Box<int>.Get"},
        {"N.Dictionary`2+Enumerator[System.Char,A.B+C]", ".ctor", "instance void  (!1)",
         "N.Dictionary`2+Enumerator[System.Char,A.B+C]..ctor(!1)",
         "N.Dictionary<char, A.B.C>.Enumerator..ctor(T2)",
         "Dictionary<char, B.C>.Enumerator..ctor"},
        {"N.A`1+B`2[System.Byte,X[],X[,][]]", "M", "void  ()",
         "N.A`1+B`2[System.Byte,X[],X[,][]].M()", "N.A<byte>.B<X[], X[][,]>.M()",
         "A<byte>.B<X[], X[][,]>.M"},
        {"A`1[B`1[C`1[System.__Canon]][]]", "M", "void  ()", "A`1[B`1[C`1[System.__Canon]][]].M()",
         "A<B<C<__Canon>>[]>.M()", "A<B<C<__Canon>>[]>.M"},
        {"A`3", "M", "void  ()", "A`3.M()", "A<,,>.M()", "A<,,>.M"},
        {"A`2[System.Int32]", "M", "void  ()", "A`2[System.Int32].M()",
         "``A\\`2[System.Int32]``.M()", "``A\\`2[System.Int32]``.M"},
        {"System.Int32[,]", "Get", "instance int32  (int32,int32)",
         "System.Int32[,].Get(int32,int32)", "int[,].Get(int, int)", "int[,].Get"},
        {"A\\+B+C", "M", "void  ()", "A\\+B+C.M()", "``A\\\\+B``.C.M()", "``A\\\\+B``.C.M"},

        /* Arguments. */
        {"A", "M",
         "void  (bool,wchar,int8,unsigned int8,int16,unsigned int16,int32,unsigned int32,int64,"
         "unsigned int64,float32,float64,int,unsigned int,refany,class System.Object)",
         "A.M(bool,wchar,int8,unsigned int8,int16,unsigned int16,int32,unsigned int32,int64,"
         "unsigned int64,float32,float64,int,unsigned int,refany,class System.Object)",
         "A.M(bool, char, sbyte, byte, short, ushort, int, uint, long, ulong, float, double, nint, "
         "nuint, TypedReference, object)",
         "A.M"},
        {"A", "M", "void  (int32&,int32[],int32[,]&,int32*,void**,class B[][,])",
         "A.M(int32&,int32[],int32[,]&,int32*,void**,class B[][,])",
         "A.M(ref int, int[], ref int[,], int*, void**, B[,][])", "A.M"},
        {"A", "M", "void  (required_modifier System.Runtime.InteropServices.InAttribute !1&)",
         "A.M(required_modifier System.Runtime.InteropServices.InAttribute !1&)", "A.M(in T2)",
         "A.M"},
        {"A", "M", "void  (optional_modifier N.C int32,required_modifier D value class E*)",
         "A.M(optional_modifier N.C int32,required_modifier D value class E*)",
         "A.M(modopt(N.C) int, modreq(D) E*)", "A.M"},
        {"A", "M", "void  (class N.F`2<int32,class N.G`1<!0>>&,value class N.H`1)",
         "A.M(class N.F`2<int32,class N.G`1<!0>>&,value class N.H`1)",
         "A.M(ref N.F<int, N.G<T1>>, N.H<>)", "A.M"},
        {"A", "M", "void  (value class Enumerator<!0>,class Lookup`1<!0,!1,!!0>)",
         "A.M(value class Enumerator<!0>,class Lookup`1<!0,!1,!!0>)",
         "A.M(?<T1>.Enumerator, ?<T1, T2>.Lookup<M1>)", "A.M"},
        {"A", "M", "void  (class N.Odd<int32>)", "A.M(class N.Odd<int32>)",
         "A.M(``class N.Odd<int32>``)", "A.M"},
        {"A", "M", "void  (fnptr void(int32,bool&),fnptr unmanaged cdecl !0&()&,int32)",
         "A.M(fnptr void(int32,bool&),fnptr unmanaged cdecl !0&()&,int32)",
         "A.M(delegate*<int, ref bool, void>, ref delegate* unmanaged[Cdecl]<ref T1>, int)", "A.M"},
        {"A", "M", "fnptr void(int32)  (fnptr fnptr int8()(bool))", "A.M(fnptr fnptr int8()(bool))",
         "A.M(delegate*<bool, delegate*<sbyte>>)", "A.M"},
        {"A", "M", "void  (fnptr optional_modifier N.Cdecl void())",
         "A.M(fnptr optional_modifier N.Cdecl void())", "A.M(delegate*<modopt(N.Cdecl) void>)",
         "A.M"},
        {"A", "M", "vararg void  (int32,...,class System.String)",
         "A.M(int32,...,class System.String)", "A.M(int, ..., string)", "A.M"},
        {"A", "M", "void  (pMT: 0x7f12ab<class System.Object,pMT: 0x1>)",
         "A.M(pMT: 0x7f12ab<class System.Object,pMT: 0x1>)", "A.M(type:0x7f12ab<object, type:0x1>)",
         "A.M"},
        {"A", "M", "void  (value class System.Decimal,class System.__Canon,native value class B)",
         "A.M(value class System.Decimal,class System.__Canon,native value class B)",
         "A.M(decimal, __Canon, native B)", "A.M"},

        /* Generic methods. */
        {"A", "M", "generic !!0  (!!0&,!!1)", "A.M(!!0&,!!1)", "A.M<?>(ref M1, M2)", "A.M<?>"},
        {"A", "M", "instance generic class B`1<!!0>  ()", "A.M()", "A.M<?>()", "A.M<?>"},

        /* Members. */
        {"A", ".cctor", "void  ()", "A..cctor()", "A..cctor()", "A..cctor"},
        {"A", "get_Name", "instance class System.String  ()", "A.get_Name()", "A.Name.get()",
         "A.Name.get"},
        {"A", "set_Name", "instance void  (int32)", "A.set_Name(int32)", "A.Name.set(int)",
         "A.Name.set"},
        {"A", "set_Name",
         "instance required_modifier System.Runtime.CompilerServices.IsExternalInit void  (int32)",
         "A.set_Name(int32)", "A.Name.init(int)", "A.Name.init"},
        {"A", "get_Item", "instance int32  (int32)", "A.get_Item(int32)", "A.this[].get(int)",
         "A.this[].get"},
        {"A", "set_Item", "instance void  (int32,bool)", "A.set_Item(int32,bool)",
         "A.this[].set(int, bool)", "A.this[].set"},
        {"A", "get_Item", "instance int32  ()", "A.get_Item()", "A.Item.get()", "A.Item.get"},
        {"A", "add_Click", "instance void  (class H)", "A.add_Click(class H)", "A.Click.add(H)",
         "A.Click.add"},
        {"A", "remove_Click", "instance void  (class H)", "A.remove_Click(class H)",
         "A.Click.remove(H)", "A.Click.remove"},
        {"A", "get_what", "instance void  ()", "A.get_what()", "A.get_what()", "A.get_what"},
        {"A", "get_Chars", "instance wchar  (int32)", "A.get_Chars(int32)", "A.get_Chars(int)",
         "A.get_Chars"},
        {"A", "set_timer", "instance int32  (int32)", "A.set_timer(int32)", "A.set_timer(int)",
         "A.set_timer"},
        {"A", "get_Name", NULL, "A.get_Name()", "A.get_Name(?)", "A.get_Name"},
        {"A", "op_Addition", "value class A  (value class A,value class A)",
         "A.op_Addition(value class A,value class A)", "A.operator +(A, A)", "A.operator +"},
        {"A", "op_UnaryNegation", "value class A  (value class A)",
         "A.op_UnaryNegation(value class A)", "A.operator -(A)", "A.operator -"},
        {"A", "op_UnaryNegation", "value class A  (value class A,int32)",
         "A.op_UnaryNegation(value class A,int32)", "A.op_UnaryNegation(A, int)",
         "A.op_UnaryNegation"},
        {"A", "op_Addition", "instance value class A  (class A,class A)",
         "A.op_Addition(class A,class A)", "A.op_Addition(A, A)", "A.op_Addition"},
        {"A", "op_AdditionAssignment", "instance void  (int32)", "A.op_AdditionAssignment(int32)",
         "A.operator +=(int)", "A.operator +="},
        {"A", "op_Implicit", "class System.String  (class A)", "A.op_Implicit(class A)",
         "A.implicit operator string(A)", "A.implicit operator string"},
        {"A`1[System.Int32]", "op_CheckedExplicit", "value class N.S`1<!0>  (class A`1<!0>)",
         "A`1[System.Int32].op_CheckedExplicit(class A`1<!0>)",
         "A<int>.explicit operator checked N.S<T1>(A<T1>)",
         "A<int>.explicit operator checked N.S<T1>"},
        {"N.A`1[System.Int32]", "Finalize", "instance void  ()", "N.A`1[System.Int32].Finalize()",
         "N.A<int>.~A()", "A<int>.~A"},
        {"System.Object", "Finalize", "instance void  ()", "System.Object.Finalize()",
         "object.~Object()", "object.~Object"},
        {"A", "Finalize", "instance void  (int32)", "A.Finalize(int32)", "A.Finalize(int)",
         "A.Finalize"},
        {"A", "System.IDisposable.Dispose", "instance void  ()", "A.System.IDisposable.Dispose()",
         "A.System.IDisposable.Dispose()", "A.IDisposable.Dispose"},
        {"A", "N.IMap<System.Int32,N.Key,T[]>.get_Item", "instance int32  (int32)",
         "A.N.IMap<System.Int32,N.Key,T[]>.get_Item(int32)",
         "A.N.IMap<int, N.Key, T[]>.this[].get(int)", "A.IMap<int, Key, T[]>.this[].get"},
        {"System.Int32", "N.IAdd<System.Int32>.op_Addition", "int32  (int32,int32)",
         "System.Int32.N.IAdd<System.Int32>.op_Addition(int32,int32)",
         "int.N.IAdd<int>.operator +(int, int)", "int.IAdd<int>.operator +"},
        {"A", "I<B C>.M", "void  ()", "A.I<B C>.M()", "A.``I<B C>.M``()", "A.``I<B C>.M``"},

        /* Names that the compiler made. */
        {"N.P+<>c", "<Main>b__0_1", "instance int32  (int32)", "N.P+<>c.<Main>b__0_1(int32)",
         "N.P.Main.lambda#c.0_1(int)", "P.Main.lambda#c.0_1"},
        {"N.P+<>c__DisplayClass15_0", "<Main>b__2", "instance void  ()",
         "N.P+<>c__DisplayClass15_0.<Main>b__2()", "N.P.Main.lambda#15_0.2()",
         "P.Main.lambda#15_0.2"},
        {"N.P+<>c__DisplayClass15_0`1[System.Int32]", "<Main>g__Local|2", "instance void  ()",
         "N.P+<>c__DisplayClass15_0`1[System.Int32].<Main>g__Local|2()",
         "N.P.Main<int>.Local#15_0.2()", "P.Main<int>.Local#15_0.2"},
        {"P", "<Main>b__0_1", "instance void  ()", "P.<Main>b__0_1()", "P.Main.lambda#0_1()",
         "P.Main.lambda#0_1"},
        {"P", "<.ctor>b__0_1", "instance void  ()", "P.<.ctor>b__0_1()", "P..ctor.lambda#0_1()",
         "P..ctor.lambda#0_1"},
        {"P", "<get_X>g__Local|3_0", "generic void  (!!0)", "P.<get_X>g__Local|3_0(!!0)",
         "P.get_X.Local#3_0<?>(M1)", "P.get_X.Local#3_0<?>"},
        {"P", "<N.I<T>.M>b__3_0", "void  ()", "P.<N.I<T>.M>b__3_0()", "P.(N.I<T>.M).lambda#3_0()",
         "P.(N.I<T>.M).lambda#3_0"},
        {"Program+<>c", "<<Main>$>b__0_0", "instance void  ()", "Program+<>c.<<Main>$>b__0_0()",
         "Program.<Main>$.lambda#c.0_0()", "Program.<Main>$.lambda#c.0_0"},
        {"Program", "<Main>$", "void  ()", "Program.<Main>$()", "Program.<Main>$()",
         "Program.<Main>$"},
        {"P+<>c", ".cctor", "void  ()", "P+<>c..cctor()", "P.closure#c..cctor()",
         "P.closure#c..cctor"},
        {"P+<>c__6`1[System.Int32]", ".ctor", "instance void  ()",
         "P+<>c__6`1[System.Int32]..ctor()", "P.closure#c6<int>..ctor()",
         "P.closure#c6<int>..ctor"},
        {"P+<Load>d__5", "MoveNext", "instance void  ()", "P+<Load>d__5.MoveNext()",
         "P.Load.async#5()", "P.Load.async#5"},
        {"P`1+<Items>d__5`1[System.Int32,System.Char]", "MoveNext", "instance bool  ()",
         "P`1+<Items>d__5`1[System.Int32,System.Char].MoveNext()",
         "P<int>.Items<char>.iterator#5()", "P<int>.Items<char>.iterator#5"},
        {"P+<Items>d__5", "N.IEnumerator<System.Int32>.get_Current", "instance int32  ()",
         "P+<Items>d__5.N.IEnumerator<System.Int32>.get_Current()",
         "P.Items.machine#5.N.IEnumerator<int>.Current.get()",
         "P.Items.machine#5.IEnumerator<int>.Current.get"},
        {"P+<>c+<<Main>b__0_0>d", "MoveNext", "instance void  ()",
         "P+<>c+<<Main>b__0_0>d.MoveNext()", "P.Main.lambda#c.0_0.async#()",
         "P.Main.lambda#c.0_0.async#"},
        {"P+<>c__DisplayClass1_0`1+<<M>g__L|2>d[System.Int32]", "SetStateMachine",
         "instance void  (class X)",
         "P+<>c__DisplayClass1_0`1+<<M>g__L|2>d[System.Int32].SetStateMachine(class X)",
         "P.M<int>.L#1_0.2.machine#.SetStateMachine(X)",
         "P.M<int>.L#1_0.2.machine#.SetStateMachine"},
        {"Box`1[P+<Load>d__5]", "Run", "void  (value class <Load>d__5&,class <>c__DisplayClass1_0)",
         "Box`1[P+<Load>d__5].Run(value class <Load>d__5&,class <>c__DisplayClass1_0)",
         "Box<P.Load.machine#5>.Run(ref Load.machine#5, closure#1_0)", "Box<P.Load.machine#5>.Run"},
        {"<>f__AnonymousType0`2[System.Int32,System.__Canon]", "get_A", "instance !0  ()",
         "<>f__AnonymousType0`2[System.Int32,System.__Canon].get_A()",
         "anonymous#0<int, __Canon>.A.get()", "anonymous#0<int, __Canon>.A.get"},
        {"<PrivateImplementationDetails>", "ThrowIt", "void  ()",
         "<PrivateImplementationDetails>.ThrowIt()", "<PrivateImplementationDetails>.ThrowIt()",
         "<PrivateImplementationDetails>.ThrowIt"},
        {"<StartupCode$App>.$Program", "main@", "void  ()", "<StartupCode$App>.$Program.main@()",
         "<StartupCode$App>.$Program.main@()", "$Program.main@"},
        {"P", "<M", "void  ()", "P.<M()", "P.``<M``()", "P.``<M``"},

        /* Names that the runtime made. */
        {"dynamicClass", "IL_STUB_PInvoke", "int32  (unsigned int8*)",
         "dynamicClass.IL_STUB_PInvoke(unsigned int8*)", "[P/Invoke stub](byte*)",
         "[P/Invoke stub]"},
        {"dynamicClass", "IL_STUB_Unheard", "void  ()", "dynamicClass.IL_STUB_Unheard()",
         "[dynamic] IL_STUB_Unheard()", "[dynamic] IL_STUB_Unheard"},
        {"dynamicClass", "Invoke_A.set_B", "void  (int32)", "dynamicClass.Invoke_A.set_B(int32)",
         "[dynamic] Invoke_A.set_B(int)", "[dynamic] Invoke_A.set_B"},
        {"dynamicClass", "Dyn_é漢😀", "int64  (int64)", "dynamicClass.Dyn_é漢😀(int64)",
         "[dynamic] Dyn_é漢😀(long)", "[dynamic] Dyn_é漢😀"},
        {"dynamicClass", "a b", "void  ()", "dynamicClass.a b()", "[dynamic] ``a b``()",
         "[dynamic] ``a b``"},

        /* Names that look like our own notation. */
        {"int", "M", "void  (class int,class T1)", "int.M(class int,class T1)", "@int.M(@int, @T1)",
         "@int.M"},
        {"A.B", "get", "void  ()", "A.B.get()", "A.B.@get()", "B.@get"},
        {"A", "<M>g__lambda|0_0", "void  ()", "A.<M>g__lambda|0_0()", "A.M.@lambda#0_0()",
         "A.M.@lambda#0_0"},
        {"A", "operator +", "void  ()", "A.operator +()", "A.``operator +``()", "A.``operator +``"},
        {"A", "``", "void  ()", "A.``()", "A.``\\`\\```()", "A.``\\`\\```"},
        {"A", "x\n\x1b[31m\xe2\x80\xae", "void  ()", "A.x\\u{a}\\u{1b}[31m\\u{202e}()",
         "A.``x\\u{a}\\u{1b}[31m\\u{202e}``()", "A.``x\\u{a}\\u{1b}[31m\\u{202e}``"},
        {"A", "\xff\xc0\x80z", "void  ()", "A.\\x{ff}\\x{c0}\\x{80}z()",
         "A.\\x{ff}\\x{c0}\\x{80}z()", "A.\\x{ff}\\x{c0}\\x{80}z"},
};

static char *formatted(const RawName *raw, NameStyle style)
{
        size_t n = name_format(raw, style, NULL, 0);
        char *name = g_malloc(n + 1);

        ck_assert_uint_eq(name_format(raw, style, name, n + 1), n);
        ck_assert_uint_eq(strlen(name), n);
        return name;
}

START_TEST(test_row)
{
        const RawName raw = {.name_space = ROWS[_i].name_space,
                             .name = ROWS[_i].name,
                             .signature = ROWS[_i].signature};
        g_autofree char *clr = formatted(&raw, NAME_STYLE_CLR);
        g_autofree char *csharp = formatted(&raw, NAME_STYLE_CSHARP);
        g_autofree char *simple = formatted(&raw, NAME_STYLE_SHORT);

        ck_assert_str_eq(clr, ROWS[_i].clr);
        ck_assert_str_eq(csharp, ROWS[_i].csharp);
        ck_assert_str_eq(simple, ROWS[_i].simple);
}
END_TEST

START_TEST(test_thunk)
{
        static const char *const WANT[_NAME_STYLE_MAX] = {
                [NAME_STYLE_CSHARP] = "Program.Run(int) [thunk]",
                [NAME_STYLE_SHORT] = "Program.Run [thunk]",
        };
        const RawName raw = {.name_space = "Program",
                             .name = "Run",
                             .signature = "class System.Threading.Tasks.Task  (int32)",
                             .is_thunk = true};
        char text[200];
        unsigned style;

        for (style = NAME_STYLE_CSHARP; style < _NAME_STYLE_MAX; style++) {
                ck_assert_uint_eq(name_format(&raw, (NameStyle)style, text, sizeof(text)),
                                  strlen(WANT[style]));
                ck_assert_str_eq(text, WANT[style]);
        }
        name_format(&raw, NAME_STYLE_CLR, text, sizeof(text));
        ck_assert_ptr_null(strstr(text, "thunk"));
}
END_TEST

START_TEST(test_stub_target)
{
        const RawName target = {.name_space = "Interop+Sys",
                                .name = "Read",
                                .signature = "int32  (int,unsigned int8*)"};
        const RawName raw = {.name_space = "dynamicClass",
                             .name = "IL_STUB_PInvoke",
                             .signature = "int32  (int32)",
                             .stub_target = &target};
        const RawName nameless = {.name_space = "A"};
        const RawName untold = {.name_space = "dynamicClass",
                                .name = "IL_STUB_PInvoke",
                                .signature = "int32  (int32)",
                                .stub_target = &nameless};
        g_autofree char *clr = formatted(&raw, NAME_STYLE_CLR);
        g_autofree char *csharp = formatted(&raw, NAME_STYLE_CSHARP);
        g_autofree char *simple = formatted(&raw, NAME_STYLE_SHORT);
        g_autofree char *without = formatted(&untold, NAME_STYLE_CSHARP);

        ck_assert_str_eq(clr, "dynamicClass.IL_STUB_PInvoke(int32)");
        ck_assert_str_eq(csharp, "[P/Invoke stub made for Interop.Sys.Read](int)");
        ck_assert_str_eq(simple, "[P/Invoke stub made for Interop.Sys.Read]");
        ck_assert_str_eq(without, "[P/Invoke stub](int)");
}
END_TEST

/* With each size of the buffer: whole characters and escapes of the full name, and the same
 * length. */
START_TEST(test_cut)
{
        const RawName raw = {.name_space = "é", .name = "漢😀\x01", .signature = "void  (int32)"};
        static const char FULL[] = "é.漢😀\\u{1}(int32)";
        static const size_t ENDS[] = {0, 2, 3, 6, 10, 15, 16, 17, 18, 19, 20, 21, 22};
        char buffer[64];
        size_t n, i;

        for (n = 1; n <= sizeof(FULL) + 1; n++) {
                memset(buffer, 'x', sizeof(buffer));
                ck_assert_uint_eq(name_format(&raw, NAME_STYLE_CLR, buffer, n), strlen(FULL));
                for (i = G_N_ELEMENTS(ENDS) - 1; ENDS[i] > n - 1; i--)
                        continue;
                ck_assert_uint_eq(strlen(buffer), ENDS[i]);
                ck_assert_int_eq(memcmp(buffer, FULL, ENDS[i]), 0);
                ck_assert_int_eq(buffer[n], 'x');
        }
}
END_TEST

/* The printable characters are those of the C library. Unassigned code points stay as they are,
 * because a later Unicode may make them letters. */
START_TEST(test_printable)
{
        gunichar c;

        for (c = 1; c <= 0x10ffff; c++) {
                char name[8] = {0}, buffer[32];
                GUnicodeType type = g_unichar_type(c);
                RawName raw = {.name = name, .signature = "void  ()"};
                gboolean is_noncharacter = (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
                gboolean is_escaped;

                if (type == G_UNICODE_SURROGATE ||
                    (type == G_UNICODE_UNASSIGNED && !is_noncharacter))
                        continue;
                name[g_unichar_to_utf8(c, name)] = '\0';
                name_format(&raw, NAME_STYLE_CLR, buffer, sizeof(buffer));
                is_escaped = g_str_has_prefix(buffer, "\\u{");
                ck_assert_msg(is_escaped ==
                                      (type == G_UNICODE_CONTROL || type == G_UNICODE_FORMAT ||
                                       type == G_UNICODE_LINE_SEPARATOR ||
                                       type == G_UNICODE_PARAGRAPH_SEPARATOR || is_noncharacter),
                              "U+%04X: %s", c, buffer);
        }
}
END_TEST

START_TEST(test_style_text)
{
        ck_assert_str_eq(name_style_text(NAME_STYLE_CLR), "clr");
        ck_assert_str_eq(name_style_text(NAME_STYLE_CSHARP), "csharp");
        ck_assert_str_eq(name_style_text(NAME_STYLE_SHORT), "short");
        ck_assert_ptr_null(name_style_text(_NAME_STYLE_MAX));
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("names");
        TCase *tcase = tcase_create("names");

        tcase_add_loop_test(tcase, test_row, 0, G_N_ELEMENTS(ROWS));
        tcase_add_test(tcase, test_stub_target);
        tcase_add_test(tcase, test_thunk);
        tcase_add_test(tcase, test_cut);
        tcase_add_test(tcase, test_printable);
        tcase_add_test(tcase, test_style_text);
        suite_add_tcase(suite, tcase);
        return suite;
}
