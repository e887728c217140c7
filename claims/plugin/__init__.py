"""The pytest plugin: options, the fixtures of a check, and the recording of a run."""
