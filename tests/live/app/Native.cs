// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;

namespace Live;

public static unsafe class Native
{
    /// <summary>
    /// From an entry point to the code that it ends in. An entry point may be a stub of the runtime
    /// which jumps through a cell; the cell holds the newest code of the method.
    /// </summary>
    public static nuint FollowStubs(IntPtr entry)
    {
        if (RuntimeInformation.ProcessArchitecture != Architecture.X64)
            throw new NotSupportedException("stubs of this architecture are not known here");
        byte* at = (byte*)entry;
        for (int hops = 0; hops < 8; hops++)
        {
            if (at[0] == 0x4c && at[1] == 0x8b && at[2] == 0x15)    // mov r10, [rip + disp32]
                at += 7;
            // The stub that counts calls: mov rax, [rip + disp32]; dec word [rax]; je disp8
            if (at[0] == 0x48 && at[1] == 0x8b && at[2] == 0x05 && at[7] == 0x66 && at[8] == 0xff &&
                at[9] == 0x08 && at[10] == 0x74)
                at += 12;
            if (at[0] == 0xff && at[1] == 0x25)                     // jmp [rip + disp32]
                at = *(byte**)(at + 6 + *(int*)(at + 2));
            else if (at[0] == 0xe9)                                 // jmp rel32
                at += 5 + *(int*)(at + 1);
            else
                break;
        }
        return (nuint)at;
    }
}
