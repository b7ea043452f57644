# Install PostgreSQL's server where that is possible; say so and go on where it is not: its tests are then left out.
if .venv/bin/python -c "import sys; from experiments.postgres import missing; sys.exit(bool(missing()))"; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    { apt-get install --yes --no-install-recommends postgresql ||
        { apt-get update && apt-get install --yes --no-install-recommends postgresql; }; } > /dev/null 2>&1
fi
.venv/bin/python -c "from experiments.postgres import missing; print(missing() or 'PostgreSQL is installed')"
