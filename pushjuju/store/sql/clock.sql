-- name: clock_work_due_now
-- Work that is due too early does no harm, unlike work that is due years too late.
UPDATE work SET due = :now WHERE due > :now

-- name: clock_leases_end
-- Living processes renew their leases; leases of others must not last until a time from the wrong clock.
UPDATE work SET leased_until = :until WHERE leased_until > :until

-- name: clock_retries_now
UPDATE unit SET retry_due = :now WHERE retry_due > :now

-- name: clock_storage_now
UPDATE backing SET due = :now WHERE due > :now

-- name: clock_mounts_now
UPDATE backing_attachment SET due = :now WHERE due > :now

-- name: clock_alarms_now
UPDATE alarm SET due = :now WHERE due > :now

-- name: clock_notices_now
UPDATE notice SET due = :now WHERE due > :now

-- name: clock_targets_now
UPDATE notify_target SET due = :now WHERE due > :now

-- name: clock_links_end
-- Links that log in once are made again in a moment; none may last until a time from the wrong clock.
UPDATE token SET until = :now WHERE until > :now

-- name: clock_silence_from_now
-- Otherwise, a machine that became silent "in the future" would not count as lost until after that time.
UPDATE machine SET
  unreachable_since = CASE WHEN unreachable_since > :now THEN :now ELSE unreachable_since END,
  last_failed = CASE WHEN last_failed > :now THEN :now ELSE last_failed END,
  last_seen = CASE WHEN last_seen > :now THEN :now ELSE last_seen END
WHERE unreachable_since > :now OR last_failed > :now OR last_seen > :now

-- name: clock_rotations
SELECT * FROM secret WHERE next_rotation > :now

-- name: clock_expiries_again
-- Only repeated expiries become due; a first expiry keeps the time that was set for it.
UPDATE secret_revision SET next_expiry = :now WHERE next_expiry > :now AND next_expiry <> expires

-- name: clock_update_status_anew
-- The wait for update-status starts again; the hook does not run now.
UPDATE unit SET update_status_due = NULL WHERE update_status_due > :now

-- name: clock_forced_ends
-- Cleanups due after :latest, the last time that the wrong clock showed, were added under that clock.
SELECT * FROM cleanup WHERE due > :latest
