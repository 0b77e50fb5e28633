import json, random, sys, websockets.sync.client

url, game, seed = sys.argv[1:]
chance = random.Random(seed)
with websockets.sync.client.connect(url) as server:
    send = lambda **request: server.send(json.dumps(request))
    hear = lambda: json.loads(server.recv(timeout=60))
    send(type="hello")
    for level, seat in [(known["level"], seat) for known in hear()["levels"] for seat in (0, 1)]:
        send(type="create", game=game, seats=["me", {"bot": level}] if seat == 0 else [{"bot": level}, "me"])
        while "outcome" not in (news := hear()):
            if news["type"] == "error":
                sys.exit(f"{game}, {level}, seat {seat}: {news['message']}")
            if news["type"] == "match":
                match, bot = news["match"], news["seats"][1 - seat]["level"]
            if news.get("legal") and news["turn"] == seat:
                ply = news.get("next_ply", news["ply"])
                move = "pass" if game == "go" and ply >= 40 else chance.choice(news["legal"])
                send(type="move", match=match, ply=ply, move=move)
        print(game, bot, seat, news["outcome"]["reason"], news["outcome"]["winner"], news["seq"], flush=True)
