"""How long to wait after a call failed."""

from datetime import timedelta

from towline import limits


def reconnect_delay(
    n: int,
    initial: timedelta = timedelta(milliseconds=limits.RECONNECT_INITIAL_MS),
    maximum: timedelta = timedelta(milliseconds=limits.RECONNECT_MAXIMUM_MS),
) -> timedelta:
    """The wait after the n-th failure in a row, from 1: `min(initial * 2 ** (n - 1), maximum)`.

    Raises ValueError for n below 1 or an initial wait that is not positive.
    """
    if n < 1:
        raise ValueError(f"n is {n}: failures in a row are counted from 1")
    if initial <= timedelta(0):
        raise ValueError(f"initial is {initial}: doubled, it would never grow")
    factor = 2 ** min(n - 1, 80)  # the longest timedelta is shorter than 2 ** 80 of the shortest
    # Compared as a ratio: the product may be longer than a timedelta can be.
    return maximum if maximum / initial <= factor else initial * factor
