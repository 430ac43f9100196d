#!/bin/sh
# Installs the editors that the tests start, where that can be done without asking: as root on Debian and its kin.
# Elsewhere the tests of whatever is not there are skipped, and say so.
set -eu

packages='neovim emacs-nox elpa-eglot elpa-lsp-mode vim vim-ale'

if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
  echo "editors are installed only as root on Debian and its kin: tests of those that are not there will be skipped"
  exit 0
fi
# Without the quotes: each package is a word of its own.
if dpkg-query --show --showformat='${db:Status-Abbrev}\n' $packages 2>/dev/null | grep -c '^ii' | grep -qx 6; then
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
options='-qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3'
if ! { apt-get $options update && apt-get $options install --yes --no-install-recommends $packages >/dev/null; }; then
  echo "the editors could not be installed: tests of those that are not there will be skipped" >&2
fi
