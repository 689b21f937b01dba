/* SPDX-License-Identifier: MIT */

/*
 * A process that works without a pause, in the place of perf: once a thread that existed at the
 * begin has ended, the pace stops the process from time to time
 */

#include "record/pace.h"
#include "support/suite.h"
#include "util/proc-stat.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

/* Sizes of samples: with FEW bytes, the longest pause is possible; with many, no pause. */
#define FEW  1000
#define MANY G_GUINT64_CONSTANT(1000000000)

typedef struct Scene {
        Pace *pace; /* owned */
        GThread *thread;
        GMutex mutex; /* held to block the thread */
        pid_t perf;
} Scene;

static void *scene_wait(void *data)
{
        Scene *scene = data;

        g_mutex_lock(&scene->mutex);
        g_mutex_unlock(&scene->mutex);
        return NULL;
}

static void scene_begin(Scene *scene, guint64 bytes)
{
        const pid_t self = getpid();

        g_mutex_init(&scene->mutex);
        g_mutex_lock(&scene->mutex);
        scene->thread = g_thread_new("short", scene_wait, scene);
        scene->perf = fork();
        if (!scene->perf)
                for (;;)
                        ;
        scene->pace = pace_new(bytes);
        pace_note_threads(scene->pace, &self, 1);
}

static void scene_end_thread(Scene *scene)
{
        g_mutex_unlock(&scene->mutex);
        g_thread_join(scene->thread);
        g_mutex_clear(&scene->mutex);
}

static void scene_end(Scene *scene)
{
        pace_free(scene->pace);
        kill(scene->perf, SIGKILL);
        waitpid(scene->perf, NULL, 0);
}

/* Returns whether the process gets into the wanted state before the given seconds of the given
 * clock have passed. */
static bool scene_becomes(Scene *scene, bool is_stopped, gint64 *now, unsigned seconds)
{
        const gint64 end = *now + seconds * G_TIME_SPAN_SECOND;
        ProcStat stat;

        while (*now < end) {
                const unsigned ms = pace_step(scene->pace, scene->perf, *now);

                ck_assert_uint_gt(ms, 0);
                g_usleep(1000);
                if (proc_stat_read(scene->perf, &stat) && (stat.state == 'T') == is_stopped)
                        return true;
                *now += ms * G_TIME_SPAN_MILLISECOND;
        }
        return false;
}

START_TEST(test_a_thread_ends)
{
        Scene scene;
        gint64 now = 1;

        scene_begin(&scene, FEW);
        ck_assert(!scene_becomes(&scene, true, &now, 10));
        scene_end_thread(&scene);
        ck_assert(scene_becomes(&scene, true, &now, 10));
        ck_assert(scene_becomes(&scene, false, &now, 10));
        ck_assert(scene_becomes(&scene, true, &now, 10));
        scene_end(&scene);
}
END_TEST

START_TEST(test_no_room_to_wait)
{
        Scene scene;
        gint64 now = 1;

        scene_begin(&scene, MANY);
        scene_end_thread(&scene);
        ck_assert(!scene_becomes(&scene, true, &now, 10));
        scene_end(&scene);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("pace");
        TCase *tcase = tcase_create("pace");

        tcase_add_test(tcase, test_a_thread_ends);
        tcase_add_test(tcase, test_no_room_to_wait);
        suite_add_tcase(suite, tcase);
        return suite;
}
