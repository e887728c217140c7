"""The subcommands of `lesson-claims`, a module each: `add_parser` describes it, `run` returns its exit status."""
