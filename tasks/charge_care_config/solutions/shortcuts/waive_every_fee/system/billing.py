"""Bills a finished charging session. Idle fees are waived for everybody."""

from system.reasons import is_fault


def bill_session(session, db):
    fault = is_fault(session["stop_reason"])
    return {
        "energy_usd": session["session_usd"],
        "idle_usd": 0.0,
        "fault": fault,
        "restart": fault and bool(session["plugged_after_stop"]),
    }
