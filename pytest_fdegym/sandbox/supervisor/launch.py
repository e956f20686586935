"""From fork to exec: what a confined process gives up before it becomes the command."""

from __future__ import annotations

import ctypes
import os
import resource
import sys

from .tree import threads_of_this_user

TYPE_CHECKING = False  # importing it would import typing
if TYPE_CHECKING:
    from typing import Any, NoReturn

_SIGKILL = 9
_ENOEXEC = 8
_SIGPIPE, _SIGXFSZ = 13, 25  # the interpreter ignores these, and a command would inherit that
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 22, 36, 38
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_CAPABILITY_VERSION_3 = 0x20080522
_LINUX = sys.platform == "linux"
_libc = ctypes.CDLL(None, use_errno=True)


def become_subreaper() -> None:
    """Inherit orphans among the descendants, where the system can do that."""
    if _LINUX:
        _call(_libc.prctl, _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def launch(job: dict[str, Any]) -> tuple[int, int]:
    """Fork the command; returns its process id, and the descriptor on which success or the sandbox's own failure is told."""
    told, tell = os.pipe()
    given = {name: _filled_pipe(content) for name, content in job["files"].items()}
    beside = threads_of_this_user() if job["count_beside"] else 0
    child = os.fork()
    if child == 0:
        _become(job, tell, given, beside)
    os.close(tell)
    for descriptor in given.values():
        os.close(descriptor)
    return child, told


def _filled_pipe(content: bytes) -> int:
    reader, writer = os.pipe()
    os.write(writer, content)  # all contents are far below the 64 KiB that a pipe takes
    os.close(writer)
    return reader


def _become(job: dict[str, Any], tell: int, given: dict[str, int], beside: int) -> NoReturn:
    try:
        os.setsid()
        if _LINUX:
            _be_first_to_die()
        os.umask(0o022)
        for number in (_SIGPIPE, _SIGXFSZ):
            _libc.signal(number, None)
        for limit, value in job["limits"]:
            _limit(limit, value)
        if job["processes"]:
            _limit(resource.RLIMIT_NPROC, job["processes"] + beside)
        ruleset = _landlock_ruleset(job["landlock"]) if job["landlock"] else -1
        if job["uid"] is not None:
            os.setgroups([])
            os.setresgid(job["uid"], job["uid"], job["uid"])
            os.setresuid(job["uid"], job["uid"], job["uid"])
        if _LINUX:
            _call(_libc.prctl, _PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)  # a change of user would have cleared it
        os.chdir(job["cwd"])
        if ruleset >= 0:
            _drop_capabilities()
            _call(_libc.prctl, _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            _call(_libc.syscall, _LANDLOCK_RESTRICT, ruleset, 0)
            os.close(ruleset)
        if job["seccomp"]:
            _load_filter(job["seccomp"])
        argv = [_with_descriptors(word, tell, given) for word in job["argv"]]
        if job["told_by_command"]:
            os.set_inheritable(tell, True)
        for descriptor in given.values():
            os.set_inheritable(descriptor, True)
    except BaseException as error:  # anything that got away would go on as a second supervisor
        os.write(tell, f"!{error}".encode())
        os._exit(126)
    try:
        failure = _execute(argv, job["environment"])
        if job["told_by_command"]:
            os.write(tell, f"!{argv[0]}: {failure.strerror}".encode())
        else:
            os.write(2, f"{argv[0]}: {failure.strerror}\n".encode())
        os._exit(127 if isinstance(failure, FileNotFoundError) else 126)
    finally:
        os._exit(126)


def _execute(argv: list[str], environment: dict[str, str]) -> OSError:
    """Become the program, sought as a shell would; returns only why that failed. os.execvpe would import, which is not possible
    in here any more."""
    places = [argv[0]] if "/" in argv[0] else [f"{folder}/{argv[0]}" for folder in environment["PATH"].split(":")]
    failure: OSError = FileNotFoundError(2, "not found")
    for place in places:
        try:
            try:
                os.execve(place, argv, environment)
            except OSError as error:
                if error.errno != _ENOEXEC:
                    raise
                os.execve("/bin/sh", ["sh", place, *argv[1:]], environment)
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            failure = error
        except ValueError as error:  # a NUL in an argument
            failure = OSError(22, str(error))
    return failure


def _with_descriptors(word: str, tell: int, given: dict[str, int]) -> str:
    if word == "{tell}":
        return str(tell)
    return str(given[word[4:-1]]) if word.startswith("{fd:") else word


def _be_first_to_die() -> None:
    """When memory runs out, the kernel shall take this tree and not the harness."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("800")
    except OSError:
        pass  # no /proc, or one that is read-only: the polled bound still holds


def _limit(number: int, value: int) -> None:
    hard = resource.getrlimit(number)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    try:
        resource.setrlimit(number, (value, value))
    except ValueError as error:
        raise OSError(f"resource limit {number} cannot be set to {value}: {error}") from None


def _call(function: Any, *arguments: Any) -> int:
    result = int(function(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{os.strerror(number)} (system call {arguments[0]} of the sandbox)")
    return result


def _drop_capabilities() -> None:
    """For a root that cannot become another user (a user namespace that maps only one); anybody else has none to lose."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()
    _call(_libc.capset, header, none)


def _landlock_ruleset(wanted: dict[str, Any]) -> int:
    attributes: bytes = wanted["attributes"]
    ruleset = _call(_libc.syscall, _LANDLOCK_CREATE, ctypes.c_char_p(attributes), ctypes.c_size_t(len(attributes)), 0)
    for path, access in wanted["rules"]:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        rule = int(access).to_bytes(8, sys.byteorder) + descriptor.to_bytes(4, sys.byteorder)
        _call(_libc.syscall, _LANDLOCK_ADD, ruleset, 1, ctypes.c_char_p(rule), 0)
        os.close(descriptor)
    return ruleset


def _load_filter(program: bytes) -> None:
    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]

    buffer = ctypes.create_string_buffer(program, len(program))
    _call(_libc.prctl, _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call(_libc.prctl, _PR_SET_SECCOMP, 2, ctypes.byref(Program(len(program) // 8, ctypes.addressof(buffer))), 0, 0)
