"""Caches are bounded by the number of their entries, and by their weight where entries differ in size."""

import gc
import weakref

from lib.lru import LRU, WeighedLRU


def test_a_cache_evicts_the_least_recently_used_entry() -> None:
    cache: LRU[int] = LRU(2)
    for key, value in (("a", 1), ("b", 2)):
        cache.put(key, value)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert list(cache.entries) == ["a", "c"]
    cache.discard("a")
    cache.discard("unknown")
    assert list(cache.entries) == ["c"]


def test_heavy_entries_push_out_others() -> None:
    cache: WeighedLRU[str] = WeighedLRU(10, 6, lambda key, value: len(value))
    for key, value in (("a", "aaa"), ("b", "bb"), ("c", "cc")):
        cache.put(key, value)
    assert (list(cache.entries), cache.total_weight) == (["b", "c"], 4)
    cache.put("b", "bbbb")
    assert (cache.entries["b"], cache.total_weight) == ("bbbb", 6)
    cache.discard("c")
    assert (list(cache.entries), cache.total_weight, cache.weights) == (["b"], 4, {"b": 4})
    cache.put("d", "d" * 100)
    assert (list(cache.entries), cache.total_weight) == (["d"], 100), "the newest is kept whatever it weighs"


def test_light_entries_are_bounded_by_their_number() -> None:
    cache: WeighedLRU[str] = WeighedLRU(3, 1_000, lambda key, value: 0)
    for number in range(10):
        cache.put(number, "")
    assert (list(cache.entries), cache.weights) == ([7, 8, 9], {7: 0, 8: 0, 9: 0})


class Linked:
    """An object that refers to itself, as columns and their tables do: only the garbage collector frees it."""

    def __init__(self) -> None:
        self.itself = self


async def test_garbage_from_creating_an_entry_is_freed_at_once() -> None:
    garbage: list[weakref.ref[Linked]] = []

    def make() -> Linked:
        garbage.append(weakref.ref(Linked()))
        return Linked()

    cache: LRU[Linked] = LRU(2)
    before = gc.get_threshold()
    gc.set_threshold(10_000_000)  # the collector does not begin by itself
    try:
        assert await cache.get_or_create_in_thread("a", make) is cache.get("a")
    finally:
        gc.set_threshold(*before)
    assert [reference() for reference in garbage] == [None]
