"""What comes for the second time: only that is worth remembering, and what comes but once would push it out."""


class Comings:
    """Numbers of what came not long ago: of the last `size` at least, and of twice as many at most."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.recent: set[int] = set()
        self.earlier: set[int] = set()

    def again(self, number: int) -> bool:
        if number in self.recent or number in self.earlier:
            return True
        self.recent.add(number)
        if len(self.recent) > self.size:
            self.earlier, self.recent = self.recent, set()
        return False
