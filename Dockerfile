# The monitoring service as an image:
#
#   docker build --tag ssdpt .
#   docker run --rm --publish 127.0.0.1:8765:8765 --volume ssdpt:/var/lib/ssdpt \
#     --volume ./config:/etc/ssdpt:ro ssdpt
#
# /etc/ssdpt/monitor.yaml is the configuration; /var/lib/ssdpt holds history, recordings and learned
# models. deploy/compose.yaml runs it beside a database, a broker and dashboards; docs/how-to/service.md
# explains the rest.
#
# torch: on x86-64 the usual index has a build with libraries for GPUs, some gigabytes that monitoring
# does not need. Give pip the index of torch's CPU builds, or a folder of wheels, and it selects the
# CPU build by itself: constraints.txt names the version without the part behind the plus sign, and
# 2.13.0+cpu counts as newer than 2.13.0.
#
#   docker build --tag ssdpt --build-arg PIP_ARGS="--extra-index-url ADDRESS" .

FROM python:3.11-slim AS build
ARG PIP_ARGS=""
WORKDIR /build
RUN python -m venv /opt/ssdpt
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
    /opt/ssdpt/bin/python -m pip install --no-cache-dir --disable-pip-version-check $PIP_ARGS \
    '.[serve,postgres,stream,notify,opcua,voice]'

FROM python:3.11-slim
COPY --from=build /opt/ssdpt /opt/ssdpt
# A number instead of a name: orchestrators can see that it is not root. The second folder is for
# tokens that other services read.
RUN install -d -m 700 -o 10001 -g 10001 /var/lib/ssdpt && \
    install -d -m 755 -o 10001 -g 10001 /var/lib/ssdpt-tokens
# Temporary files go to /tmp, which may be memory.
ENV PATH=/opt/ssdpt/bin:$PATH HOME=/var/lib/ssdpt SSDPT_CACHE=/tmp/ssdpt-cache
WORKDIR /var/lib/ssdpt
USER 10001:10001
VOLUME /var/lib/ssdpt
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8765/healthz', timeout=4)"]
ENTRYPOINT ["ssdpt"]
CMD ["serve", "--config", "/etc/ssdpt/monitor.yaml", "--data", "/var/lib/ssdpt", "--host", "0.0.0.0"]
