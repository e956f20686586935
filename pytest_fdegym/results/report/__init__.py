"""Reports on runs: one page to look at, and the same figures for pull requests, spreadsheets, programs and CI servers."""
