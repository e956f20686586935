"""What an author wrote: loaded, checked, filled in."""
