"""The company's LLM gateway: an OpenAI-compatible endpoint on a unix socket, at work, in trial runs and in production."""
