"""What git's HEAD has at a path: read by libgit2, which runs no hook, no filter and no program of the repository.

Only to say where a content came from; whatever stands in the way (no repository, an unborn branch, another owner) is
"not known". Does not look at the index or the work tree.
"""

from __future__ import annotations

import os

from remit.edges.disk.root import Root


def committed(root: Root, path: str) -> str | None:
    """git's blob id of a file below the root as HEAD has it; None where that cannot be said, and where HEAD has it from
    this very file: a commit brought it into git, not git into the file."""
    import pygit2  # not on the way to the first answer

    try:
        found = pygit2.discover_repository(root.name)
        repository = pygit2.Repository(found) if found else None
        if repository is None or repository.workdir is None:
            return None
        inside = os.path.relpath(os.path.join(root.name, path), os.path.realpath(repository.workdir))
        entry = repository.head.peel(pygit2.Tree)[inside.replace(os.sep, "/")]
        last = next(iter(repository.lookup_reference("HEAD").log()), None)
        written = os.stat(path, dir_fd=root.fd, follow_symlinks=False).st_mtime
        if last is not None and last.message.startswith("commit") and last.committer.time >= int(written):
            return None
    except (pygit2.GitError, KeyError, ValueError, OSError):
        return None
    return str(entry.id) if isinstance(entry, pygit2.Blob) else None
