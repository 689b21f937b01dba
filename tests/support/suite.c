/* SPDX-License-Identifier: MIT */
#include "support/suite.h"

bool suite_has_all_rounds(void)
{
        return !SUITE_IS_SANITIZED && g_getenv("CLRSYM_TEST_FULL");
}

int main(void)
{
        SRunner *runner = srunner_create(suite_new());
        int n_failed;

        srunner_set_tap(runner, "-");
        srunner_run_all(runner, CK_SILENT);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed ? 1 : 0;
}
