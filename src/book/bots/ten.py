import json, random, sys, websockets.sync.client

with websockets.sync.client.connect(sys.argv[1]) as server:
    server.send(json.dumps({"type": "create", "game": "connect-four", "seats": ["me", {"bot": "beginner"}]}))
    for news in map(json.loads, server):
        if news["type"] == "error" or news.get("outcome"):
            sys.exit(news.get("message") or print("won" if news["outcome"]["winner"] == 0 else "not won"))
        if news.get("legal") and news["turn"] == 0:
            ply = news.get("next_ply", news["ply"])
            server.send(json.dumps({"type": "move", "match": news["match"], "ply": ply, "move": random.choice(news["legal"])}))
