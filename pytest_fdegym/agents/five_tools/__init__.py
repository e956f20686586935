"""The built-in agent ``five-tools``: a model, five tools, and the paper's protocol. Imports nothing of its extra ``llm`` by itself."""
