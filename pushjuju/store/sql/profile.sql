-- name: profiles_get
SELECT profiles, problem FROM machine_profiles WHERE model = :model AND machine = :machine

-- name: profiles_list
SELECT machine, profiles, problem FROM machine_profiles WHERE model = :model

-- name: profiles_put
INSERT INTO machine_profiles (model, machine, profiles, problem)
VALUES (:model, :machine, :profiles, :problem)
ON CONFLICT (model, machine) DO UPDATE SET profiles = excluded.profiles, problem = excluded.problem

-- name: profiles_of_units
-- The charms of the applications with units on a machine, or on any machine when :machine is ''.
SELECT DISTINCT application.name AS application, application.charm_url AS charm_url
FROM unit JOIN application ON application.model = unit.model AND application.name = unit.application
WHERE unit.model = :model AND (:machine = '' OR unit.machine = :machine)
ORDER BY application.name
