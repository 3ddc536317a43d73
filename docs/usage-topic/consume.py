#!/usr/bin/env python3
"""Adds up gateway.usage.v1 and gateway.usage.v2 per account. Standard library only: one record's value a line.

    kafka-console-consumer.sh --bootstrap-server 127.0.0.1:9092 --topic gateway.usage.v1 --from-beginning \
      --timeout-ms 10000 | consume.py
"""
import json
import sys
from decimal import Decimal, getcontext

getcontext().prec = 60  # a cost is never a float
TOPICS = ("gateway.usage.v1", "gateway.usage.v2")  # a unit is on one of them


def add(seen, value):
    """Records come at least once: a unit counts once, and a real outcome replaces that of a died process."""
    event = json.loads(value)  # unknown members are of a later release: ignore them
    if event["type"] not in TOPICS:
        return
    data = event["data"]
    unit = (data["request_id"], data.get("unit", 0))  # absent on v2 = 0
    known = seen.get(unit)
    crash = "gateway_crash"
    if known is None or (known.get("error_code") == crash and data.get("error_code") != crash):
        seen[unit] = data


def per_account(seen):
    sums = {}
    for data in seen.values():
        count, cost = sums.get(data["account_id"], (0, Decimal(0)))
        sums[data["account_id"]] = (count + 1, cost + Decimal(data.get("cost_usd") or "0"))
    text = lambda cost: format(cost, "f").rstrip("0").rstrip(".") if "." in format(cost, "f") else format(cost, "f")
    return {account: {"units": count, "cost_usd": text(cost)} for account, (count, cost) in sorted(sums.items())}


if __name__ == "__main__":
    units = {}  # a real consumer keeps this in its database
    for line in sys.stdin:
        if line.strip():
            add(units, line)
    print(json.dumps(per_account(units), separators=(",", ":")))
