"""Reads and writes pushjuju's files on the machine: blobs, journal, leases, requests, archives."""
