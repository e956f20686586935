#!/bin/sh
# An agent in POSIX shell: it asks the sponsor one question and leaves the answer with the system.
#
#     pytest --fde-agent="cmd:$(cat shell_agent.sh)"
#
# It runs in the workspace, inside the sandbox; the task is in TASK.md and on standard input, people are reached by the programs in bin/.
# What stands in system/ at the end goes into production, so the note goes there. No code is changed, and the score stays at 0 or just below.
set -eu

sponsor=$(bin/ask --who | awk 'tolower($0) ~ /sponsor/ { print $1; exit }')
[ -n "$sponsor" ] || { echo "nobody here is called a sponsor; nothing was changed"; exit 0; }

answer=$(bin/ask "$sponsor" "What do you want to get out of this work, and how will you measure it?")

[ -d system ] || { echo "no system/ here; nothing was changed"; exit 0; }
{
    echo "# What $sponsor wants from this system"
    echo
    echo "$answer"
} > system/GOAL.md
