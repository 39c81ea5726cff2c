"""More proposals of the kinds that the folders of `tests/cases` show one or two of, each under the id of its kind.

Written for these tests; the folders are what others have sent in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from folders import Proposed, Tree


def unified(path: str, *hunks: str) -> str:
    return f"--- a/{path}\n+++ b/{path}\n" + "".join(hunks)


def envelope(path: str, *lines: str) -> str:
    body = "".join(f"{line}\n" for line in lines)
    return f"*** Begin Patch\n*** Update File: {path}\n{body}*** End Patch\n"


def _patch(name: str, before: Tree, patch: str, wanted: str | Tree, **more: Any) -> Proposed:
    return Proposed(name, before, {"patch": patch}, wanted, **more)


def _edit(name: str, path: str, before: bytes, search: str, replace: str, wanted: str | bytes, **more: Any) -> Proposed:
    edits = [{"path": path, "search": search, "replace": replace, **more.pop("edit", {})}]
    after: str | Tree = wanted if isinstance(wanted, str) else {path: wanted}
    return Proposed(name, {path: before}, {"edits": edits}, after, **more)


def _whole(name: str, path: str, before: bytes, content: str, wanted: str | bytes, **more: Any) -> Proposed:
    after: str | Tree = wanted if isinstance(wanted, str) else {path: wanted}
    return Proposed(name, {path: before}, {"files": [{"path": path, "content": content}]}, after, **more)


TWELVE = "".join(f"l{n}\n" for n in range(1, 13)).encode()
CLASSES = b"class A:\n    def f(self):\n        pass\n\nclass B:\n    def f(self):\n        pass\n"
SHOP = b"caf\xe9 \x96 5\x80\r\nqty = 1\r\n"
SPACED = "my dir/my file.txt"

PARSING = [
    _patch(
        "DP-01 in an envelope",
        {"m.vim": b"let a = 1\n"},
        envelope("m.vim", "@@", " let a = 1", "+x\ry\x1bz"),
        {"m.vim": b"let a = 1\nx\ry\x1bz\n"},
    ),
    _edit("DP-01 by search", "m.vim", b"a\rb\nc\n", "a\rb", "a\r\x07b", b"a\r\x07b\nc\n"),
    _patch(
        "DP-02 in old lines",
        {"s.txt": "a\x0bb\u2029c\nx\x1cy\x85z\nend\n".encode()},
        unified("s.txt", "@@ -1,3 +1,2 @@\n a\x0bb\u2029c\n-x\x1cy\x85z\n end\n"),
        {"s.txt": "a\x0bb\u2029c\nend\n".encode()},
    ),
    _whole("DP-02 as a whole", "s.txt", "a\u2028b\n".encode(), "a\u2028b\x0c\nc\n", "a\u2028b\x0c\nc\n".encode()),
    _patch(
        "DP-03 a move",
        {"d\u00e9.txt": b"1\n"},
        'diff --git "a/d\\303\\251.txt" "b/\\"e\\" \\303\\251.txt"\nsimilarity index 100%\n'
        'rename from "d\\303\\251.txt"\nrename to "\\"e\\" \\303\\251.txt"\n',
        {'"e" \u00e9.txt': b"1\n"},
    ),
    _patch(
        "DP-04 a move and a change",
        {SPACED: b"1\n2\n3\n"},
        f"diff --git a/{SPACED} b/my dir/other file.txt\nsimilarity index 60%\nrename from {SPACED}\n"
        f"rename to my dir/other file.txt\n--- a/{SPACED}\t\n+++ b/my dir/other file.txt\t\n"
        "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n",
        {"my dir/other file.txt": b"1\ntwo\n3\n"},
    ),
    _patch(
        "DP-04 a deletion",
        {SPACED: b"1\n", "keep": b"k\n"},
        f"diff --git a/{SPACED} b/{SPACED}\ndeleted file mode 100644\n--- a/{SPACED}\t\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-1\n",
        {"keep": b"k\n"},
    ),
    _patch(
        "DP-05 two moves in a mail",
        {"a.txt": b"a\n", "b.txt": b"b\n"},
        "From 0 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] move\n\n---\n a.txt => c.txt | 0\n\n"
        "diff --git a/a.txt b/c.txt\nsimilarity index 100%\nrename from a.txt\nrename to c.txt\n"
        "diff --git a/b.txt b/d.txt\nsimilarity index 100%\nrename from b.txt\nrename to d.txt\n-- \n2.39.5\n\n",
        {"c.txt": b"a\n", "d.txt": b"b\n"},
    ),
    _patch(
        "DP-06 only an empty creation",
        {"x": b"x\n"},
        "diff --git a/p/__init__.py b/p/__init__.py\nnew file mode 100644\nindex 0000000..e69de29\n",
        {"x": b"x\n", "p/__init__.py": b""},
    ),
    _patch(
        "DP-07 mode and text of one file",
        {"run.sh": b"#!/bin/sh\na\n"},
        "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
        "--- a/run.sh\n+++ b/run.sh\n@@ -1,2 +1,2 @@\n #!/bin/sh\n-a\n+b\n",
        {"run.sh": b"#!/bin/sh\nb\n"},
        modes={"run.sh": 0o755},
    ),
    _patch(
        "DP-07 a new executable",
        {"x": b"x\n"},
        "diff --git a/t.sh b/t.sh\nnew file mode 100755\n--- /dev/null\n+++ b/t.sh\n@@ -0,0 +1 @@\n+#!/bin/sh\n",
        {"x": b"x\n", "t.sh": b"#!/bin/sh\n"},
        modes={"t.sh": 0o755},
    ),
    _patch(
        "DP-08 at both ends of a hunk",
        {"b.py": b"\na\n\nb\n\nc\n"},
        unified("b.py", "@@ -1,5 +1,5 @@\n\n a\n\n-b\n+B\n\n"),
        {"b.py": b"\na\n\nB\n\nc\n"},
    ),
    _patch(
        "DP-09 no counts for many lines",
        {"t.txt": b"red\ngreen\nblue\n"},
        unified("t.txt", "@@ -1 +1 @@\n red\n-green\n+GREEN\n blue\n"),
        {"t.txt": b"red\nGREEN\nblue\n"},
    ),
    _patch(
        "DP-10 lines like both headers at once",
        {"q.sql": b"-- a/q.sql\nselect 1;\n"},
        unified("q.sql", "@@ -1,2 +1,2 @@\n--- a/q.sql\n+++ b/q.sql\n select 1;\n"),
        {"q.sql": b"++ b/q.sql\nselect 1;\n"},
    ),
    _patch(
        "DP-11 a creation and a deletion",
        {"old": b"x"},
        "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n"
        "\\ No newline at end of file\ndiff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n",
        {"new": b"n"},
    ),
    _patch(
        "DP-12 a fence around a diff",
        {"app.py": b"a = 1\n"},
        "Here it is:\n```diff\n" + unified("app.py", "@@ -1 +1 @@\n-a = 1\n+a = 2\n") + "```\n",
        {"app.py": b"a = 2\n"},
    ),
    _patch(
        "DP-13 a new binary",
        {"r.txt": b"1\n"},
        "diff --git a/x.png b/x.png\nnew file mode 100644\nindex 0000000..1111111\n"
        "Binary files /dev/null and b/x.png differ\n" + unified("r.txt", "@@ -1 +1 @@\n-1\n+2\n"),
        "binary_patch",
    ),
    _patch(
        "DP-14 a real folder b and no prefix",
        {"b/x.txt": b"1\n", "o/y.txt": b"1\n"},
        "diff --git b/x.txt b/x.txt\n--- b/x.txt\n+++ b/x.txt\n@@ -1 +1 @@\n-1\n+2\n",
        {"b/x.txt": b"2\n", "o/y.txt": b"1\n"},
    ),
    _patch(
        "DP-15 a new byte of an old kind",
        {"t.dat": b"a\xe9b\x01\nend\n"},
        unified("t.dat", "@@ -1,2 +1,2 @@\n-aéb\x01\n+éab\x02\n end\n"),
        {"t.dat": b"\xe9ab\x02\nend\n"},
    ),
    _patch(
        "DP-15 beside real UTF-8",
        {"t.dat": b"a\xe9b \xc3\xa9\nend\n"},
        unified("t.dat", "@@ -1,2 +1,2 @@\n a\uf7e9b é\n-end\n+END\n"),
        {"t.dat": b"a\xe9b \xc3\xa9\nEND\n"},
    ),
]

PLACING = [
    _edit(
        "PL-01 as often as it is said",
        "m.py",
        b"x = 1\ny\nx = 1\n",
        "x = 1",
        "x = 2",
        b"x = 2\ny\nx = 2\n",
        edit={"count": 2},
    ),
    _edit("PL-01 not as often as it is said", "m.py", b"x\nx\nx\n", "x", "y", "ambiguous_match", edit={"count": 2}),
    _edit("PL-01 over each other", "m.py", b"aaa\n", "aa", "b", "ambiguous_match"),
    _patch(
        "PL-01 in an envelope",
        {"m.py": b"a\nx\nb\nx\n"},
        envelope("m.py", "@@", "-x", "+y"),
        "ambiguous_match",
        said={"candidates": [2, 4]},
    ),
    _patch(
        "PL-02 three hunks backwards",
        {"f.txt": TWELVE},
        unified("f.txt", "@@ -12 +13 @@\n-l12\n+L12\n", "@@ -6 +7 @@\n-l6\n+L6\n", "@@ -1 +1,2 @@\n-l1\n+L1\n+new\n"),
        {"f.txt": TWELVE.replace(b"l12\n", b"L12\n").replace(b"l6\n", b"L6\n").replace(b"l1\n", b"L1\nnew\n", 1)},
    ),
    _patch(
        "PL-03 two anchors",
        {"m.py": CLASSES},
        envelope("m.py", "@@ class B:", "@@     def f(self):", "+        # here"),
        {"m.py": CLASSES.replace(b"class B:\n    def f(self):\n", b"class B:\n    def f(self):\n        # here\n")},
    ),
    _patch(
        "PL-03 an anchor that stands twice",
        {"m.py": CLASSES},
        envelope("m.py", "@@     def f(self):", "+        # here"),
        "insertion_point_unclear",
        said={"candidates": [2, 6]},
    ),
    _patch(
        "PL-04 before the first line and the last one away",
        {"n.txt": b"one\ntwo\nthree\n"},
        unified("n.txt", "@@ -0,0 +1 @@\n+zero\n", "@@ -3 +3,0 @@\n-three\n"),
        {"n.txt": b"zero\none\ntwo\n"},
    ),
    _edit(
        "PL-05 another dash",
        "c.yml",
        "a – b: naïve\n".encode(),
        "a - b",
        "a - c",
        "no_match",
        said={"nearest": {"line": 1}},
    ),
    _edit(
        "PL-06 blanks in the file",
        "m.py",
        b"if x:\n    go()\n",
        "\tgo()\n",
        "\tstop()\n",
        "no_match",
        said={"nearest": {"line": 2, "file_blanks": "4 spaces (0x20)", "request_blanks": "1 tab (0x09)"}},
    ),
    _patch(
        "PL-06 in a diff",
        {"m.go": b"f {\n\tx\n}\n"},
        unified("m.go", "@@ -1,3 +1,3 @@\n f {\n-    x\n+    y\n }\n"),
        "no_match",
        said={"nearest": {"line": 2, "file_blanks": "1 tab (0x09)"}},
    ),
    _patch(
        "PL-07 in an envelope",
        {"s.sh": b"a\nb\n"},
        envelope("s.sh", "@@", "-a", "+\\1 $& $$ \\g<0> %s {0}"),
        {"s.sh": b"\\1 $& $$ \\g<0> %s {0}\nb\n"},
    ),
    _edit("PL-08 composed is not decomposed", "q", "e\u0301\n".encode(), "\u00e9", "e", "no_match"),
    _patch(
        "PL-08 full width",
        {"q": "\uff08a\uff09 (a)\n".encode()},
        envelope("q", "@@", "-\uff08a\uff09 (a)", "+(a) \uff08a\uff09"),
        {"q": "(a) \uff08a\uff09\n".encode()},
    ),
    Proposed(
        "PL-09 a move onto a file",
        {"a": b"a\n", "b": b"b\n"},
        {"patch": "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n"},
        "target_exists",
    ),
    _patch("PL-10 the last line itself", {"f": b"uno\ndos"}, envelope("f", "@@", "-dos", "+DOS"), {"f": b"uno\nDOS"}),
    _edit("PL-10 by search", "f", b"uno\ndos", "dos", "DOS\ntres", b"uno\nDOS\ntres"),
    _patch(
        "PL-11 too far down",
        {"c": TWELVE},
        unified("c", "@@ -8,3 +8,3 @@\n l4\n-l5\n+L5\n l6\n"),
        {"c": TWELVE.replace(b"l5\n", b"L5\n")},
        placed="offset(-4)",
    ),
    _patch(
        "PL-11 in two places",
        {"c": b"a\nx\nb\na\nx\nb\n\n\n"},
        unified("c", "@@ -6,3 +6,3 @@\n a\n-x\n+y\n b\n"),
        "ambiguous_match",
        said={"candidates": [1, 4]},
    ),
    _whole("PL-12 as a whole", "v", b"x\n", "&lt;b&gt; \\n \\u0041 &#39;\n", b"&lt;b&gt; \\n \\u0041 &#39;\n"),
]

WRITING = [
    _patch(
        "EN-01 a context line of legacy text",
        {"shop.c": SHOP},
        envelope("shop.c", "@@", " café – 5€", "-qty = 1", "+qty = 2"),
        {"shop.c": SHOP.replace(b"1", b"2")},
    ),
    _edit("EN-01 a legacy line itself", "shop.c", SHOP, "5€", "é 6€", SHOP.replace(b"5", b"\xe9 6")),
    _edit("EN-01 a hole", "shop.c", b"a\x81\x9d\nb\n", "b", "c", b"a\x81\x9d\nc\n"),
    _edit("EN-01 stray bytes in UTF-8", "shop.c", b"\xc3\xa9 \xe9\nb\n", "b", "c", b"\xc3\xa9 \xe9\nc\n"),
    _edit("EN-01 bytes with NUL", "shop.bin", b"\xe9\0\nb\n", "b", "c", b"\xe9\0\nc\n"),
    _edit("EN-02 by search", "c.ps1", b"\xef\xbb\xbfa\r\nb\r\n", "a\nb", "A\nb", b"\xef\xbb\xbfA\r\nb\r\n"),
    _whole("EN-02 as a whole, marked", "c.ps1", b"\xef\xbb\xbfa\n", "\ufeffA\n", b"\xef\xbb\xbfA\n"),
    _edit("EN-03 with lone CR", "f", b"a\rb\r\nc\nd", "c", "C\nCC", b"a\rb\r\nC\nCC\nd"),
    _patch(
        "EN-03 over several ends",
        {"f": b"p\r\nq\nr\r\ns"},
        envelope("f", "@@", " p", "-q", "+Q", " r"),
        {"f": b"p\r\nQ\nr\r\ns"},
    ),
    _whole("EN-04 as a whole", "f.ini", b"a\r\nb\r\n", "a\nB\nc\n", b"a\r\nB\r\nc\r\n", placed="line_ends"),
    _edit("EN-04 by search", "f.ini", b"a\r\nb\r\n", "a\nb", "a\nx\nb", b"a\r\nx\r\nb\r\n"),
    _patch(
        "EN-05 big-endian, in a diff",
        {"m.psd1": b"\xfe\xff" + "# \u0a0a\nb = 2\n".encode("utf-16-be")},
        unified("m.psd1", "@@ -1,2 +1,2 @@\n # \u0a0a\n-b = 2\n+b = 🍸\n"),
        {"m.psd1": b"\xfe\xff" + "# \u0a0a\nb = 🍸\n".encode("utf-16-be")},
    ),
    _edit("EN-06 a pair to look for", "🍸.txt", "a🍸b\n".encode(), "🍸", "x", b"axb\n"),
    _whole("EN-07 as a whole", "t.tsv", b"a\tb\n1\t2\n", "a\tb\n1\t3\n", b"a\tb\n1\t3\n"),
    _patch(
        "JR-01 a later hunk has no place",
        {"a": b"a\n", "b": b"b\n"},
        unified("a", "@@ -1 +1 @@\n-a\n+A\n") + unified("b", "@@ -1 +1 @@\n-zzz\n+B\n"),
        "no_match",
    ),
    Proposed(
        "JR-01 a later text is not there",
        {"a": b"a\n", "b": b"b\n"},
        {
            "edits": [
                {"path": "a", "search": "a", "replace": "A"},
                {"path": "b", "search": "nowhere", "replace": "B"},
            ]
        },
        "no_match",
    ),
]

HALVES: Mapping[str, Mapping[str, Any]] = {
    "patch": {"patch": envelope("e.txt", "@@", "-x", "+\ud83d")},
    "files.0.content": {"files": [{"path": "e.txt", "content": "\udc00\n"}]},
    "files.1.path": {"files": [{"path": "e.txt", "content": "y\n"}, {"path": "\ud83d", "content": "y\n"}]},
    "note": {"edits": [{"path": "e.txt", "search": "x", "replace": "y"}], "note": "half \ud83d"},
}

OWN = [*PARSING, *PLACING, *WRITING]
