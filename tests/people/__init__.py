"""The customer's people: calendar, gates, ledger and conversation."""
