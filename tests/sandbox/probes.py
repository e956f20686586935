"""Runs inside a sandbox and tries to get out: one JSON object on standard output says what came of each attempt.

A probe returns True, or a text that says what it got, if it got through, and False or an exception if it was stopped. A control
is something that must work: it returns True, or an exception says what is broken. Standard library only, like everything that
runs in there.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import mmap
import os
import platform
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

Outcome = bool | str
PROBES: dict[str, Callable[[dict[str, Any]], Outcome]] = {}
CONTROLS: dict[str, Callable[[dict[str, Any]], Outcome]] = {}
_libc = ctypes.CDLL(None, use_errno=True)
_X86 = platform.machine() == "x86_64"
_NEW_USER, _NEW_MOUNT, _NEW_NET = 0x10000000, 0x00020000, 0x40000000


def probe(attempt: Callable[[dict[str, Any]], Outcome]) -> Callable[[dict[str, Any]], Outcome]:
    PROBES[attempt.__name__] = attempt
    return attempt


def control(attempt: Callable[[dict[str, Any]], Outcome]) -> Callable[[dict[str, Any]], Outcome]:
    CONTROLS[attempt.__name__] = attempt
    return attempt


def _call(x86: int, arm: int, *arguments: Any) -> int:
    """A raw system call; raises OSError like the functions of os do."""
    result = int(_libc.syscall(ctypes.c_long(x86 if _X86 else arm), *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _in_child(attempt: Callable[[], Any]) -> bool:
    """Whether `attempt` succeeds in a process of its own, which it may spoil."""
    child = os.fork()
    if child == 0:
        try:
            attempt()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _trace(process: int) -> bool:
    if _libc.ptrace(16, process, 0, 0) != 0:
        return False
    os.waitpid(process, 0x40000000)  # it stopped, and must go on
    return bool(_libc.ptrace(17, process, 0, 0) == 0)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _processes() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdigit()]


# --- files ------------------------------------------------------------------------------------------------------------


@probe
def read_truth(given: dict[str, Any]) -> Outcome:
    return Path(given["truth"]).read_text()


@probe
def list_truth_folder(given: dict[str, Any]) -> Outcome:
    return bool(os.listdir(Path(given["truth"]).parent))


@probe
def stat_truth(given: dict[str, Any]) -> Outcome:
    return bool(os.stat(given["truth"]))


@probe
def write_truth(given: dict[str, Any]) -> Outcome:
    with open(given["truth"], "a") as file:
        return bool(file.write("x"))


@probe
def truncate_truth(given: dict[str, Any]) -> Outcome:
    os.truncate(given["truth"], 6)
    return True


@probe
def create_beside_truth(given: dict[str, Any]) -> Outcome:
    return bool(Path(given["truth"]).with_name("created").write_text("x"))


@probe
def unlink_sacrifice(given: dict[str, Any]) -> Outcome:
    os.unlink(given["sacrifice"])
    return True


@probe
def rename_sacrifice_into_workdir(given: dict[str, Any]) -> Outcome:
    os.rename(given["sacrifice"], "taken")
    return True


@probe
def hardlink_truth_into_workdir(given: dict[str, Any]) -> Outcome:
    os.link(given["truth"], "linked")
    return True


@probe
def read_truth_through_symlink(given: dict[str, Any]) -> Outcome:
    os.symlink(given["truth"], "symlinked")
    return Path("symlinked").read_text()


@probe
def read_truth_by_dotdot(given: dict[str, Any]) -> Outcome:
    return Path("../" * 30 + given["truth"]).read_text()


@probe
def open_truth_folder_as_path(given: dict[str, Any]) -> Outcome:
    folder = os.open(Path(given["truth"]).parent, os.O_PATH | os.O_DIRECTORY)
    return os.read(os.open(Path(given["truth"]).name, os.O_RDONLY, dir_fd=folder), 100).decode()


@probe
def execute_truth(given: dict[str, Any]) -> Outcome:
    return subprocess.run([given["truth_program"]], capture_output=True, text=True, check=True).stdout


@probe
def map_truth(given: dict[str, Any]) -> Outcome:
    with open(given["truth"], "rb") as file:
        return mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)[:].decode()


@probe
def chmod_truth(given: dict[str, Any]) -> Outcome:
    os.chmod(given["truth"], 0o666)
    return True


@probe
def utime_truth(given: dict[str, Any]) -> Outcome:
    os.utime(given["truth"], (1, 1))
    return True


@probe
def setxattr_truth(given: dict[str, Any]) -> Outcome:
    os.setxattr(given["truth"], "user.probe", b"1")
    return True


@probe
def chown_truth(given: dict[str, Any]) -> Outcome:
    os.chown(given["truth"], 0, 0)
    return True


@probe
def watch_truth_folder(given: dict[str, Any]) -> Outcome:
    descriptor = _libc.inotify_init1(0)
    return descriptor >= 0 and bool(_libc.inotify_add_watch(descriptor, str(Path(given["truth"]).parent).encode(), 0x100) >= 0)


@probe
def open_by_handle(given: dict[str, Any]) -> Outcome:
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    _call(303, 264, -100, given["workdir"].encode(), handle, ctypes.byref(ctypes.c_int()), 0)
    _call(304, 265, os.open(given["workdir"], os.O_RDONLY), handle, os.O_RDONLY)
    return True


@probe
def write_readable_folder(given: dict[str, Any]) -> Outcome:
    return bool(Path(given["readable"], "created").write_text("x"))


@probe
def write_usr(given: dict[str, Any]) -> Outcome:
    return bool(Path("/usr/fdegym-probe").write_text("x"))


@probe
def write_root_folder(given: dict[str, Any]) -> Outcome:
    return bool(Path("/fdegym-probe").write_text("x"))


@probe
def write_var_tmp(given: dict[str, Any]) -> Outcome:
    return bool(Path("/var/tmp/fdegym-probe").write_text("x"))


@probe
def write_interpreter(given: dict[str, Any]) -> Outcome:
    return bool(Path(os.__file__).with_name("fdegym_probe.py").write_text("x"))


@probe
def write_other_tmp(given: dict[str, Any]) -> Outcome:
    """Writing to a private /tmp is fine; the harness looks for the file in the real one."""
    return bool(Path(given["tmp_marker"]).write_text("x")) and "?"


@probe
def read_home_of_harness(given: dict[str, Any]) -> Outcome:
    return bool(os.listdir(given["home"]))


@probe
def read_ssh_key(given: dict[str, Any]) -> Outcome:
    return Path(given["home"], ".ssh", "id_ed25519").read_text()


@probe
def read_login_of_home(given: dict[str, Any]) -> Outcome:
    return Path(given["home"], ".netrc").read_text()


@probe
def list_home_of_harness_without_its_project(given: dict[str, Any]) -> Outcome:
    return bool(set(os.listdir(given["home"])) - {"project"})


@probe
def write_project(given: dict[str, Any]) -> Outcome:
    return bool(Path(given["project"], "created").write_text("x"))


@probe
def write_home_of_harness(given: dict[str, Any]) -> Outcome:
    return bool(Path(given["home"], "created").write_text("x"))


@probe
def connect_service_of_project(given: dict[str, Any]) -> Outcome:
    with socket.socket(socket.AF_UNIX) as unix:
        unix.settimeout(2)
        unix.connect(os.path.join(given["project"], "service"))
    return True


@probe
def read_running_services(given: dict[str, Any]) -> Outcome:
    return bool(set(os.listdir("/run")) - {"python", "user"})


@probe
def open_raw_netlink(given: dict[str, Any]) -> Outcome:
    """Everything of netlink but the list of interfaces: here, the firewall's."""
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12).close()
    return True


@probe
def read_system_accounts(given: dict[str, Any]) -> Outcome:
    lines = Path("/etc/passwd").read_text().splitlines()
    return any(not line.startswith("customer:") for line in lines)


@probe
def read_shadow(given: dict[str, Any]) -> Outcome:
    return bool(Path("/etc/shadow").read_bytes())


@probe
def read_other_settings(given: dict[str, Any]) -> Outcome:
    return bool(Path("/etc/ssl").exists() and os.listdir("/etc/ssl")) or bool(Path("/etc/fstab").read_text() or True)


@probe
def read_var_log(given: dict[str, Any]) -> Outcome:
    return bool(os.listdir("/var/log")) or True


@probe
def read_sys(given: dict[str, Any]) -> Outcome:
    return bool(os.listdir("/sys/class"))


@probe
def read_harness_package(given: dict[str, Any]) -> Outcome:
    return bool(Path(given["package"], "__init__.py").read_text())


@probe
def import_harness_package(given: dict[str, Any]) -> Outcome:
    sys.path.append(str(Path(given["package"]).parent))
    try:
        import pytest_fdegym.errors  # noqa: PLC0415 - the attempt
    finally:
        sys.path.pop()
    return bool(pytest_fdegym.errors)


@probe
def read_installed_packages(given: dict[str, Any]) -> Outcome:
    found = [str(path) for folder in given["packages"] for path in Path(folder).rglob("*.py") if path.read_bytes() or True]
    return bool(found)


# --- other processes --------------------------------------------------------------------------------------------------


@probe
def see_harness(given: dict[str, Any]) -> Outcome:
    return any(given["marker"].encode() in Path("/proc", process, "cmdline").read_bytes() for process in _processes())


@probe
def read_harness_environment(given: dict[str, Any]) -> Outcome:
    return b"FDEGYM_SECRET" in Path("/proc", str(given["harness"]), "environ").read_bytes()


@probe
def read_harness_memory_map(given: dict[str, Any]) -> Outcome:
    return "stack" in Path("/proc", str(given["harness"]), "maps").read_text()


@probe
def read_truth_through_root_of_harness(given: dict[str, Any]) -> Outcome:
    return Path(f"/proc/{given['harness']}/root{given['truth']}").read_text()


@probe
def reopen_files_of_others(given: dict[str, Any]) -> Outcome:
    for process in _processes():
        try:
            links = [(link, os.readlink(link)) for link in Path("/proc", process, "fd").iterdir()]
        except OSError:
            continue
        for link, target in links:
            if target == given["truth"]:
                return link.read_text()
    return False


@probe
def see_supervisor(given: dict[str, Any]) -> Outcome:
    return any(b"supervisor.main" in Path("/proc", process, "cmdline").read_bytes() for process in _processes())


@probe
def trace_harness(given: dict[str, Any]) -> Outcome:
    return _trace(given["harness"])


@probe
def trace_parent(given: dict[str, Any]) -> Outcome:
    return _trace(os.getppid())


@probe
def read_memory_of_harness(given: dict[str, Any]) -> Outcome:
    buffer = ctypes.create_string_buffer(8)
    local = struct.pack("PN", ctypes.addressof(buffer), 8)
    _call(310, 270, given["harness"], local, 1, struct.pack("PN", 0x400000, 8), 1, 0)
    return True


@probe
def signal_harness(given: dict[str, Any]) -> Outcome:
    os.kill(given["harness"], 0)
    return True


@probe
def signal_marker_process(given: dict[str, Any]) -> Outcome:
    os.kill(given["marker_process"], signal.SIGTERM)
    return True


@probe
def signal_through_pidfd(given: dict[str, Any]) -> Outcome:
    signal.pidfd_send_signal(os.pidfd_open(given["harness"]), 0)
    return True


@probe
def take_descriptor_of_harness(given: dict[str, Any]) -> Outcome:
    return _call(438, 438, os.pidfd_open(given["harness"]), 0, 0) >= 0


@probe
def limit_harness(given: dict[str, Any]) -> Outcome:
    return bool(resource.prlimit(given["harness"], resource.RLIMIT_NOFILE, (64, 64)))


@probe
def slow_harness_down(given: dict[str, Any]) -> Outcome:
    os.setpriority(os.PRIO_PROCESS, given["harness"], 5)
    return True


@probe
def bind_harness_to_one_processor(given: dict[str, Any]) -> Outcome:
    os.sched_setaffinity(given["harness"], os.sched_getaffinity(0))
    return True


@probe
def type_into_terminal(given: dict[str, Any]) -> Outcome:
    leader, follower = os.openpty()
    try:
        fcntl.ioctl(follower, termios.TIOCSTI, b"x")
    finally:
        os.close(leader)
    return True


@probe
def has_terminal(given: dict[str, Any]) -> Outcome:
    return os.open("/dev/tty", os.O_RDWR) >= 0


# --- network ----------------------------------------------------------------------------------------------------------


@probe
def connect_tcp(given: dict[str, Any]) -> Outcome:
    socket.create_connection(("127.0.0.1", given["tcp_port"]), timeout=2).close()
    return True


@probe
def connect_tcp6(given: dict[str, Any]) -> Outcome:
    socket.socket(socket.AF_INET6).close()
    return True


@probe
def send_udp(given: dict[str, Any]) -> Outcome:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        return udp.sendto(b"x", ("127.0.0.1", given["udp_port"])) == 1


@probe
def listen_tcp(given: dict[str, Any]) -> Outcome:
    socket.create_server(("127.0.0.1", 0)).close()
    return True


@probe
def resolve_name(given: dict[str, Any]) -> Outcome:
    return bool(socket.getaddrinfo("example.com", 443))


@probe
def open_netlink(given: dict[str, Any]) -> Outcome:
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close()
    return True


@probe
def open_packet_socket(given: dict[str, Any]) -> Outcome:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()
    return True


@probe
def open_kernel_crypto_socket(given: dict[str, Any]) -> Outcome:
    socket.socket(38, socket.SOCK_SEQPACKET).close()
    return True


@probe
def open_vsock(given: dict[str, Any]) -> Outcome:
    socket.socket(40, socket.SOCK_STREAM).close()
    return True


@probe
def connect_abstract_socket(given: dict[str, Any]) -> Outcome:
    with socket.socket(socket.AF_UNIX) as unix:
        unix.settimeout(2)
        unix.connect("\0" + given["abstract"])
    return True


@probe
def connect_other_path_socket(given: dict[str, Any]) -> Outcome:
    with socket.socket(socket.AF_UNIX) as unix:
        unix.settimeout(2)
        unix.connect(given["other_socket"])
    return True


@probe
def replace_allowed_socket(given: dict[str, Any]) -> Outcome:
    os.unlink(given["socket"])
    return True


# --- the kernel -------------------------------------------------------------------------------------------------------


@probe
def new_user_namespace(given: dict[str, Any]) -> Outcome:
    return _in_child(lambda: _call(272, 97, _NEW_USER))


@probe
def new_user_and_mount_namespace(given: dict[str, Any]) -> Outcome:
    return _in_child(lambda: _call(272, 97, _NEW_USER | _NEW_MOUNT))


@probe
def clone_into_user_namespace(given: dict[str, Any]) -> Outcome:
    def attempt() -> None:
        child = _call(56, 220, ctypes.c_ulong(_NEW_USER | signal.SIGCHLD), 0, 0, 0, 0)
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)

    return _in_child(attempt)


@probe
def clone3_into_namespace(given: dict[str, Any]) -> Outcome:
    def attempt() -> None:
        arguments = struct.pack("8Q", _NEW_USER | _NEW_NET, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
        if _call(435, 435, arguments, ctypes.c_size_t(len(arguments))) == 0:
            os._exit(0)

    return _in_child(attempt)


@probe
def enter_namespace_of_parent(given: dict[str, Any]) -> Outcome:
    return _in_child(lambda: _call(308, 268, os.pidfd_open(os.getppid()), _NEW_MOUNT))


@probe
def mount_tmpfs(given: dict[str, Any]) -> Outcome:
    Path("mountpoint").mkdir(exist_ok=True)
    return _in_child(lambda: _call(165, 40, b"none", b"mountpoint", b"tmpfs", 0, None))


@probe
def mount_by_new_interface(given: dict[str, Any]) -> Outcome:
    return _call(430, 430, b"tmpfs", 0) >= 0


@probe
def change_root(given: dict[str, Any]) -> Outcome:
    return _in_child(lambda: os.chroot("."))


@probe
def become_root(given: dict[str, Any]) -> Outcome:
    return os.getuid() == 0 or _in_child(lambda: os.setuid(0))


@probe
def keep_group(given: dict[str, Any]) -> Outcome:
    return os.getgid() == 0 or 0 in os.getgroups()


@probe
def hold_capabilities(given: dict[str, Any]) -> Outcome:
    data = (ctypes.c_uint32 * 6)()
    if _libc.capget((ctypes.c_uint32 * 2)(0x20080522, 0), data) != 0:
        return False
    return any(data)


@probe
def gain_rights_by_setuid_program(given: dict[str, Any]) -> Outcome:
    return int(_libc.prctl(39, 0, 0, 0, 0)) != 1


@probe
def load_bpf(given: dict[str, Any]) -> Outcome:
    try:
        _call(321, 280, 0, 0, 0)
    except OSError as error:
        return error.errno not in (errno.EPERM, errno.ENOSYS)
    return True


@probe
def use_io_uring(given: dict[str, Any]) -> Outcome:
    return _call(425, 425, 1, ctypes.create_string_buffer(200)) >= 0


@probe
def open_performance_counter(given: dict[str, Any]) -> Outcome:
    return _call(298, 241, struct.pack("IIQ", 1, 128, 0) + bytes(112), 0, -1, -1, 0) >= 0


@probe
def handle_page_faults(given: dict[str, Any]) -> Outcome:
    return _call(323, 282, 1) >= 0


@probe
def use_keyring(given: dict[str, Any]) -> Outcome:
    return _call(250, 219, 0, ctypes.c_int(-3), 0) != 0


@probe
def share_memory_by_key(given: dict[str, Any]) -> Outcome:
    return _call(29, 194, given["shared_memory_key"], 4096, 0) >= 0


@probe
def make_device(given: dict[str, Any]) -> Outcome:
    os.mknod("device", stat.S_IFBLK | 0o666, os.makedev(8, 0))
    return True


@probe
def open_disk_or_memory(given: dict[str, Any]) -> Outcome:
    for name in ("mem", "kmem", "sda", "vda", "nvme0n1", "kmsg", "fuse", "kvm"):
        try:
            return os.open(f"/dev/{name}", os.O_RDONLY) >= 0
        except OSError:
            continue
    return False


@probe
def write_kernel_settings(given: dict[str, Any]) -> Outcome:
    return bool(Path("/proc/sys/kernel/hostname").write_text("probe"))


# --- what is inherited ------------------------------------------------------------------------------------------------


@probe
def inherit_environment(given: dict[str, Any]) -> Outcome:
    return any("FDEGYM" in name or "PYTEST" in name for name in os.environ)


@probe
def inherit_descriptors(given: dict[str, Any]) -> Outcome:
    return bool(given["open_at_start"]) and f"open at the start: {given['open_at_start']}"


# --- resources --------------------------------------------------------------------------------------------------------


@probe
def take_much_memory(given: dict[str, Any]) -> Outcome:
    return _in_child(lambda: bytearray(b"x") * (2 * given["memory_bytes"]))


@probe
def hide_memory_in_files(given: dict[str, Any]) -> Outcome:
    return os.memfd_create("probe") >= 0


@probe
def fork_without_end(given: dict[str, Any]) -> Outcome:
    started: list[int] = []
    try:
        while len(started) <= given["processes"]:
            child = os.fork()
            if child == 0:
                signal.pause()
            started.append(child)
    except OSError:
        pass
    for child in started:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return bool(len(started) > given["processes"])


@probe
def write_big_file(given: dict[str, Any]) -> Outcome:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open("big", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, given["file_bytes"] + 1)
    return True


@probe
def fill_shared_memory(given: dict[str, Any]) -> Outcome:
    written, chunk = 0, bytes(4 << 20)
    try:
        for number in range(40):
            written += Path("/dev/shm", str(number)).write_bytes(chunk)
    except OSError:
        pass
    return written > 64 << 20


@probe
def open_many_files(given: dict[str, Any]) -> Outcome:
    held = []
    try:
        for _ in range(given["open_files"] + 1):
            held.append(open(os.devnull))  # noqa: SIM115 - to have many at once
    finally:
        count = len(held)
        for file in held:
            file.close()
    return bool(count > given["open_files"])


@probe
def raise_own_limits(given: dict[str, Any]) -> Outcome:
    resource.setrlimit(resource.RLIMIT_NPROC, (given["processes"] * 2 + 10_000,) * 2)
    return True


@probe
def dump_core(given: dict[str, Any]) -> Outcome:
    return resource.getrlimit(resource.RLIMIT_CORE)[1] != 0


@probe
def stay_as_daemon(given: dict[str, Any]) -> Outcome:
    """Whether it stayed is for the harness to find out."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in range(3):
                os.dup2(nothing, number)
            os.execvp("sleep", ["sleep", given["daemon_marker"]])
        os._exit(0)
    os.wait()
    return "?"


# --- what must work ---------------------------------------------------------------------------------------------------


@control
def write_in_workdir(given: dict[str, Any]) -> Outcome:
    Path("folder").mkdir()
    Path("folder/file").write_text("written")
    Path("folder/file").rename("moved")
    Path("moved").chmod(0o755)
    return Path(given["workdir"], "moved").read_text() == "written"


@control
def read_readable_folder(given: dict[str, Any]) -> Outcome:
    return Path(given["readable"], "note").read_text() == "readable"


@control
def talk_over_allowed_socket(given: dict[str, Any]) -> Outcome:
    with socket.socket(socket.AF_UNIX) as unix:
        unix.settimeout(10)
        unix.connect(given["socket"])
        unix.sendall(b"ping\n")
        return unix.recv(100) == b"pong\n"


@control
def write_temporary_file(given: dict[str, Any]) -> Outcome:
    with tempfile.NamedTemporaryFile("w+") as file:
        file.write("x")
        return file.name.startswith(os.environ["TMPDIR"])


@control
def start_python(given: dict[str, Any]) -> Outcome:
    done = subprocess.run(
        ["python3", "-c", "import json, sqlite3; print(sqlite3.connect(':memory:').execute('select 41+1').fetchone()[0])"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout == "42\n" or done.stderr


@control
def same_python_as_harness(given: dict[str, Any]) -> Outcome:
    return bool(platform.python_version() == given["python"])


@control
def use_shell_and_tools(given: dict[str, Any]) -> Outcome:
    script = "printf 'b\\na\\n' | sort > sorted && grep -c a sorted && ls -l sorted >/dev/null && sed s/a/c/ sorted | head -n 1"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    return done.stdout == "1\nc\n" or done.stdout + done.stderr


@control
def use_threads_and_events(given: dict[str, Any]) -> Outcome:
    import asyncio  # noqa: PLC0415 - not before the probes ran

    seen: list[int] = []
    thread = threading.Thread(target=seen.append, args=(1,))
    thread.start()
    thread.join()

    async def child() -> int:
        process = await asyncio.create_subprocess_exec("true")
        return await process.wait()

    return seen == [1] and asyncio.run(child()) == 0


@control
def use_database_file(given: dict[str, Any]) -> Outcome:
    import sqlite3  # noqa: PLC0415 - not before the probes ran

    with sqlite3.connect("orders.db") as database:
        database.execute("pragma journal_mode=wal")
        database.execute("create table t (x)")
        database.execute("insert into t values (7)")
    return bool(database.execute("select x from t").fetchone() == (7,))


@control
def end_own_child(given: dict[str, Any]) -> Outcome:
    child = subprocess.Popen(["sleep", "60"])
    child.terminate()
    return child.wait() == -signal.SIGTERM


@control
def packages_are_not_found(given: dict[str, Any]) -> Outcome:
    """Not found, rather than found and unreadable: code that tries an import must be able to fall back."""
    for name in ("pydantic", "pytest_fdegym", "yaml", "pip"):
        done = subprocess.run(["python3", "-c", f"import {name}"], capture_output=True, text=True, check=False)
        if f"ModuleNotFoundError: No module named '{name}'" not in done.stderr:
            return f"{name}: {done.returncode} {done.stderr}"
    return True


def main() -> None:
    open_at_start = [number for number in range(3, 256) if _is_open(number)]
    given = {**json.load(sys.stdin), "open_at_start": open_at_start}
    found: dict[str, dict[str, str | bool]] = {}
    for name, attempt in {**PROBES, **CONTROLS}.items():
        try:
            outcome = attempt(given)
            found[name] = {"through": outcome is not False, "detail": str(outcome)}
        except BaseException as error:
            found[name] = {"through": False, "detail": f"{type(error).__name__}: {error}"}
        if name in CONTROLS:
            found[name]["through"] = found[name]["detail"] == "True"
    print(json.dumps(found))


if __name__ == "__main__":
    main()
