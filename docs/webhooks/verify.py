#!/usr/bin/env python3
"""Verifies deliveries of Model Gateway webhooks. Standard library only.

    verify(secrets, headers, body)      in your own receiver
    verify.py < deliveries.jsonl        one {"secrets", "headers", "body", "now"?} a line; prints one verdict a line
"""
import hashlib
import hmac
import json
import sys
import time

TOLERANCE_SECONDS = 300


def verify(secrets, headers, body, now=None):
    """True where one of the signature's terms is of one of the secrets and the timestamp is of the last five minutes.

    `body` is the raw bytes of the request: never a re-serialized object.
    """
    given = {name.lower(): value for name, value in headers.items()}
    timestamp = given.get("service-webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit()):
        return False
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    terms = [
        term.strip()[len("v1=") :]
        for term in given.get("service-webhook-signature", "").split(",")
        if term.strip().startswith("v1=")
    ]
    is_valid = False
    for secret in secrets:
        expected = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        for term in terms:
            # Compared in constant time, and all of them: how long it takes tells nothing.
            is_valid |= hmac.compare_digest(expected.encode(), term.encode())
    return is_valid


if __name__ == "__main__":
    for line in sys.stdin:
        delivery = json.loads(line)
        verdict = verify(delivery["secrets"], delivery["headers"], delivery["body"].encode(), delivery.get("now"))
        print("valid" if verdict else "invalid", flush=True)
