"""The gRPC channel under the transports."""

import asyncio
from typing import Final

import grpc.aio

from towline import limits
from towline.client.transport.api import RpcError
from towline.clock import Clock
from towline.status import Status

OPTIONS: Final = (
    ("grpc.max_receive_message_length", limits.MESSAGE_SIZE_BYTES + limits.MESSAGE_ENVELOPE_SIZE_BYTES),
    ("grpc.max_send_message_length", limits.MESSAGE_SIZE_BYTES + limits.MESSAGE_ENVELOPE_SIZE_BYTES),
    # One connection per channel, with a back-off of its own, however many channels have the same target.
    ("grpc.use_local_subchannel_pool", 1),
    # Shorter than the back-off of whoever tries again, so that a server that is back is found at the next attempt.
    ("grpc.initial_reconnect_backoff_ms", limits.RECONNECT_INITIAL_MS),
    ("grpc.min_reconnect_backoff_ms", 2_000),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # A server that lost power says nothing; the calls that wait for it must fail all the same.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
)


def open_channel(target: str) -> grpc.aio.Channel:
    """A channel to `target` (host:port) that connects when it is first used."""
    return grpc.aio.insecure_channel(target, options=OPTIONS)


async def wait_until_connected(channel: grpc.aio.Channel, target: str, *, timeout_ms: int, clock: Clock) -> None:
    """Come back once the server accepts the connection. Raises RpcError (UNAVAILABLE) after `timeout_ms`."""
    timed_out = False

    def give_up() -> None:
        nonlocal timed_out
        timed_out = True
        waiting.cancel()

    waiting = asyncio.ensure_future(channel.channel_ready())
    timer = clock.call_later(timeout_ms, give_up)
    try:
        await waiting
    except asyncio.CancelledError:
        if not timed_out:
            raise
        raise RpcError(
            Status.UNAVAILABLE,
            f"no server answered at {target} within {timeout_ms} ms: start one with `towline server`, "
            "or check the address",
        ) from None
    finally:
        timer.cancel()
