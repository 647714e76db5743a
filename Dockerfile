# One image for web, worker and GPU worker; the compose file says which of them a container is.
ARG PYTHON_IMAGE=python:3.11.16-slim@sha256:9534e5a8e315485d4061ed659af0fd78a284c015f9b73661b41d6bab25604534
FROM ${PYTHON_IMAGE}

# On machines without a GPU, an index with PyTorch's CPU builds saves gigabytes.
ARG PIP_EXTRA_INDEX_URL=""
# The commit, since the image is built without the repository's history.
ARG STEREOSCOPE_REVISION=""

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONPATH=/app:/app/platform \
    DJANGO_SETTINGS_MODULE=stereoscope.settings \
    STEREOSCOPE_REVISION=${STEREOSCOPE_REVISION} \
    STATIC_MANIFEST=true \
    STATIC_ROOT=/app/collected \
    DOCS_ROOT=/app/site/docs \
    VAR_DIR=/var/lib/stereoscope \
    HF_HOME=/var/lib/stereoscope/models \
    XDG_CACHE_HOME=/tmp/cache

# Reports as PDF are set with Pango and drawn with these fonts.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
      libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 fonts-liberation \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --system --uid 10001 --create-home stereoscope \
    && mkdir -p /var/lib/stereoscope /app/collected /app/site \
    && chown stereoscope: /var/lib/stereoscope /app/collected /app/site
WORKDIR /app

COPY requirements.txt constraints.txt ./
RUN pip install --no-cache-dir --requirement requirements.txt --constraint constraints.txt

COPY --chown=stereoscope: . .
USER stereoscope
# The key serves these two commands; a container gets its own from the environment.
RUN SECRET_KEY=build VAR_DIR=/tmp/build python manage.py collectstatic --no-input --verbosity 0 \
    && SECRET_KEY=build VAR_DIR=/tmp/build python manage.py build_docs \
    && rm -rf /tmp/build

VOLUME /var/lib/stereoscope
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health/live', timeout=4)"]
CMD ["gunicorn", "--config", "python:stereoscope.server", "--bind", "0.0.0.0:8000"]
