"""All interleavings of a few actors: one runs at a time, up to its next access to a storage, in every order there is.

Of orders that differ only in accesses that do not depend on each other, such as two reads, one is tried ("sleep sets":
Godefroid, Partial-order methods for the verification of concurrent systems, 1996).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

READ, WRITE, LOCK = "read", "write", "lock"
Move: TypeAlias = tuple[int, str]  # an actor, by its place, and the access that it makes, or "kill"


class Killed(BaseException):
    """What an actor dies of, as of kill -9: nothing that it would do later happens, but the kernel lets go of locks."""


class Redundant(Exception):
    """An order that is another one's in all that matters."""


@dataclass
class _Actor:
    name: str
    play: Callable[[], object]
    mortal: bool
    thread: threading.Thread | None = None
    access: str = LOCK  # the one that it would make next
    waits_for: Lock | None = None
    result: object = None
    ended: bool = False
    killed: bool = False

    @property
    def is_ready(self) -> bool:
        return not self.ended and (self.waits_for is None or self.waits_for.is_free)


class Scheduler:
    """Runs actors as threads, one at a time; at every access `choose` says which, of the moves that there are."""

    def __init__(self, choose: Callable[[list[Move]], Move]) -> None:
        self._choose, self._actors = choose, list[_Actor]()
        self._turn: _Actor | None = None
        self._changed = threading.Condition()

    def add(self, name: str, play: Callable[[], object], *, mortal: bool = False) -> None:
        """Add an actor; a mortal one may be killed before any of its accesses."""
        self._actors.append(_Actor(name, play, mortal))

    def run(self) -> dict[str, object]:
        """Return what each actor returned or raised, by name."""
        for actor in self._actors:
            actor.thread = threading.Thread(target=self._play, args=(actor,), daemon=True)
            actor.thread.start()
        try:
            while moves := self._moves():
                at, access = self._choose(moves)
                self._actors[at].killed = access == "kill"
                self._give(self._actors[at])
            assert all(actor.ended for actor in self._actors), "deadlock"
        finally:
            for actor in self._actors:
                if not actor.ended:
                    actor.killed = True
                    self._give(actor)
        return {actor.name: actor.result for actor in self._actors}

    def _moves(self) -> list[Move]:
        moves = [(at, actor.access) for at, actor in enumerate(self._actors) if actor.is_ready]
        return moves + [(at, "kill") for at, actor in enumerate(self._actors) if actor.mortal and not actor.ended]

    def step(self, access: str, waits_for: Lock | None = None) -> None:
        """Let others go first, as long as the scheduler likes; nothing for a thread that is no actor."""
        actor = next((one for one in self._actors if one.thread is threading.current_thread()), None)
        if actor is None or actor.killed:
            return
        actor.access, actor.waits_for = access, waits_for
        with self._changed:
            self._turn = None
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._turn is actor)
        actor.waits_for = None
        if actor.killed:
            raise Killed

    def _give(self, actor: _Actor) -> None:
        with self._changed:
            self._turn = actor
            self._changed.notify_all()
            assert self._changed.wait_for(lambda: self._turn is None, timeout=60), f"{actor.name} does not come back"

    def _play(self, actor: _Actor) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._turn is actor)
        try:
            actor.result = Killed() if actor.killed else actor.play()
        except BaseException as error:  # the test looks at it
            actor.result = error
        with self._changed:
            actor.ended, self._turn = True, None
            self._changed.notify_all()


class Lock:
    """A lock for actors, in the place of a storage's; one actor may take it several times."""

    def __init__(self, scheduler: Scheduler, access: str = LOCK) -> None:
        self._scheduler, self._access = scheduler, access
        self._holder, self._depth = 0, 0

    @property
    def is_free(self) -> bool:
        return self._depth == 0

    def acquire(self) -> bool:
        me = threading.get_ident()
        if self._depth == 0 or self._holder != me:
            self._scheduler.step(self._access, waits_for=self)
            assert self.is_free
        self._holder, self._depth = me, self._depth + 1
        return True

    def release(self) -> None:
        self._depth -= 1

    def __enter__(self) -> Lock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


@dataclass
class _Node:
    """A place where moves were possible: those tried, the last one last, and those that need no trying."""

    moves: list[Move]
    asleep: set[Move]
    tried: list[Move] = field(default_factory=list)

    @property
    def left(self) -> list[Move]:
        return [move for move in self.moves if move not in self.asleep and move not in self.tried]


@dataclass
class _Search:
    nodes: list[_Node] = field(default_factory=list)
    depth: int = 0

    def choose(self, moves: list[Move]) -> Move:
        if self.depth == len(self.nodes):
            asleep: set[Move] = set()
            if self.nodes:
                last = self.nodes[-1]
                *before, made = last.tried
                asleep = {move for move in {*last.asleep, *before} if not _depend(move, made)}
            node = _Node(moves, asleep)
            if not node.left:
                raise Redundant
            node.tried.append(node.left[0])
            self.nodes.append(node)
        self.depth += 1
        return self.nodes[self.depth - 1].tried[-1]

    def advance(self) -> bool:
        """Go to the next order; return whether there is one."""
        self.depth = 0
        while self.nodes and not self.nodes[-1].left:
            self.nodes.pop()
        if self.nodes:
            self.nodes[-1].tried.append(self.nodes[-1].left[0])
        return bool(self.nodes)


def _depend(one: Move, other: Move) -> bool:
    """Return whether the order of two moves matters."""
    if one[0] == other[0] or "kill" in (one[1], other[1]):
        return True
    return one[1] == other[1] != READ or {one[1], other[1]} == {READ, WRITE}


def every_interleaving(play: Callable[[Scheduler], Any], *, most: int = 20_000) -> Iterator[tuple[Any, Sequence[Move]]]:
    """Yield what `play` returns, and the moves made, for every order of moves that matters."""
    search = _Search()
    for _ in range(most):
        try:
            found = play(Scheduler(search.choose))
        except Redundant:
            pass
        else:
            yield found, [node.tried[-1] for node in search.nodes]
        if not search.advance():
            return
    raise AssertionError(f"more than {most} interleavings")
