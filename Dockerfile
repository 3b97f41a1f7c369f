# The image of mergeq: Debian with git, Node and the files of the npm package, without npm and without root.
#
#     docker build --tag mergeq .
#     docker run --rm --env MERGEQ_TOKEN --volume "$PWD:/work" mergeq pr get 7

FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
WORKDIR /source
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build \
  && npm pack --ignore-scripts --pack-destination /tmp \
  && mkdir /package \
  && tar --extract --gzip --file /tmp/mergeq-*.tgz --directory /package --strip-components 1 --no-same-owner

FROM debian:bookworm-20260918-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251
LABEL org.opencontainers.image.title="mergeq" \
  org.opencontainers.image.description="Command line for a merge queue and its flaky tests" \
  org.opencontainers.image.source="https://github.com/mergeq/mergeq" \
  org.opencontainers.image.licenses="MIT"
# Debian removes old versions of its packages: a build with exact versions would fail later.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git libstdc++6 \
  && rm -rf /var/lib/apt/lists/* \
  && git config --system --add safe.directory /work \
  && useradd --uid 1000 --create-home mergeq
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /usr/local/LICENSE /usr/local/share/doc/node/LICENSE
COPY --from=build /package /opt/mergeq
RUN ln -s /opt/mergeq/bin/mergeq.js /usr/local/bin/mergeq
ENV LANG=C.UTF-8
USER 1000:1000
WORKDIR /work
ENTRYPOINT ["mergeq"]
CMD ["--help"]
