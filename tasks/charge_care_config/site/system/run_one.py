"""Bill a session, or answer a ticket, by hand against the copy in data/.

    python3 -m system.run_one S104017
    python3 -m system.run_one T104017
    python3 -m system.run_one --day 2025-05-30
"""

import argparse
import sqlite3

from system.billing import bill_session
from system.care import handle_ticket

DATABASE = "data/brightpost.db"


def gateway_client():
    """The gateway's client, or None where there is no gateway (the functions as found do not call it)."""
    try:
        from system.gateway import Gateway
    except ImportError:
        return None
    return Gateway()


def one(conn, table, key, value):
    row = conn.execute(f"SELECT * FROM {table} WHERE {key} = ?", (value,)).fetchone()
    if row is None:
        raise SystemExit(f"no {value} in {table}")
    return dict(row)


def show_bill(conn, session):
    bill = bill_session(session, db=conn)
    print(
        f"{session['sid']} {session['site_class']} {session['fw']} {session['stop_reason']:<14} "
        f"energy {bill['energy_usd']:>6.2f}  idle {bill['idle_usd']:>6.2f}  fault {bill['fault']!s:<5}  restart {bill['restart']}"
    )


def show_answer(conn, ticket):
    incoming = {key: ticket[key] for key in ("tid", "sid", "ts", "text", "lang")}
    print(ticket["text"])
    print(handle_ticket(incoming, db=conn, llm=gateway_client()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", help="a session (S...) or a ticket (T...)")
    parser.add_argument("--day", help="bill all sessions that were unplugged on this day")
    arguments = parser.parse_args()
    conn = sqlite3.connect(f"file:{DATABASE}?mode=ro", uri=True)
    conn.row_factory = sqlite3.Row
    if arguments.day:
        for row in conn.execute("SELECT * FROM sessions WHERE t_unplug LIKE ? ORDER BY t_unplug", (arguments.day + "%",)):
            show_bill(conn, dict(row))
    elif arguments.what and arguments.what.startswith("T"):
        show_answer(conn, one(conn, "tickets", "tid", arguments.what))
    elif arguments.what:
        show_bill(conn, one(conn, "sessions", "sid", arguments.what))
    else:
        parser.print_help()


if __name__ == "__main__":
    main()
