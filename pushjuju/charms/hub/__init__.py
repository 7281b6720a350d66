"""Charmhub's protocol: makes requests, checks answers, and decides on the next request.

Nothing here uses the network: the caller passes in a function that sends the requests. Start with `wire`
(requests and answers), `resolve` (which revision) or `catalogue` (info and find).
"""
