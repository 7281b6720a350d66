-- api: where the process serves the API, HOST:PORT, separated by commas; empty without the API
ALTER TABLE process ADD COLUMN api TEXT NOT NULL DEFAULT '';
