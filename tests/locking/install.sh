# What `make test-registry` needs besides Python: a registry and skopeo, from the distribution.
set -e
for name in docker-registry skopeo; do
    command -v "$name" >/dev/null && continue
    echo "installing $name"
    apt-get update -qq && apt-get install -y -qq "$name"
done
