"""Stop reasons of the charging protocol, as billing reads them.

The platform passes on what the charger wrote when the transaction stopped. The list follows docs/ocpp_reasons.md.
"""

# The charger or the grid ended the session.
STD_FAULTS = frozenset({"PowerLoss", "HardReset", "SoftReset", "Reboot", "EmergencyStop"})

# The driver, the car or the back office ended it.
NORMAL = frozenset({"EVDisconnected", "Local", "Remote"})


def is_fault(stop_reason):
    """Whether a session with this stop reason ended in a fault. Unknown reasons count as normal; they are printed for the log."""
    if stop_reason in STD_FAULTS:
        return True
    if stop_reason not in NORMAL:
        print(f"unknown stop reason {stop_reason!r}")
    return False
