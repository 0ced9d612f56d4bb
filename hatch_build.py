"""The wheel's build: GraphiQL's files, which git does not hold, are fetched and checked before they are packed."""

import os
import runpy
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WITHOUT = "CAIRN_WHEEL_WITHOUT_GRAPHIQL"


class GraphiqlFiles(BuildHookInterface[Any]):
    """Sees to it that no wheel lacks GraphiQL's files unless its builder said so."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects files. An editable install takes none, so it fetches none."""
        if version == "editable" or os.environ.get(WITHOUT) == "1":
            return
        # Run by path: in an isolated build nothing that Cairn imports is installed.
        assets = runpy.run_path(str(Path(self.root, "app", "graphiql", "assets.py")))
        try:
            assets["fetch"](lambda line: print(line, file=sys.stderr, flush=True))
        except assets["AssetError"] as error:
            sys.exit(f"{error}.\nTo build a wheel whose GraphiQL page uses a CDN instead, set {WITHOUT}=1.")
