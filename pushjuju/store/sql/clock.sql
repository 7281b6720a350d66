-- name: clock_work_due_now
-- Looking too early does no harm; looking years too late does.
UPDATE work SET due = :now WHERE due > :now

-- name: clock_leases_end
-- Whoever still works renews its lease; who cannot is not waited for until a time that the clock made up.
UPDATE work SET leased_until = :until WHERE leased_until > :until

-- name: clock_retries_now
UPDATE unit SET retry_due = :now WHERE retry_due > :now

-- name: clock_storage_now
UPDATE backing SET due = :now WHERE due > :now

-- name: clock_mounts_now
UPDATE backing_attachment SET due = :now WHERE due > :now

-- name: clock_silence_from_now
-- A silence that began in the future would never be long enough to lose a machine or a leader.
UPDATE machine SET unreachable_since = min(unreachable_since, :now), last_failed = min(last_failed, :now),
  last_seen = min(last_seen, :now)
WHERE unreachable_since > :now OR last_failed > :now OR last_seen > :now

-- name: clock_rotations
SELECT * FROM secret WHERE next_rotation > :now

-- name: clock_expiries_again
-- An expiry that has led to nothing comes again; the first one comes when it was asked for.
UPDATE secret_revision SET next_expiry = :now WHERE next_expiry > :now AND next_expiry <> expires

-- name: clock_update_status_anew
-- The wait begins anew, without a tick.
UPDATE unit SET update_status_due = NULL WHERE update_status_due > :now

-- name: clock_forced_ends
-- Only what was asked for by the wrong clock can lie beyond its last moment.
SELECT id, due, reason FROM cleanup WHERE due > :latest
