"""The truth of a run, from the simulated engine's own books, and the errors
of what a client reported beside it.

Times in the books are ns of the machine's real-time clock; everything here is
milliseconds unless a name says otherwise. What is not known is None.
"""

import math


def quantile(values, q):
    """Type 7 quantile of Hyndman and Fan, None for an empty sample."""
    if not values:
        return None
    ordered = sorted(values)
    h = (len(ordered) - 1) * q
    low = int(h)
    if low >= len(ordered) - 1:
        return ordered[-1]
    return ordered[low] + (ordered[low + 1] - ordered[low]) * (h - low)


def summary(values):
    """Count, mean, σ (n − 1), p50 and p99 of a sample; None for an empty one."""
    if not values:
        return None
    n = len(values)
    mean = math.fsum(values) / n
    sigma = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else None
    return {"count": n, "mean": mean, "sigma": sigma, "p50": quantile(values, 0.5), "p99": quantile(values, 0.99)}


def errors(reported, true):
    """Reported − true, statistic by statistic; None where either is unknown."""
    if reported is None or true is None:
        return None
    return {
        key: None if reported[key] is None or true[key] is None else reported[key] - true[key]
        for key in ("mean", "sigma", "p50", "p99")
    }


def timed(records, count):
    """The last count requests by arrival: those a client reports on. Probes and
    warm-ups come before them."""
    ordered = sorted(records, key=lambda r: r["recv_unix_ns"])
    return ordered[max(0, len(ordered) - count):]


def sound(records):
    """The requests without an injected fault that were served to their end."""
    return [r for r in records if not r.get("fault") and r["outcome"] == "done"]


def sent(record):
    return record["events"].get("sent_unix_ns") or []


def ttfts(records):
    """Arrival of the request at the engine's kernel to the first token's send."""
    return [(sent(r)[0] - r["recv_unix_ns"]) / 1e6 for r in records if sent(r)]


def gaps(records):
    """All gaps between the sends of successive token events."""
    return [(b - a) / 1e6 for r in records for a, b in zip(sent(r), sent(r)[1:])]


def mean_gaps(records):
    """One mean gap for each request, as some clients report ITL."""
    return [(sent(r)[-1] - sent(r)[0]) / 1e6 / (len(sent(r)) - 1) for r in records if len(sent(r)) > 1]


def in_flight(records):
    """(most, mean) requests open at the engine, the mean over the time in which
    at least one was. (0, None) without any."""
    edges = []
    for r in records:
        if r.get("finish_unix_ns"):
            edges += [(r["recv_unix_ns"], 1), (r["finish_unix_ns"], -1)]
    edges.sort()
    most = count = area = busy = 0
    for (at, step), following in zip(edges, edges[1:] + [(edges[-1][0], 0)] if edges else []):
        count += step
        most = max(most, count)
        span = following[0] - at
        if count > 0:
            area += count * span
            busy += span
    return most, (area / busy if busy else None)


def load_held(records, streams, interval_ms):
    """Token events sent ÷ what so many streams should carry while any is open."""
    spans = sorted((r["recv_unix_ns"], r["finish_unix_ns"]) for r in records if r.get("finish_unix_ns"))
    busy = end = 0
    for a, b in spans:
        busy += max(0, b - max(a, end))
        end = max(end, b)
    if not busy:
        return None
    return sum(len(sent(r)) for r in records) / (busy / 1e6 / interval_ms * streams)


def rate(records):
    """True tokens per second from the first arrival to the last send."""
    ended = [r["finish_unix_ns"] for r in records if r.get("finish_unix_ns")]
    if not ended:
        return None
    tokens = sum(sum(r["events"].get("tokens") or []) for r in records)
    return tokens / ((max(ended) - min(r["recv_unix_ns"] for r in records)) / 1e9)
