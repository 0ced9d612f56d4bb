# Fetches GraphiQL's files from npm and checks their hashes.
FROM node:22-alpine AS graphiql
RUN apk add --no-cache python3
COPY app/graphiql/assets.py /graphiql/
RUN python3 /graphiql/assets.py

# Builds the wheel, and a virtual environment with the wheel and its pinned dependencies.
FROM python:3.13-slim AS build
# Extras of the package to install, separated by commas, such as telemetry,models
ARG EXTRAS=""
RUN python -m venv /opt/cairn && pip install --no-cache-dir 'hatchling>=1.33'
WORKDIR /source
COPY . .
COPY --from=graphiql /graphiql/assets app/graphiql/assets
RUN python -m hatchling build --target wheel \
 && /opt/cairn/bin/pip install --no-cache-dir --constraint constraints.txt "$(ls dist/*.whl)${EXTRAS:+[$EXTRAS]}"

FROM python:3.13-slim
RUN groupadd --system --gid 10001 cairn \
 && useradd --system --gid 10001 --uid 10001 --home-dir /data cairn \
 && install --directory --owner cairn --group cairn --mode 0700 /data
COPY --from=build /opt/cairn /opt/cairn
ENV PATH=/opt/cairn/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    CAIRN_DATA_DIR=/data
# As a number, so that an orchestrator can verify that the user is not root.
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
# In Python, because the slim image has no curl.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ.get(\"CAIRN_PORT\", 8000)}/healthz', timeout=4)"]
ENTRYPOINT ["cairn"]
CMD ["serve", "--host", "0.0.0.0"]
