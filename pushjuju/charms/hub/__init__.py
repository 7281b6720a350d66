"""Charmhub's protocol: what is sent, what an answer means, what to ask next.

Nothing here uses the network: the caller passes in a function that sends the requests. Start with `wire`
(requests and answers), `resolve` (which revision) or `catalogue` (info and find).
"""
