-- The newest request that asked for the work of a key; empty when no request did, and when the work is done.
ALTER TABLE work ADD COLUMN cause TEXT NOT NULL DEFAULT '';
-- The request that an operation followed, as the lines of the audit log name the request.
ALTER TABLE operation ADD COLUMN cause TEXT NOT NULL DEFAULT '';
CREATE INDEX operation_cause ON operation (model, cause) WHERE cause <> '';
