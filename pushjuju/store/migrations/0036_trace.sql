-- The span that was the first to ask for the work of a key, as traceparent (W3C) has it; empty without traces, and when the
-- work is done.
ALTER TABLE work ADD COLUMN trace TEXT NOT NULL DEFAULT '';
