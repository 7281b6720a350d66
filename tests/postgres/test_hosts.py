"""Several hosts of one controller: the real program with a data directory for each host."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pushjuju.store.db import Store
from pushjuju.store.statements import queries
from tests.postgres import background, databases
from tests.postgres.hosts import Host, done
from tests.waiting import comes, remains
from tests.world.charms import Charms


def test_a_host_that_joins_has_models_key_and_settings(pair: tuple[Host, Host], tmp_path: Path) -> None:
    first, second = pair
    done(first("add-model", "shop"))
    assert "shop " in done(second("models"))  # not marked as current: that is each host's own choice
    done(second("add-model", "web"))
    assert "web " in done(first("models"))
    assert "web*" in done(second("models"))
    done(first("switch", "web"))
    shown = [done(host("show-controller", "--format", "json")) for host in pair]
    assert shown[0] == shown[1]
    folders = [tmp_path / name / "data/controllers/prod" for name in ("one", "two")]
    for name in ("ssh/id_ed25519", "ssh/id_ed25519.pub", "controller.key"):
        texts = [(folder / name).read_text() for folder in folders]
        assert texts[0] == texts[1]
        assert [oct((folder / name).stat().st_mode)[-3:] for folder in folders] in (["600"] * 2, ["644"] * 2)
    assert oct((tmp_path / "controller.key").stat().st_mode)[-3:] == "600"


def test_a_host_that_joins_has_the_archives_in_a_directory_of_all_hosts(
    host: Callable[[str], Host], postgres_url: str, tmp_path: Path, packs: Charms
) -> None:
    (tmp_path / "share").mkdir()
    first, second = host("one"), host("two")
    place, store = f"blobs=file://{tmp_path}/share", ("--store", postgres_url, "--insecure-store")
    assert "2 to add" in first("plan", "bootstrap", "manual", "prod", "--config", place).stdout
    assert not list((tmp_path / "share").iterdir())
    done(first("bootstrap", "manual", "prod", *store, "--config", place, "--add-model", "shop"))
    done(first("controller", "key", "export", "../controller.key"))
    done(second("controller", "join", postgres_url, "--insecure-store", "--key-file", "../controller.key"))
    ends = {"host": {"interface": "juju-info", "scope": "container"}}
    packed = packs.make("log", subordinate=True, requires=ends)
    done(second("deploy", str(packed.path), "-m", "shop"))
    (archive,) = (tmp_path / "share").glob("*/??/*")
    done(first("export-bundle", "-m", "shop"))
    assert done(first("controller-config", "blobs")) == f"file://{tmp_path}/share\n"
    assert "blobs" in first("controller-config", "blobs=file:///tmp").stderr
    with closing(Store.open(postgres_url)) as store, store.read() as tx:
        assert not tx._connection.execute("SELECT 1 FROM blob_chunk").fetchall()
    assert archive.stat().st_mode & 0o777 == 0o600


def test_secrets_and_settings_of_one_host_are_known_on_the_other(pair: tuple[Host, Host]) -> None:
    first, second = pair
    done(first("add-model", "shop"))
    done(second("switch", "shop"))
    done(first("add-secret", "password", "user=ada"))  # makes the key of the secrets
    assert "user: ada" in done(second("show-secret", "password", "--reveal"))
    done(second("controller", "renew-key"))
    done(second("add-secret", "other", "user=bob"))
    assert "user: bob" in done(first("show-secret", "other", "--reveal"))
    done(second("controller-config", "audit-log-max-backups=7"))
    assert done(first("controller-config", "audit-log-max-backups")).strip() == "7"
    done(first("controller-config", "audit-log-max-backups=8"))
    assert done(second("controller-config", "audit-log-max-backups")).strip() == "8"


def test_hosts_that_begin_to_serve_the_api_together_have_one_ca(
    pair: tuple[Host, Host], tmp_path: Path
) -> None:
    def fingerprints() -> list[str]:
        said = [(tmp_path / name / "said").read_text() for name in ("one", "two")]
        return re.findall(r"fingerprint (\S+)", "".join(said))

    with pair[0].at_work("--api", "127.0.0.1:0"), pair[1].at_work("--api", "127.0.0.1:0"):
        comes(lambda: len(fingerprints()) == 2)
    assert len(set(fingerprints())) == 1


def test_credentials_that_models_use_are_known_on_the_other_host(
    pair: tuple[Host, Host], tmp_path: Path
) -> None:
    first, second = pair
    cloud = tmp_path / "cloud.yaml"
    cloud.write_text("clouds: {stack: {type: openstack, endpoint: 'https://cloud.test', regions: {one: {}}}}")
    done(first("add-cloud", "--client", "stack", str(cloud)))
    secrets = tmp_path / "credentials.yaml"
    attributes = "auth-type: userpass, username: ada, password: sesame, tenant-name: shop"
    secrets.write_text(f"credentials: {{stack: {{ada: {{{attributes}}}}}}}")
    done(first("add-credential", "--client", "stack", "-f", str(secrets)))
    done(first("add-model", "far", "stack", "--credential", "ada"))
    shown = done(second("show-credential", "--controller", "prod", "--show-secrets", "stack", "ada"))
    assert "password: sesame" in shown
    shared = "".join(path.read_text() for path in (tmp_path / "two/data/controllers/prod").glob("cred*.toml"))
    assert "sesame" not in shared
    assert "openstack" in done(second("show-model", "far"))


def test_a_file_that_two_hosts_have_changed_is_kept_on_the_later_one(
    pair: tuple[Host, Host], tmp_path: Path
) -> None:
    first, second = pair
    mine = tmp_path / "two/data/controllers/prod/clouds.toml"
    mine.write_text("# mine\n")
    (tmp_path / "one/data/controllers/prod/clouds.toml").write_text("# of the first host\n")
    done(first("models"))
    done(second("models"))
    assert mine.read_text() == "# of the first host\n"
    assert [path.read_text() for path in mine.parent.glob("clouds.toml.before-*")] == ["# mine\n"]


def test_a_change_whose_commit_was_lost_reaches_the_other_hosts(
    pair: tuple[Host, Host], postgres_url: str
) -> None:
    """The host had noted that it wrote the change."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    first, second = pair
    with psycopg.connect(postgres_url, autocommit=True) as link:
        row = "FROM pushjuju.vault WHERE name = 'controller.toml'"
        before = link.execute(f"SELECT version, sealed {row}").fetchone()
        done(first("controller-config", "audit-log-max-backups=7"))
        link.execute(
            "UPDATE pushjuju.vault SET version = %s, sealed = %s WHERE name = 'controller.toml'", before
        )
    done(first("models"))
    assert done(second("controller-config", "audit-log-max-backups")).strip() == "7"


def test_who_cannot_join(host: Callable[[str], Host], postgres_url: str, tmp_path: Path) -> None:
    first, second = host("one"), host("two")
    key, insecure = tmp_path / "controller.key", "--insecure-store"

    def refused(*words: str) -> str:
        result = second("controller", "join", *words)
        assert result.returncode
        assert not (tmp_path / "two/data/controllers/prod").exists()
        return result.stderr

    assert "say which key: --key-file FILE" in refused(postgres_url)
    key.write_text("bm9uc2Vuc2U=\n")
    assert "has no store of pushjuju" in refused(postgres_url, insecure, "--key-file", str(key))
    done(first("bootstrap", "manual", "prod", "--store", postgres_url, insecure))
    assert "has no controller key" in refused(postgres_url, insecure, "--key-file", str(key))
    key.write_text("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n")
    assert "is not shared with other hosts" in refused(postgres_url, insecure, "--key-file", str(key))
    right = done(first("controller", "key", "export"))
    wrong = refused(postgres_url, insecure, "--key-file", str(key))
    assert "the key does not belong to the controller" in wrong
    assert key.read_text().strip() not in wrong
    key.write_text(right)
    network = "postgresql://nobody@db.example.com/shop"
    assert "needs TLS" in refused(network, "--key-file", str(key))
    done(second("controller", "join", postgres_url, insecure, "--key-file", str(key)))
    again = second("controller", "join", postgres_url, insecure, "--key-file", str(key))
    assert 'controller "prod" already exists' in again.stderr
    assert "--name" in again.stderr
    done(second("controller", "join", postgres_url, insecure, "--key-file", str(key), "--name", "other"))
    assert "prod" in done(second("controllers"))


@pytest.mark.parametrize("key", ["", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n"], ids=["no", "another"])
def test_a_host_without_the_key_is_refused_until_it_joins_again(
    pair: tuple[Host, Host], tmp_path: Path, key: str
) -> None:
    first, second = pair
    done(first("add-model", "lab"))
    done(first("add-secret", "password", "user=ada"))
    place = tmp_path / "two/data/controllers/prod/controller.key"
    place.write_text(key) if key else place.unlink()
    for words in (["models"], ["add-model", "shop"], ["controller", "run"]):
        refused = second(*words)
        assert refused.returncode
        assert f"this host has {'another' if key else 'no'} key for the controller" in refused.stderr
    assert "shop" not in done(first("models"))
    assert place.exists() == bool(key)
    command = re.findall(r"pushjuju (controller join .*) FILE    with FILE", refused.stderr)
    done(second(*shlex.split(command[0]), "../controller.key"))
    assert "user: ada" in done(second("show-secret", "-m", "lab", "password", "--reveal"))


def test_a_host_keeps_no_key_that_its_environment_names(
    host: Callable[[str], Host], postgres_url: str, tmp_path: Path
) -> None:
    first, second = host("one"), host("two")
    done(first("bootstrap", "manual", "prod", "--store", postgres_url, "--insecure-store"))
    done(first("controller", "key", "export", "../controller.key"))
    done(first("add-model", "lab"))
    done(first("add-secret", "password", "user=ada"))
    key = tmp_path / "controller.key"
    second.environment["PUSHJUJU_CONTROLLER_KEY_FILE"] = str(key)
    done(second("controller", "join", postgres_url, "--insecure-store"))
    root = tmp_path / "two/data/controllers/prod"
    assert not (root / "controller.key").exists()
    assert "user: ada" in done(second("show-secret", "-m", "lab", "password", "--reveal"))
    assert done(second("controller", "key", "export")) == key.read_text()
    with second.at_work() as process:
        comes(lambda: f":{process.pid}:" in done(second("controller", "processes")))
        done(second("controller-config", "audit-log-max-backups=7"))
        assert done(first("controller-config", "audit-log-max-backups")).strip() == "7"
        key.chmod(0o644)
        assert process.wait(timeout=60) == 1
    assert "others can read it" in (tmp_path / "two/said").read_text()
    del second.environment["PUSHJUJU_CONTROLLER_KEY_FILE"]
    assert "this host has no key for the controller" in second("models").stderr
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    key.replace(credentials / "controller.key").chmod(0o440)  # as systemd's, with a list of rights
    second.environment["CREDENTIALS_DIRECTORY"] = str(credentials)
    assert "lab" in done(second("models"))
    assert not (root / "controller.key").exists()


def test_a_process_that_is_frozen_was_last_seen_before(pair: tuple[Host, Host]) -> None:
    first, second = pair

    def seen() -> str:
        listed = json.loads(done(first("controller", "processes", "--format", "json")))
        return str(next(item["seen"] for item in listed))

    with second.at_work() as process:
        comes(lambda: f":{process.pid}:" in done(first("controller", "processes")))
        earlier = seen()
        comes(lambda: seen() > earlier)
        os.kill(process.pid, signal.SIGSTOP)
        try:
            stopped = seen()
            remains(lambda: seen() == stopped, 3)
        finally:
            os.kill(process.pid, signal.SIGCONT)
        comes(lambda: seen() > stopped)


def test_a_process_whose_key_is_gone_ends_with_the_error(pair: tuple[Host, Host], tmp_path: Path) -> None:
    _, second = pair
    with second.at_work() as process:
        comes(lambda: f":{process.pid}:" in done(second("controller", "processes")))
        (tmp_path / "two/data/controllers/prod/controller.key").unlink()
        assert process.wait(timeout=60) == 1
    assert "this host has no key for the controller" in (tmp_path / "two/said").read_text()


def test_an_export_that_was_killed_half_way_is_repeated(
    host: Callable[[str], Host], postgres_url: str, tmp_path: Path
) -> None:
    first = host("one")
    done(first("bootstrap", "manual", "prod", "--store", postgres_url, "--insecure-store"))
    vaults = pytest.importorskip("pushjuju.store.postgres.vault", reason="psycopg is not installed")
    root, key = tmp_path / "one/data/controllers/prod", vaults.new_key()
    (root / "controller.key.new").write_text(vaults.key_text(key))
    done(first("models"))
    vaults.Vault(postgres_url, root, key).exchange()  # the key has no name yet
    done(first("models"))
    assert done(first("controller", "key", "export")) == vaults.key_text(key)
    done(first("models"))


def test_a_shared_controller_moves_to_a_file_and_to_another_database(
    pair: tuple[Host, Host], host: Callable[[str], Host], postgres_host: str, tmp_path: Path
) -> None:
    first, second = pair
    done(first("add-model", "shop"))
    done(first("add-secret", "password", "user=ada"))
    done(first("controller", "move", "--to", "file"))
    done(first("models"))
    moved = second("models").stderr
    assert "has moved to a file" in moved
    assert "on another host: pushjuju unregister CONTROLLER, and join its new store" in moved
    third = host("three")
    with databases.database(postgres_host) as url:
        done(first("controller", "move", "--to", url, "--insecure-store"))
        assert "user: ada" in done(first("show-secret", "password", "--reveal"))
        key = ("--insecure-store", "--key-file", "../controller.key")
        done(third("controller", "join", url, *key))
        assert "user: ada" in done(third("show-secret", "-m", "shop", "password", "--reveal"))
        for name in ("one", "three"):
            background.end(tmp_path / name / "data")


def test_the_key_of_a_controller_in_a_file_is_not_exported(host: Callable[[str], Host]) -> None:
    only = host("one")
    done(only("bootstrap", "manual", "prod"))
    refused = only("controller", "key", "export")
    assert refused.returncode
    assert "pushjuju controller move --to postgresql://HOST/DATABASE" in refused.stderr


def test_rows_that_were_exchanged_in_the_database_are_refused(
    pair: tuple[Host, Host], postgres_url: str
) -> None:
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    first, _ = pair
    with psycopg.connect(postgres_url, autocommit=True) as link:
        other = "SELECT sealed FROM pushjuju.vault WHERE name = 'ssh/id_ed25519'"
        link.execute(
            f"UPDATE pushjuju.vault SET version = 9, sealed = ({other}) WHERE name = 'controller.toml'"
        )
    refused = first("models")
    assert refused.returncode
    assert "controller.toml in the store postgresql:" in refused.stderr
    assert "its row was changed" in refused.stderr


def test_only_processes_of_its_pool_work_a_model(pair: tuple[Host, Host], tmp_path: Path) -> None:
    """The machines of the cloud `local` are on one host: the processes of others leave them alone.

    Here both hosts have one name, as two users of one computer have.
    """
    first, second = pair
    done(first("add-model", "here", "local"))
    pool = done(first("model-config", "controller-pool")).strip()
    assert pool == f"{os.uname().nodename}:{tmp_path}/one/data"
    for words in (["add-machine", "-m", "here"], ["destroy-model", "--no-prompt", "here"]):
        assert f"it is in the pool {pool}" in second(*words).stderr
    done(first("model-config", "controller-pool=elsewhere"))
    done(first("add-model", "anywhere", "manual"))
    refused = first("destroy-model", "--no-prompt", "here")
    assert "no process works on the model now: it is in the pool elsewhere" in refused.stderr
    assert "pushjuju controller run    on the host elsewhere" in refused.stderr
    done(first("destroy-model", "--no-prompt", "anywhere"))
    assert "here" in done(second("models"))
    with second.at_work("--pool", "more,elsewhere"):
        comes(lambda: "here" not in done(second("models")))
        assert "elsewhere,more," in done(first("controller", "processes"))


def test_a_command_starts_no_background_process_while_another_host_does_the_work(
    pair: tuple[Host, Host], tmp_path: Path
) -> None:
    first, second = pair
    log = tmp_path / "one/data/controllers/prod/log/controller.log"
    for name in ("busy", "later"):
        done(first("add-model", name, "manual"))
    with second.at_work() as process:
        comes(lambda: f":{process.pid}:" in done(second("controller", "processes")))
        done(first("destroy-model", "--no-prompt", "busy"))
        comes(lambda: "busy" not in done(second("models")))
        assert not log.exists()
    done(first("destroy-model", "--no-prompt", "later"))
    assert log.exists()


def test_completion_knows_what_is_in_the_database(pair: tuple[Host, Host]) -> None:
    first, second = pair
    done(first("add-model", "shop"))
    done(first("add-space", "inner"))
    assert "admin/shop" in done(second("__complete", "zsh", "status", "-m", ""))
    assert "inner" in done(first("__complete", "zsh", "show-space", ""))
    assert second("__complete", "zsh", "show-space", "").stderr == ""


def test_every_statement_of_completion_runs_there(postgres_url: str) -> None:
    words = pytest.importorskip("pushjuju.store.postgres.words", reason="psycopg is not installed")
    Store.open(postgres_url, create=True).close()
    with closing(words.Database(postgres_url)) as database:
        for text in (text for name, text in queries().items() if name.startswith("complete_")):
            asked = dict.fromkeys(re.findall(r"(?<!:):([a-z_]+)", text), "x")
            assert database.execute(text, asked).fetchall() in ([], [("admin",)], [("alpha",)])
