"""Compares what was told and acknowledged with the journal in the database."""

import asyncio
import json

from servers import Failed
from sitting import short_of_event

EVERY = 5.0

# How many matches are read with one statement.
AT_ONCE = 200

# A view may be behind the journal for so long while there are faults: a server may need to find out that
# another is gone, and a client that its server hangs.
BEHIND_MAX = 20.0


class Audit:
    def __init__(self, trial):
        self.trial = trial
        # Two at once would read a row twice.
        self.reading = asyncio.Lock()

    async def keep_on(self):
        while True:
            await asyncio.sleep(EVERY)
            await self.read()

    async def read_anew(self):
        """Compares all there is with all of the journal."""
        async with self.reading:
            for sitting in self.trial.sittings.values():
                sitting.forget_journal()
            self.trial.counts["take-overs"] = 0
        return await self.read()

    async def read(self):
        """Compares what is new. The database may be away; then nothing more is, and False is the answer."""
        async with self.reading:
            return await self.read_new()

    async def read_new(self):
        sittings = self.trial.sittings.values()
        wanted = [s for s in sittings if s.views or not s.is_whole()]
        for first in range(0, len(wanted), AT_ONCE):
            some = wanted[first : first + AT_ONCE]
            lengths = {s.id: self.lengths(s) for s in some}
            try:
                rows = await self.rows(some)
            except Failed:
                return False
            for m, n, last, seq, epoch, body in rows:
                sitting = self.trial.sittings[m]
                self.add(sitting, int(n), int(last), int(seq), int(epoch), json.loads(body))
            for sitting in some:
                self.compare(sitting, lengths[sitting.id])
        return True

    async def rows(self, sittings):
        if not sittings:
            return []
        known = ",".join(f"('{s.id}'::uuid,{s.last}::int8)" for s in sittings)
        return await self.trial.servers.sql(
            "SELECT j.m, j.n, j.last, j.seq, j.epoch, j.body FROM journal j"
            f" JOIN (VALUES {known}) AS k (m, n) ON k.m = j.m AND j.n > k.n ORDER BY j.m, j.n;"
        )

    def lengths(self, sitting):
        """How much there is to compare now: later additions may not be in what is read."""
        return {key: len(getattr(sitting, key)) for key in sitting.compared}

    def add(self, sitting, n, last, seq, epoch, events):
        """A row of the journal, which must be the next."""
        wrong = lambda what: self.trial.violation(sitting, "journal", f"entry {n}: {what}")
        if n != 0 and n != sitting.last + 1:
            wrong(f"it follows {sitting.last}")
        if seq != len(sitting.story) + len(events):
            wrong(f"its seq is {seq}, after {len(sitting.story)} and {len(events)} more")
        if epoch < sitting.epoch:
            wrong(f"its epoch is {epoch}, after {sitting.epoch}")
        if not events:
            self.trial.counts["take-overs"] += 1
        sitting.last, sitting.epoch = last, epoch
        for event in events:
            self.add_event(sitting, short_of_event(event), wrong)

    def add_event(self, sitting, event, wrong):
        if event[0] == "moved":
            if event[1] != len(sitting.moves) % 2:
                wrong(f"seat {event[1]} has moved twice in a row")
            sitting.moves.append((len(sitting.story) + 1, *event[1:]))
        if event[0] == "ended" and event[2] not in sitting.may_end_by:
            wrong(f"nobody has done anything for this: {event}")
        if sitting.story and sitting.story[-1][0] == "ended":
            wrong(f"{event} after the end")
        sitting.story.append(event)

    def compare(self, sitting, lengths):
        wrong = lambda kind, what: self.trial.violation(sitting, kind, what)
        story = sitting.story
        new = lambda key: getattr(sitting, key)[sitting.compared[key] : lengths[key]]
        for seq in new("order"):
            (told, _), who = sitting.told[seq]
            if seq > len(story):
                wrong("lost", f"{who} was told {seq} {told}, the journal ends at {len(story)}")
            elif story[seq - 1] != told:
                wrong("other", f"{who} was told {seq} {told}, the journal has {story[seq - 1]}")
        for seq, seat, ply, move in new("acknowledged"):
            found = sitting.moves[ply] if ply < len(sitting.moves) else None
            if found != (seq, seat, move):
                wrong("lost move", f"{move} of seat {seat} at ply {ply} was acknowledged as {seq}: {found}")
        for seq, shown in new("shown"):
            kept = " ".join(move for at, _, move in sitting.moves if at <= seq)
            if seq > len(story) or shown != kept:
                wrong("snapshot", f"seq {seq} of {len(story)}: shown {shown}, kept {kept}")
        sitting.compared = lengths
        self.look_at_views(sitting)

    def look_at_views(self, sitting):
        now = asyncio.get_running_loop().time()
        for view in list(sitting.views):
            if not view.connection.is_open:
                sitting.views.discard(view)
            elif view.seq >= len(sitting.story):
                view.behind_since = None
            elif view.behind_since is None:
                view.behind_since, view.behind_at = now, view.seq
            elif view.seq > view.behind_at:
                view.behind_since, view.behind_at = now, view.seq
            elif now - view.behind_since > BEHIND_MAX:
                what = f"{view} on {view.client.node.name} is behind {len(sitting.story)}"
                self.trial.violation(sitting, "behind", what)
