#!/bin/sh
# OpenAI's Codex CLI as the agent (npm install -g @openai/codex; tried with 0.171.0):
#
#     OPENAI_API_KEY=... pytest --fde-agent="cmd:$(cat codex.sh)"
#
# It runs in the workspace and inside the sandbox, so Codex's own sandbox and its questions are off. Its model is reached by the metering
# proxy, under the address and the key that are in its environment there; the key is no use anywhere else. The task is on standard input.
# CODEX_MODEL chooses the model (with --fde-agent-env CODEX_MODEL).
exec codex exec \
    --skip-git-repo-check --ephemeral --color never \
    --dangerously-bypass-approvals-and-sandbox \
    --model "${CODEX_MODEL:-gpt-5.1-codex}" \
    -c model_provider=metered \
    -c model_providers.metered.name=metered \
    -c model_providers.metered.base_url="$OPENAI_BASE_URL" \
    -c model_providers.metered.env_key=OPENAI_API_KEY \
    -c model_providers.metered.wire_api=responses \
    -c web_search=disabled \
    -c check_for_update_on_startup=false \
    -c analytics.enabled=false \
    -
