-- name: clock_work_due_now
-- Looking too early does no harm; looking years too late does.
UPDATE work SET due = :now WHERE due > :now

-- name: clock_leases_end
-- Whoever still works renews its lease; who cannot is not waited for until a time that the clock made up.
UPDATE work SET leased_until = :until WHERE leased_until > :until

-- name: clock_retries_now
UPDATE unit SET retry_due = :now WHERE retry_due > :now

-- name: clock_update_status_anew
-- The wait begins anew, without a tick.
UPDATE unit SET update_status_due = NULL WHERE update_status_due > :now

-- name: clock_forced_ends
-- Only what was asked for by the wrong clock can lie beyond its last moment.
SELECT id, due, reason FROM cleanup WHERE due > :latest
