"""What is known of one match from outside: what its followers were told of it, and what was acknowledged."""


def short_of_event(event):
    """What an event says, by what both the wire and the journal tell of it."""
    kind = event["type"]
    if kind == "moved":
        return kind, event["seat"], event["move"]
    if kind == "ended":
        outcome = event.get("outcome", event)
        return kind, outcome.get("winner"), outcome["reason"]
    if kind == "seated":
        return kind, event["seat"], event.get("player")
    return (kind,)


class Sitting:
    def __init__(self, match_id):
        self.id = match_id
        # By seq: what was told first, by whom, and what the board was told to look like then.
        self.told = {}
        # Moves that were acknowledged: seq, seat, ply and move.
        self.acknowledged = []
        # What snapshots said: seq, and the moves up to there.
        self.shown = []
        # How it may end beside by its rules.
        self.may_end_by = {"rules"}
        self.has_ended = False
        self.views = set()
        # What the journal says: see `audit`.
        self.story, self.last, self.epoch = [], -1, 0
        # The moves in it: seq, seat and move.
        self.moves = []
        # What was told, by seq and in the order of telling; and how much of the lists has been compared.
        self.order = []
        self.compared = {"order": 0, "acknowledged": 0, "shown": 0}

    def is_whole(self):
        """Whether all of the journal has been read, and compared with what is known."""
        has_ended = self.story and self.story[-1][0] == "ended"
        return has_ended and all(len(getattr(self, key)) == done for key, done in self.compared.items())

    def forget_journal(self):
        """Has all of it read and compared anew."""
        self.story, self.last, self.epoch, self.moves = [], -1, 0, []
        self.compared = dict.fromkeys(self.compared, 0)


class View:
    """What one connection has been told of one match."""

    def __init__(self, client, connection, sitting):
        self.client, self.connection, self.sitting = client, connection, sitting
        self.seq = -1
        self.ply, self.turn, self.legal, self.you = 0, None, [], None
        self.status, self.host = None, None
        # There was a gap; what comes is of no use until it has been filled.
        self.asks = False
        # When an audit found it behind the journal.
        self.behind_since = None
        sitting.views.add(self)

    def __str__(self):
        return f"{self.client.name}'s view (seq {self.seq}, ply {self.ply}, {self.status})"

    def show(self, snapshot, violation):
        """Takes a snapshot."""
        if snapshot["seq"] < self.seq:
            violation("back", f"{self} got a snapshot with seq {snapshot['seq']}")
        sitting = self.sitting
        self.seq, self.ply, self.asks = snapshot["seq"], snapshot["ply"], False
        self.turn, self.legal, self.you = snapshot["turn"], snapshot["legal"], snapshot["you"]
        self.status, self.host = snapshot["status"], snapshot["host"]
        if self.ply != len(snapshot["moves"]):
            violation("ply", f"{self} has {len(snapshot['moves'])} moves")
        sitting.shown.append((self.seq, " ".join(snapshot["moves"])))
        sitting.has_ended |= self.status == "ended"

    def tell(self, event, violation):
        """Takes an event. Gives whether it was the next."""
        seq, kind = event["seq"], event["type"]
        if seq <= self.seq:
            violation("twice", f"{self} got {event}")
            return True
        if seq > self.seq + 1:
            return False
        self.seq = seq
        self.compare(event, violation)
        if kind == "moved":
            if event["ply"] != self.ply:
                violation("ply", f"{self} got {event}")
            self.ply = event["next_ply"]
        if kind in ("started", "moved"):
            self.turn, self.legal, self.status = event["turn"], event["legal"], "running"
        if kind == "ended":
            self.turn, self.legal, self.status = None, [], "ended"
            self.sitting.has_ended = True
        return True

    def compare(self, event, violation):
        """Everybody must be told one story."""
        told = (short_of_event(event), event.get("position"), event.get("ply"))
        key = (told[0], hash(told))
        known = self.sitting.told.get(event["seq"])
        if known is None:
            self.sitting.told[event["seq"]] = (key, str(self))
            self.sitting.order.append(event["seq"])
        elif known[0] != key:
            violation("two stories", f"{self} got {event}; {known[1]} got {known[0][0]}")
