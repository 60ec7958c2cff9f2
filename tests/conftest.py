"""Settings that every test shares."""

import signal

from hypothesis import HealthCheck, settings

# The same examples in every run: a reference solver that is inexact on one problem in thousands
# must not make a green change red. And no clock: a busy machine is no failure.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")

# A shell starts its background jobs with Ctrl-C ignored; tests that send it need Python's answer.
signal.signal(signal.SIGINT, signal.default_int_handler)
