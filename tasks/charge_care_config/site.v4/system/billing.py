"""Bills a finished charging session.

    bill_session(session, db) -> {"energy_usd", "idle_usd", "fault", "restart"}

Called by the clearing run for each session once the car is unplugged. `session` is the row of `sessions`. Energy was priced by the
charging platform at the time (session_usd: price list, time of day, plan); it is taken over as it stands.
"""

import json
from datetime import datetime
from pathlib import Path

from system.reasons import is_fault

CONFIG = json.loads((Path(__file__).parent / "config" / "billing.json").read_text(encoding="utf-8"))

TIME_FORMAT = "%Y-%m-%d %H:%M:%S"


def minutes_between(begin, end):
    """Minutes from one time stamp of the platform to another; negative if `end` is earlier."""
    return (datetime.strptime(end, TIME_FORMAT) - datetime.strptime(begin, TIME_FORMAT)).total_seconds() / 60


def idle_minutes(session):
    """How long the car stayed on the cable after the energy stopped."""
    return max(0.0, minutes_between(session["t_energy_end"], session["t_unplug"]))


def idle_fee(session):
    """The idle fee: pro rata to the second, nothing within the grace."""
    billable = idle_minutes(session) - CONFIG["idle_grace_min"]
    if billable <= 0:
        return 0.0
    return round(CONFIG["idle_usd_per_min"] * billable, 2)


def bill_session(session, db):
    """The bill of one session. A session that ended in a fault carries no idle fee, and is restarted while the cable is in."""
    fault = is_fault(session["stop_reason"])
    return {
        "energy_usd": session["session_usd"],
        "idle_usd": 0.0 if fault else idle_fee(session),
        "fault": fault,
        "restart": fault and bool(session["plugged_after_stop"]),
    }
