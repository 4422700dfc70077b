# Bertscope on CPU, as an ordinary user; the same lock as run.py. Volumes: /data/checkpoints, /data/lessons, /data/runs.
FROM python:3.13-slim-bookworm

# PyTorch's index of CPU builds, as its install page names it; empty takes what the default index gives
ARG TORCH_INDEX=""

ENV PYTHONUNBUFFERED=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    BERTSCOPE_RUNS=/data/runs

RUN useradd --create-home --uid 1000 bertscope \
    && mkdir -p /data/checkpoints /data/lessons /data/runs \
    && chown -R bertscope /data

WORKDIR /opt/bertscope
COPY requirements.txt ./
RUN if [ -n "$TORCH_INDEX" ]; then \
        pip install --index-url "$TORCH_INDEX" "$(grep -o '^torch==[0-9.]*' requirements.txt)"; \
    fi \
    && pip install -r requirements.txt

COPY pyproject.toml README.md LICENSE NOTICE ./
COPY bertscope ./bertscope
COPY model ./model
COPY probes ./probes
COPY app ./app
RUN pip install --no-deps .

USER 1000
WORKDIR /data
VOLUME ["/data/checkpoints", "/data/lessons", "/data/runs"]
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["bertscope", "app", "--host", "0.0.0.0", "--port", "8501", "--no-browser"]
