# The charm's code, which hooks/* and actions/* source; the working directory is the charm directory.
# HELLO_PREFIX is put before every path outside the charm directory, to run hooks by hand.

set -euo pipefail

readonly SERVICE="page-${JUJU_UNIT_NAME//\//-}"
readonly PAGES="${HELLO_PREFIX:-}/srv/$SERVICE"
readonly UNIT_FILE="${HELLO_PREFIX:-}/etc/systemd/system/$SERVICE.service"

escape() { sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g' -e 's/"/\&quot;/g'; }

# --- what the page says ---

list_item() { printf '<li>%s</li>\n' "$(printf '%s' "$*" | escape)"; }

# Prints one line for each remote unit of an endpoint: ADDRESS PORT UNIT.
addresses_of() {
  local endpoint=$1 id unit address port
  for id in $(relation-ids "$endpoint"); do
    for unit in $(relation-list -r "$id"); do
      address=$(relation-get -r "$id" hostname "$unit")
      port=$(relation-get -r "$id" port "$unit")
      [ -z "$address" ] || echo "$address ${port:-80} $unit"
    done
  done
}

leader_name() {
  local id
  for id in $(relation-ids cluster); do
    relation-get -r "$id" --app leader "$JUJU_UNIT_NAME" 2>/dev/null || true
  done
}

secret_keys() {
  local token=$1
  secret-get "$token" --refresh --format json | python3 -c 'import json, sys; print(*json.load(sys.stdin))'
}

page() {
  local greeting refresh banner token address port unit key leader
  greeting=$(config-get greeting)
  refresh=$(config-get refresh)
  banner=$(config-get banner)
  token=$(config-get token)
  leader=$(leader_name)
  echo '<!DOCTYPE html><html><head><meta charset="utf-8">'
  case $refresh in 0 | 0.0 | '') ;; *) echo "<meta http-equiv=\"refresh\" content=\"$refresh\">" ;; esac
  echo '<title>hello-page</title></head><body>'
  printf '<h1>%s, I am %s</h1>\n' "$(printf '%s' "$greeting" | escape)" "$JUJU_UNIT_NAME"
  [ -z "$leader" ] || printf '<p>Leader: %s</p>\n' "$leader"
  echo '<h2>Peers</h2><ul>'
  while read -r address port unit; do list_item "$unit at $address:$port"; done < <(addresses_of cluster)
  echo '</ul><h2>Backends</h2><ul>'
  while read -r address port unit; do list_item "$unit at $address:$port"; done < <(addresses_of backend)
  echo '</ul>'
  if [ -n "$token" ]; then
    echo '<h2>Keys of the token</h2><ul>'
    for key in $(secret_keys "$token"); do list_item "$key"; done
    echo '</ul>'
  fi
  case $banner in [Tt]rue) echo '<p>Served by the charm hello-page.</p>' ;; esac
  echo '</body></html>'
}

write_page() {
  mkdir -p "$PAGES"
  page > "$PAGES/.index.html"
  mv "$PAGES/.index.html" "$PAGES/index.html"
  chmod 755 "$PAGES"
}

# --- the service ---

service_text() {
  cat << END
[Unit]
Description=hello-page of $JUJU_UNIT_NAME
After=network.target
# Each new port restarts the service; a user may try many ports in a row.
StartLimitIntervalSec=0

[Service]
ExecStart=/usr/bin/python3 -m http.server --directory $PAGES $1
DynamicUser=yes
AmbientCapabilities=CAP_NET_BIND_SERVICE
Restart=on-failure
RestartSec=1

[Install]
WantedBy=multi-user.target
END
}

# Writes the service for a port; true when it changed.
write_service() {
  local wanted
  wanted=$(service_text "$1")
  [ ! -e "$UNIT_FILE" ] || [ "$(cat "$UNIT_FILE")" != "$wanted" ] || return 1
  mkdir -p "${UNIT_FILE%/*}"
  printf '%s\n' "$wanted" > "$UNIT_FILE"
  systemctl daemon-reload
}

# Starts or restarts the service; the log says why when it cannot.
service() {
  systemctl "$1" "$SERVICE" && return
  juju-log --log-level ERROR "cannot $1 $SERVICE: $(systemctl show --property Result --value "$SERVICE")"
  journalctl --unit "$SERVICE" --lines 5 --output cat --no-pager >&2
  return 1
}

open_only() {
  local port=$1 old
  old=$(state-get port)
  [ -z "$old" ] || [ "$old" = "$port" ] || close-port "$old/tcp"
  open-port "$port/tcp"
  state-set port="$port"
}

serve() {
  local port
  port=$(config-get port)
  if [ "$port" -lt 1 ] || [ "$port" -gt 65535 ]; then
    status-set blocked "port $port is not between 1 and 65535"
    return
  fi
  write_page
  if write_service "$port"; then
    systemctl enable --quiet "$SERVICE"
    service restart
  else
    service start
  fi
  open_only "$port"
  publish "$port"
  report
}

report() {
  if systemctl is-active --quiet "$SERVICE"; then
    status-set active "serving on port $(config-get port)"
  else
    status-set blocked "service $SERVICE is not running"
  fi
}

# --- relations ---

publish() {
  local port=$1 endpoint id address
  address=$(unit-get private-address)
  for endpoint in website cluster; do
    for id in $(relation-ids "$endpoint"); do
      relation-set -r "$id" hostname="$address" private-address="$address" port="$port"
    done
  done
  if [ "$(is-leader)" = True ]; then
    for id in $(relation-ids cluster); do relation-set -r "$id" --app leader="$JUJU_UNIT_NAME"; done
  fi
}

# --- hooks ---

on_install() {
  status-set maintenance "writing the page"
  application-version-set 1.0
  write_page
}

on_stop() {
  systemctl stop "$SERVICE" 2>/dev/null || true
  status-set maintenance "stopped"
}

on_remove() {
  systemctl disable --quiet --now "$SERVICE" 2>/dev/null || true
  rm -rf "$PAGES" "$UNIT_FILE"
  systemctl daemon-reload
}

on_update_status() {
  report
}

# A unit of a relation came, changed or left: write the page with its name.
on_relation() {
  juju-log "${JUJU_HOOK_NAME}: ${JUJU_REMOTE_UNIT:-no unit} of ${JUJU_REMOTE_APP:-nobody}"
  # Before the first config-changed there is no page to update.
  [ -e "$UNIT_FILE" ] || return 0
  serve
}

run_hook() {
  case $1 in
    install) on_install ;;
    stop) on_stop ;;
    remove) on_remove ;;
    update-status) on_update_status ;;
    *-relation-*) on_relation ;;
    start | config-changed | upgrade-charm | leader-* | secret-*) serve ;;
    *) juju-log "nothing to do in $1" ;;
  esac
}
