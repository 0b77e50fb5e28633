"""Plays random legal moves: python bot.py [CODE [URL]]. Needs `pip install websockets`."""
import json
import random
import sys
import time

from websockets.sync.client import connect

code = sys.argv[1] if len(sys.argv) > 1 else None
url = sys.argv[2] if len(sys.argv) > 2 else "ws://127.0.0.1:7878/ws"

with connect(url, subprotocols=["plyhouse.v1"]) as socket:
    def send(**request):
        global asked
        asked = request
        socket.send(json.dumps(request))

    send(type="hello", name="randy")
    if code:
        send(type="join", match=code)
    else:
        send(type="create", game="tic-tac-toe", seats=["me", {"bot": "easy"}])

    for text in socket:
        message = json.loads(text)
        if message["type"] == "error" and not message["retryable"]:
            sys.exit(message["message"])
        if message["type"] == "error":
            time.sleep(message.get("retry_after_ms", 1000) / 1000)
            send(**asked)
        if message["type"] == "match":
            match, you = message["match"], message["you"]
        if message.get("outcome"):
            winner = message["outcome"]["winner"]
            print("drawn" if winner is None else "won" if winner == you else "lost")
            break
        if message.get("legal") and message["turn"] == you:
            ply = message.get("next_ply", message["ply"])
            send(type="move", match=match, ply=ply, move=random.choice(message["legal"]))
