"""A bare ASGI application that answers every HTTP request with ``Hello World!``."""


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        # Startup is awaited and confirmed; the shutdown message ends the second turn.
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"content-type", b"text/plain"), (b"content-length", b"12")],
        }
    )
    await send({"type": "http.response.body", "body": b"Hello World!"})
