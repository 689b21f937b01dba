/* SPDX-License-Identifier: MIT */

/*
 * Supplies the functions of glibc that GCC's static C++ library needs, to make a shared one for
 * musl: .NET needs libstdc++ and libgcc_s, which Debian builds for glibc only
 */

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

/* A loaded object of the process, with the layout of glibc's <dlfcn.h>. */
struct dl_find_object {
        unsigned long long flags;
        void *begin, *end;
        struct link_map *map;
        void *eh_frame; /* .eh_frame_hdr */
        unsigned long long reserved[7];
};

/* A destructor of a thread-local variable. */
struct Destructor {
        void (*run)(void *);
        void *object;
        struct Destructor *next;
};

/* false: there may be threads. */
char __libc_single_threaded;

static pthread_key_t destructors;
static pthread_once_t has_destructors = PTHREAD_ONCE_INIT;

static int find_object(struct dl_phdr_info *info, size_t size, void *data)
{
        struct dl_find_object *result = data;
        const uintptr_t address = (uintptr_t)result->begin;
        uintptr_t begin = UINTPTR_MAX, end = 0;
        void *header = NULL;
        int i;

        for (i = 0; i < info->dlpi_phnum; i++) {
                const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
                const uintptr_t at = info->dlpi_addr + segment->p_vaddr;

                if (segment->p_type == PT_GNU_EH_FRAME)
                        header = (void *)at;
                if (segment->p_type != PT_LOAD)
                        continue;
                begin = at < begin ? at : begin;
                end = at + segment->p_memsz > end ? at + segment->p_memsz : end;
        }
        if (address < begin || address >= end || !header)
                return 0;
        *result = (struct dl_find_object){
                .begin = (void *)begin, .end = (void *)end, .eh_frame = header};
        return 1;
}

int _dl_find_object(void *pc, struct dl_find_object *ret)
{
        struct dl_find_object result = {.begin = pc};

        if (!dl_iterate_phdr(find_object, &result))
                return -1;
        *ret = result;
        return 0;
}

static void destructors_run(void *data)
{
        struct Destructor *first = data;

        while (first) {
                struct Destructor *next = first->next;

                first->run(first->object);
                free(first);
                first = next;
        }
}

static void destructors_make(void)
{
        pthread_key_create(&destructors, destructors_run);
}

int __cxa_thread_atexit_impl(void (*run)(void *), void *object, void *library)
{
        struct Destructor *destructor = malloc(sizeof(*destructor));

        (void)library;
        if (!destructor)
                return -1;
        pthread_once(&has_destructors, destructors_make);
        *destructor = (struct Destructor){run, object, pthread_getspecific(destructors)};
        return pthread_setspecific(destructors, destructor);
}

uint32_t arc4random(void)
{
        uint32_t value = 0;

        if (getrandom(&value, sizeof(value), 0) != sizeof(value))
                abort();
        return value;
}

size_t __strftime_l(char *buffer, size_t size, const char *format, const struct tm *tm,
                    locale_t locale)
{
        return strftime_l(buffer, size, format, tm, locale);
}

/* The symbol is hidden in GCC's static library. */
__asm__(".globl _Unwind_Resume\n"
        ".type _Unwind_Resume, @function\n"
        "_Unwind_Resume: jmp hidden_resume\n"
        ".size _Unwind_Resume, . - _Unwind_Resume\n");
