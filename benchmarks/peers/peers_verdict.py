"""Who is ahead: a sentence for each task, and one for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from fits import Summary
from peers_numbers import Found, digits, is_ours, listed, number, ranked, short
from tasks import Task

CLOSE = 1.1
"""Times whose ratio is less are not told apart."""


def overall(tasks: Sequence[Task], found: Found) -> str:
    """On which tasks a peer has the best mean test score."""
    leaders = {
        task.title.partition(",")[0]: ranked(found[task.name].values(), task.higher_is_better)[0]
        for task in tasks
        if not task.compared and any(own.fits for own in found[task.name].values())
    }
    theirs = [title for title, own in leaders.items() if not is_ours(own.model)]
    if not theirs:
        return f"On all {len(leaders)} tables of scores below one of ours is first."
    if len(theirs) == len(leaders):
        return f"On all {len(leaders)} tables of scores below a peer is first."
    where = listed(theirs)
    return (
        f"On {len(theirs)} of the {len(leaders)} tables of scores below a peer is first: {where}."
    )


def verdict(task: Task, found: dict[str, Summary]) -> str:
    """The best of ours beside the best of the peers."""
    order = ranked(found.values(), task.higher_is_better)
    groups = [[s for s in order if is_ours(s.model) == own] for own in (True, False)]
    if task.compared or not all(groups):
        return ""
    ours, peer = (group[0] for group in groups)
    sign = -1 if task.higher_is_better else 1
    behind = sign * (ours.mean("test") - peer.mean("test"))
    where = "behind" if behind > 0 else "ahead"
    tail = ""
    if len(ours.fits) > 1 and abs(behind) < max(ours.spread("test"), peer.spread("test")):
        tail = ", less than the spread over the seeds"
    return (
        f"Best of the peers is {peer.model} ({number(peer)}), best of ours {ours.model} "
        f"({number(ours)}): {where} by {digits(abs(behind), ours)}{tail}. {times(ours, peer)}"
    )


def times(ours: Summary, peer: Summary) -> str:
    """How long the two took to fit."""
    slow, fast = sorted((ours, peer), key=lambda own: -own.median("fit_seconds"))
    ratio = slow.median("fit_seconds") / fast.median("fit_seconds")
    if ratio < CLOSE:
        return "Their fits took about the same time."
    return f"The fit of {slow.model} took {short(ratio)} times as long as that of {fast.model}."
