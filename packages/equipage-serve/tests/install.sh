#!/bin/sh
# What `make test-serve` needs besides Python packages: PHP, Node.js, bubblewrap, and the programs
# that play the client. Packages of npm go into a folder of this repository.
set -e
for pair in php:php-cli node:nodejs npm:npm bwrap:bubblewrap; do
	command -v "${pair%%:*}" >/dev/null || apt-get install -y "${pair#*:}"
done
mkdir -p .test-serve
cd .test-serve
test -e package.json || echo '{"private": true}' >package.json
# The suite needs Node.js 22; where the system has an older one, npm has a newer one.
newer=$(node -p 'Number(process.versions.node.split(".")[0]) >= 22 ? "" : `node-${process.platform}-${process.arch}@24`')
test -e .installed && test "$(cat .installed)" = "$newer" || {
	npm install --no-audit --no-fund --silent $newer \
		@modelcontextprotocol/conformance@0.2.0-alpha.12 \
		@modelcontextprotocol/inspector@2.12.0 \
		@modelcontextprotocol/client@2.4.0
	echo "$newer" >.installed
}
