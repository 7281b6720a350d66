"""The API: Juju 3.6's websocket protocol and its HTTP endpoints, for clients that know Juju.

`server` listens, `connection` reads requests and writes answers, `registry` knows the facades, `facades`
carry out requests with `services`. No ordinary command imports this package; aiohttp comes with the
extra `pushjuju[api]`.
"""
