"""A pytest plugin that turns deliveries to scripted customers into graded test runs."""
