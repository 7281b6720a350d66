-- history: the number of the store's history at which the machine was asked what it has done; see `lost_results`
-- lost: unit -> {shown, names} of the hooks that the machine has run, and whose results the store lacks
ALTER TABLE machine ADD COLUMN history INTEGER NOT NULL DEFAULT 0;
ALTER TABLE machine ADD COLUMN lost TEXT NOT NULL DEFAULT '{}';
