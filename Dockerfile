# syntax=docker/dockerfile:1

# The server, for CPUs. /data holds the database, built models and checkpoints, /cache what is downloaded from the Hub.
#   docker build --tag ortler .
#   docker run --publish 127.0.0.1:8000:8000 --volume ortler-data:/data --volume ortler-cache:/cache ortler

FROM node:24-bookworm-slim AS build
WORKDIR /source
COPY . .
RUN node scripts/run.mjs setup
# The server with the packages that it runs on, and of ONNX Runtime what is for this platform.
RUN node .tools/node_modules/pnpm/bin/pnpm.mjs --filter @ortler/server deploy --prod --legacy /out/apps/server \
 && find /out/apps/server/node_modules/.pnpm/onnxruntime-node@*/node_modules/onnxruntime-node/bin \
      -mindepth 3 -maxdepth 3 -type d ! -path "*/linux/$(node -p process.arch)" -exec rm -r {} +

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    HF_HOME=/cache/huggingface \
    ORTLER_DATA_DIR=/data \
    ORTLER_HOST=0.0.0.0
RUN mkdir /data /cache && chown 1000:1000 /data /cache
COPY --from=build /out /app
WORKDIR /app
USER 1000:1000
VOLUME ["/data", "/cache"]
EXPOSE 8000
# An empty setting means the default, as in the server; so does the link of a container or a service (tcp://...).
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${parseInt(process.env.ORTLER_PORT) || 8000}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "apps/server/dist/cli.js", "serve"]
