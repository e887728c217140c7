"""The pages of a run, made from its tables: HTML, Markdown, pictures; and shards put together."""
