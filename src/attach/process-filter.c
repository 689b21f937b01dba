/* SPDX-License-Identifier: MIT */
#include "attach/process-filter.h"

#include "util/proc.h"

#include <pwd.h>
#include <string.h>

typedef enum RuleKind {
        RULE_USER,
        RULE_CGROUP,
        RULE_COMMAND,
        _RULE_MAX,
} RuleKind;

static const char *const KINDS[_RULE_MAX] = {
        [RULE_USER] = "user:",
        [RULE_CGROUP] = "cgroup:",
        [RULE_COMMAND] = "command:",
};

typedef struct Rule {
        RuleKind kind;
        uid_t uid;
        GPatternSpec *pattern; /* owned or NULL */
} Rule;

struct ProcessFilter {
        GArray *rules; /* owned Rules */
};

static void rule_clear(void *data)
{
        Rule *rule = data;

        g_clear_pointer(&rule->pattern, g_pattern_spec_free);
}

ProcessFilter *process_filter_new(void)
{
        ProcessFilter *filter = g_new0(ProcessFilter, 1);

        filter->rules = g_array_new(FALSE, FALSE, sizeof(Rule));
        g_array_set_clear_func(filter->rules, rule_clear);
        return filter;
}

void process_filter_free(ProcessFilter *filter)
{
        if (!filter)
                return;
        g_array_unref(filter->rules);
        g_free(filter);
}

static bool rule_take_user(Rule *rule, const char *name)
{
        const struct passwd *user = getpwnam(name);
        guint64 number;

        if (!user && !g_ascii_string_to_unsigned(name, 10, 0, G_MAXUINT32 - 1, &number, NULL))
                return false;
        rule->uid = user ? user->pw_uid : (uid_t)number;
        return true;
}

const char *process_filter_add(ProcessFilter *filter, const char *text)
{
        Rule rule = {.kind = RULE_USER};
        const char *pattern;

        while (rule.kind < _RULE_MAX && !g_str_has_prefix(text, KINDS[rule.kind]))
                rule.kind++;
        if (rule.kind == _RULE_MAX)
                return "not user:NAME, cgroup:GLOB or command:GLOB";
        pattern = text + strlen(KINDS[rule.kind]);
        if (!*pattern)
                return "it has no pattern";
        if (rule.kind != RULE_USER)
                rule.pattern = g_pattern_spec_new(pattern);
        else if (!rule_take_user(&rule, pattern))
                return "there is no such user";
        g_array_append_val(filter->rules, rule);
        return NULL;
}

/* The text to match with rules of KIND: lines; the caller frees it. */
static char *process_text(pid_t pid, RuleKind kind)
{
        size_t n = 0, i;
        char *text = proc_read_file(pid, kind == RULE_CGROUP ? "cgroup" : "cmdline",
                                    PROC_MAX_COMMAND, &n);

        for (i = 0; text && kind == RULE_COMMAND && i + 1 < n; i++)
                if (!text[i] || text[i] == '\n')
                        text[i] = ' ';
        return text;
}

/* A line of a cgroup file is NUMBER:CONTROLLERS:PATH. */
static const char *cgroup_path(const char *line)
{
        const char *colon = strchr(line, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;

        return second ? second + 1 : line;
}

static bool rule_matches(const Rule *rule, pid_t pid, uid_t uid)
{
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;
        char **line;

        if (rule->kind == RULE_USER)
                return uid == rule->uid;
        text = process_text(pid, rule->kind);
        lines = g_strsplit(text ? text : "", "\n", -1);
        for (line = lines; *line; line++)
                if (g_pattern_spec_match_string(
                            rule->pattern, rule->kind == RULE_CGROUP ? cgroup_path(*line) : *line))
                        return true;
        return false;
}

bool process_filter_excludes(const ProcessFilter *filter, pid_t pid, uid_t uid)
{
        guint i;

        for (i = 0; i < filter->rules->len; i++)
                if (rule_matches(&g_array_index(filter->rules, Rule, i), pid, uid))
                        return true;
        return false;
}
