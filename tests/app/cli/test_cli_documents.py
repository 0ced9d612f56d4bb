"""`cairn documents` checks and adds trusted documents."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from app.cli.program import main

GOOD = "query Me { viewer { role } }"
BAD = "{ nothingLikeThat }"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAIRN_DOCUMENTS_DIR", raising=False)


def test_a_folder_is_checked_against_the_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "good.graphql").write_text(GOOD)
    assert main(["documents", "check", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "1 documents, 0 errors.\n"
    (tmp_path / "app.json").write_text(json.dumps({"bad": BAD, "deep": "{ a " * 20, "0" * 64: GOOD}))
    assert main(["documents", "check", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert f"{tmp_path / 'app.json'}: bad: Cannot query field 'nothingLikeThat' on type 'Query'." in out
    assert out.endswith("3 documents, 3 errors.\n")
    assert main(["documents", "check", str(tmp_path), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["documents"], {fault["id"] for fault in report["faults"]}) == (3, {"bad", "deep", "0" * 64})


def test_a_persisted_documents_file_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Code generators write `persisted-documents.json` among other files."""
    manifest = tmp_path / "persisted-documents.json"
    manifest.write_text(json.dumps({sha256(GOOD.encode()).hexdigest(): GOOD}))
    (tmp_path / "bad.graphql").write_text(BAD)
    assert main(["documents", "check", str(manifest)]) == 0
    assert capsys.readouterr().out == "1 documents, 0 errors.\n"
    manifest.write_text("[")
    assert main(["documents", "check", str(manifest)]) == 1
    assert capsys.readouterr().out.startswith(f"{manifest}: cannot be read: ")
    assert main(["documents", "check", str(tmp_path / "none")]) == 1
    assert "there is no such file or folder." in capsys.readouterr().out


def test_documents_are_added_under_their_hash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "me.graphql").write_text(GOOD)
    folder, digest = tmp_path / "trusted", sha256(GOOD.encode()).hexdigest()
    for _ in range(2):
        assert main(["documents", "add", str(folder), str(tmp_path / "me.graphql"), "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == [{"file": str(tmp_path / "me.graphql"), "id": f"sha256:{digest}"}]
    assert [(file.name, file.read_text()) for file in folder.iterdir()] == [(f"{digest}.graphql", GOOD)]
    assert main(["documents", "check", str(folder)]) == 0


def test_no_document_is_added_if_any_is_invalid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "good.graphql").write_text(GOOD)
    (tmp_path / "bad.graphql").write_text(BAD)
    (tmp_path / "latin.graphql").write_bytes(b"\xe9")
    for name, words in (("bad", "nothingLikeThat"), ("latin", "UTF-8"), ("none", "No such file")):
        files = [str(tmp_path / f"{file}.graphql") for file in ("good", name)]
        assert main(["documents", "add", str(tmp_path / "trusted"), *files]) == 1
        assert words in capsys.readouterr().err
    assert not (tmp_path / "trusted").exists()


@pytest.mark.parametrize("id", [5, None, True])
def test_a_manifest_with_an_id_that_is_no_text_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], id: object
) -> None:
    operations = [{"id": id, "body": "{ __typename }"}, {"id": "ok", "body": "{ __typename }"}]
    manifest = {"format": "apollo-persisted-query-manifest", "version": 1, "operations": operations}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert main(["documents", "check", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "manifest.json: cannot be read: an id of this manifest is not a text." in out
    assert "0 documents, 1 errors." in out
