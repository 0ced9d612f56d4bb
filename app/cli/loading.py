"""What comes before the demo is served."""

from app.demo import load_sample
from app.server.serve import AddressTaken, bind
from app.settings import Settings
from db.database import Database

from .output import tell
from .progress import progress
from .wikis import Wiki, find_wiki

HOME = ("harbour-coffee", "mara")
PORTS = 100


async def sample_loaded(database: Database) -> Wiki:
    """The wiki in which the demo begins."""
    await load_sample(database, tell, progress)
    return await find_wiki(database, *HOME)


def quiet(settings: Settings) -> Settings:
    """A person reads along: only what goes wrong is logged, unless the environment wants more."""
    calm = {"log_level": "warning", "log_format": "console"}
    return settings.model_copy(update={k: v for k, v in calm.items() if k not in settings.model_fields_set})


def usable_port(host: str, port: int) -> int:
    """The port, or the next one that is free."""
    for candidate in range(port, min(port + PORTS, 65_536)):
        try:
            bind(host, candidate).close()
        except AddressTaken:
            continue
        if candidate != port:
            tell(f"Port {port} is taken, so this is port {candidate}")
        return candidate
    raise AddressTaken(f"None of the ports {port} to {candidate} on {host} can be used. Choose another with --port.")
