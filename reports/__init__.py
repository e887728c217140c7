"""What was measured: tidy tables in; HTML, Markdown, history and drift out."""
