# GraphiQL's files from npm, each checked against its hash.
FROM node:22-alpine AS graphiql
RUN apk add --no-cache python3
COPY app/graphiql/assets.py /graphiql/
RUN python3 /graphiql/assets.py

# The wheel, and a virtual environment with it and its pinned dependencies.
FROM python:3.13-slim AS build
RUN python -m venv /opt/cairn && pip install --no-cache-dir 'hatchling>=1.33'
WORKDIR /source
COPY . .
COPY --from=graphiql /graphiql/assets app/graphiql/assets
RUN python -m hatchling build --target wheel \
 && /opt/cairn/bin/pip install --no-cache-dir --constraint constraints.txt dist/*.whl

FROM python:3.13-slim
RUN useradd --system --user-group --uid 10001 --home-dir /data cairn \
 && install --directory --owner cairn --group cairn --mode 0700 /data
COPY --from=build /opt/cairn /opt/cairn
ENV PATH=/opt/cairn/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    CAIRN_DATA_DIR=/data
USER cairn
WORKDIR /data
VOLUME /data
EXPOSE 8000
# The slim image has no curl.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["cairn"]
CMD ["serve", "--host", "0.0.0.0"]
