"""Preloads modules for processes that are forked for tests, and exempts them from garbage collection."""

import gc
from importlib import import_module

MODULES = (
    "app.asgi", "app.cli.program", "app.cli.session", "app.cli.indexes", "app.cli.demo_wikis",
    "app.worker", "resolvers.archives.backups", "resolvers.archives.moves", "resolvers.sources.moving_files",
    "resolvers.import_export.export_files", "tests.compiler.killed.crashing_worker", "tests.forked",
    "tests.resolvers.ingest.ingest_process", "tests.resolvers.sync.killable_sync", "tests.resolvers.webhooks.processes",
)  # fmt: skip

gc.disable()
for module in MODULES:
    import_module(module)
gc.collect()
gc.freeze()
gc.enable()
