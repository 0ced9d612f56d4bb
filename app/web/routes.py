"""The routes of the reader. Each path begins with a fixed word, so that the slug of a wiki never hides another path.

A page is at /wiki/OWNER/TYPE/SLUG. Texts of pages and programs also link to /wiki/TYPE/SLUG, which redirects there.
"""

from starlette.routing import BaseRoute, Route

from .endpoint import Handler, PageEvents, Web, page_route
from .pages import connect, files, home, keys, read, search, share, sources, work, write
from .pages.sign_in import sign_in_routes
from .rendering import FOLDER, send_static

PAGE = "{owner}/{type}/{slug}"
READING: dict[str, Handler] = {
    "/": home.home,
    "/wiki/{owner}": home.home,
    "/pages/{owner}": home.list_pages,
    f"/wiki/{PAGE}.md": read.read_markdown,
    f"/wiki/{PAGE}.json": read.read_json,
    f"/wiki/{PAGE}": read.read_page,
    "/wiki/{type}/{slug}": read.redirect_short_path,
    f"/preview/{PAGE}": read.preview,
    "/attachment/{owner}/{path:path}": files.send_file,
    "/original/{owner}/{id}": files.send_original,
    "/related/{owner}/{id}": read.show_related,
    "/graph/{owner}/{id}": read.show_graph,
    "/search/{owner}": search.results,
    "/suggest/{owner}": search.suggest,
    "/new/{owner}": write.new_page,
    f"/edit/{PAGE}": write.edit_page,
    f"/rename/{PAGE}": write.rename_form,
    f"/archive/{PAGE}": write.archive_form,
    f"/merge/{PAGE}": write.merge_form,
    f"/move/{PAGE}": write.move_form,
    f"/share/{PAGE}": share.share_page,
    f"/history/{PAGE}": write.history,
    "/diff/{owner}/{id}": write.diff,
    "/sources/{owner}": sources.sources,
    "/source/{owner}/{id}": sources.source,
    "/add-source/{owner}": sources.source_form,
    "/forget/{owner}/{id}": sources.forget_form,
    "/work/{owner}": work.work,
    "/keys/{owner}": keys.keys_page,
    "/proposals/{owner}": work.proposals,
    "/proposal/{owner}/{id}": work.proposal_page,
    "/connect": connect.show_consent,
    "/programs": connect.own_programs,
    "/programs/{owner}": connect.programs,
}
WRITING: dict[str, Handler] = {
    "/new/{owner}": write.create,
    "/render/{owner}": write.preview_text,
    "/paste/{owner}": write.convert_pasted_html,
    f"/edit/{PAGE}": write.save,
    f"/rename/{PAGE}": write.rename,
    f"/archive/{PAGE}": write.archive,
    f"/merge/{PAGE}": write.merge_pages,
    f"/move/{PAGE}": write.move_page,
    f"/share/{PAGE}": share.share,
    f"/withdraw-share/{PAGE}": share.withdraw,
    f"/unarchive/{PAGE}": write.unarchive,
    "/restore/{owner}/{id}": write.restore,
    "/forget/{owner}/{id}": sources.forget,
    "/keys/{owner}": keys.make_key,
    "/rotate-key/{owner}": keys.rotate_key,
    "/revoke-key/{owner}": keys.revoke_key,
    "/resolve/{owner}": work.resolve,
    "/ignore/{owner}": work.ignore,
    "/accept/{owner}/{id}": work.accept,
    "/decline/{owner}/{id}": work.decline,
    "/withdraw/{owner}/{id}": work.withdraw,
    "/connect": connect.decide,
    "/programs/{owner}": connect.disconnect,
}


def web_routes(web: Web) -> list[BaseRoute]:
    return [
        Route(f"{FOLDER}/{{name}}", send_static),
        *sign_in_routes(web),
        share.shared_route(web),
        Route("/follow/{id}", PageEvents(web), methods=["GET"]),
        *(page_route(web, path, handle) for path, handle in READING.items()),
        *(page_route(web, path, handle, "POST") for path, handle in WRITING.items()),
        page_route(web, "/file-text/{owner}", sources.file_text, "POST", takes="file"),
        page_route(web, "/add-source/{owner}", sources.add_source, "POST", takes="upload"),
    ]
