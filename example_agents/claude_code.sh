#!/bin/sh
# Claude Code as the agent (npm install -g @anthropic-ai/claude-code; tried with 2.1.197):
#
#     ANTHROPIC_API_KEY=... pytest --fde-agent="cmd:$(cat claude_code.sh)"
#
# It runs in the workspace and inside the sandbox, so its questions are off. Its model is reached by the metering proxy, under the address
# and the key that are in its environment there; the key is no use anywhere else. The task is on standard input. CLAUDE_MODEL chooses the
# model (with --fde-agent-env CLAUDE_MODEL).
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 IS_SANDBOX=1
exec claude --print --dangerously-skip-permissions --model "${CLAUDE_MODEL:-claude-sonnet-4-5}"
