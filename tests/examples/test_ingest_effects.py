"""Effects happen once for each key."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from examples.ingest.effects import Effects


def test_the_first_value_wins(tmp_path: Path) -> None:
    effects = Effects(tmp_path / "effects")
    assert effects.get("order/1", str) is None
    assert effects.put("order/1", "first") == "first"
    assert effects.put("order/1", "second") == "first"
    assert effects.get("order/1", str) == "first"
    assert effects.put("order/2", "other") == "other"
    assert effects.keys() == ["order%2F1", "order%2F2"]


def test_one_of_many_at_once_wins(tmp_path: Path) -> None:
    effects = Effects(tmp_path / "effects")
    with ThreadPoolExecutor(8) as threads:
        values = list(threads.map(lambda number: effects.put("k", str(number)), range(40)))
    assert len(set(values)) == 1
    assert [path.name for path in (tmp_path / "effects").iterdir()] == ["k.json"]


def test_keys_longer_than_a_file_name(tmp_path: Path) -> None:
    effects = Effects(tmp_path / "effects")
    effects.put("x" * 1000 + "/1", 1)
    effects.put("x" * 1000 + "/2", 2)
    assert effects.get("x" * 1000 + "/1", int) == 1
    assert effects.get("x" * 1000 + "/2", int) == 2
