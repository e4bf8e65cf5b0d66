#!/bin/sh
# Creates the users that the services of compose.yaml need: an admin for people, and a viewer for
# Prometheus with a token. Later starts change nothing.
set -eu

PGPASSWORD="$(cat /run/secrets/postgres_password)"
export PGPASSWORD
token=/var/lib/ssdpt-tokens/prometheus

user() {
  action="$1"
  shift
  ssdpt --quiet user "$action" "$@" --data /var/lib/ssdpt --store "$STORE"
}

exists() {
  user list | grep -q "^$1 "
}

exists admin || user add admin --role admin --password-file /run/secrets/admin_password

if ! exists prometheus; then
  # A random password that nobody knows: the user signs in by token only.
  python -c 'import secrets; print(secrets.token_hex(32))' |
    user add prometheus --role viewer --password-file -
fi

if [ ! -s "$token" ]; then
  user token prometheus >"$token.new"
  mv "$token.new" "$token"
fi
