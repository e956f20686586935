"""A program of its own that runs one confined command as its parent, started by ``process.py`` with ``python -I -S``.

For three reasons: the harness has threads, in which nothing may run between fork and exec; a *subreaper* inherits the daemons
that its descendants leave behind and can end them, which the harness as a library must not become; and the kernel's
parent-death signal follows a thread, so only a process with a single thread can rely on it.

Only modules that are quick to import are used here (``json`` and ``signal`` cost more than all the rest), and imports are
relative, for it runs without the package around it.
"""
