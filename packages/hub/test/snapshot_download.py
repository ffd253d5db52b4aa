"""Downloads a model with huggingface_hub, or finds it in the cache: snapshot_download.py <name> <revision> <pattern>...

HF_ENDPOINT, HF_HUB_CACHE and HF_HUB_OFFLINE come from the environment. Prints the path of the snapshot as JSON, with the version
of the library.
"""

import json
import sys

import huggingface_hub

name, revision, *patterns = sys.argv[1:]
path = huggingface_hub.snapshot_download(name, revision=revision, allow_patterns=patterns or None)
print(json.dumps({"path": path, "version": huggingface_hub.__version__}))
