"""What `--address` takes."""

import pytest

from tests.cli.conftest import Towline
from towline.cli.address import check_address
from towline.cli.errors import UsageError


@pytest.mark.parametrize("address", ["127.0.0.1:7470", "localhost:0", "[::1]:7470", "[::]:65535", "a.example:1"])
def test_host_and_port(address: str) -> None:
    check_address(address)


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        ("127.0.0.1", "is not of the form host:port"),
        ("7482", "is not of the form host:port"),
        ("", "is not of the form host:port"),
        (":7470", "is not of the form host:port"),
        ("::1:7470", "has no host that can be told from its port"),
        ("[::1]", "has no host that can be told from its port"),
        ("[::1:7470", "has no host that can be told from its port"),
        ("[a:b]:7470", "has no host that can be told from its port"),
        ("localhost:", "has no number for a port"),
        ("localhost:http", "has no number for a port"),
        ("localhost:-1", "has no number for a port"),
        ("localhost:65536", "has a port above 65535"),
    ],
)
def test_anything_else_is_refused(address: str, fault: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_address(address)
    assert str(refused.value) == (
        f"--address {address} {fault}: write host:port, as in 127.0.0.1:7470 or [::1]:7470; port 0 takes a free one"
    )


@pytest.mark.parametrize("command", [["server", "--in-memory"], ["dev", "app.py"]])
async def test_every_command_that_listens_checks_it(towline: Towline, command: list[str]) -> None:
    ran = await towline(*command, "--address", "7482")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: --address 7482 is not of the form host:port: ")
    assert ran.err.count("\n") == 1
