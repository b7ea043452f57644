# Install the extra veil[spark] and Java where that is possible; say so and go on where it is not: tests of Spark are then
# left out.
.venv/bin/pip install --quiet --editable ".[spark]" || true
if ! command -v java > /dev/null && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    { apt-get install --yes --no-install-recommends default-jre-headless ||
        { apt-get update && apt-get install --yes --no-install-recommends default-jre-headless; }; } > /dev/null 2>&1
fi
.venv/bin/python -c "from experiments.spark import missing; print(missing() or 'Spark is installed')"
