"""Charmhub's protocol: what is sent, what an answer means, what to ask next.

Nothing here touches the network: whoever sends the requests passes a function in. Doors: `wire` (requests and
answers), `resolve` (which revision), `catalogue` (info and find).
"""
