"""The open corpus as a measure: real Linen packages, migrated, and the listed classes run on both sides.

    python benchmarks/corpus.py fetch                 # the PyPI packages, into ./corpus/pypi
    python benchmarks/corpus.py static [PACKAGE...]   # migrate every file; outcomes and reasons
    python benchmarks/corpus.py classes [NAME...]     # run the listed classes, Linen beside NNX
    python benchmarks/corpus.py sweep [PACKAGE...]    # every native class on guessed examples, Linen beside NNX
    python benchmarks/corpus.py all                   # everything, and the table

Checkouts of repositories are taken from ./corpus/github/<name> where they stand; what is missing is left out and named.
Migrated trees are left in ./corpus/out/<package> for reading; results in ./corpus/results.json.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CORPUS = ROOT / "corpus"

PYPI = (
    "transformers==4.57.1", "diffusers==0.35.2", "sbx-rl==0.28.0", "brax==0.14.2", "scico==0.0.7",
    "jax-resnet==0.0.4", "clip-jax==0.0.6", "easydel==0.0.80", "praxis==1.4.0", "jax-models==0.0.5",
    "netket==3.23.0", "flaxdiff==0.2.11", "aws-fortuna==0.2.0", "flaxmodels==0.1.3",
)  # fmt: skip

# What the packages above import at run time, pinned; they go to ./corpus/venv, away from the project's own stack.
RUNTIME = (
    "huggingface-hub==0.35.3", "tokenizers==0.22.1", "regex", "tqdm", "requests", "packaging", "filelock", "pyyaml",
    "importlib-metadata", "zipp", "einops", "safetensors", "ml-collections", "absl-py",
    "urllib3", "charset-normalizer", "idna", "certifi", "einshape", "contextlib2", "cached-property", "pillow",
)  # fmt: skip


def fetch() -> None:
    """Download and unpack the PyPI packages without their dependencies, and make the venv that can import them."""
    downloads = CORPUS / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "download", "--quiet", "--no-deps", "--dest", downloads, *PYPI], check=True)
    for wheel in sorted(downloads.glob("*.whl")):
        target = CORPUS / "pypi" / wheel.name.split("-")[0]
        if not target.exists():
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(target)
    venv = CORPUS / "venv"
    if not (venv / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    site = next(venv.glob("lib/python*/site-packages"))
    project = next((ROOT / ".venv").glob("lib/python*/site-packages"))
    borrowed = CORPUS / "pypi" / "transformers"  # whose names other packages import
    (site / "zz_project.pth").write_text(f"{project}\n{borrowed}\nimport site; site.addsitedir({str(project)!r})\n")
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--target", site, "--upgrade", *RUNTIME], check=True)


def packages() -> dict[str, Path]:
    """Every package of the corpus that is here, by name."""
    found = {}
    for folder in ("pypi", "github"):
        for path in sorted((CORPUS / folder).glob("*")):
            if path.is_dir():
                found[path.name] = path
    return found


def run_static(names: list[str], timeout: float) -> dict[str, Any]:
    """Migrate packages, each in a process of its own, so that one cannot take the others down."""
    here = packages()
    wanted = [name.replace("-", "_") if name.replace("-", "_") in here else name for name in names] or list(here)
    results = {}
    for name in wanted:
        if name not in here:
            print(f"{name}: not here (have {', '.join(here)})", file=sys.stderr)
            continue
        code = (
            f"import sys, json; sys.path.insert(0, {str(HERE)!r}); from pathlib import Path; import corpus_static; "
            f"print('RESULT ' + json.dumps(corpus_static.migrate_package(Path({str(here[name])!r}), "
            f"Path({str(CORPUS / 'out' / name)!r})).as_json()))"
        )
        stamp = _fingerprint()
        results[name] = _child([sys.executable, "-c", code], timeout, name)
        if (CORPUS / "out" / name).is_dir():
            (CORPUS / "out" / name / "nnx_migrate_stamp.txt").write_text(stamp)
        print_static(results[name])
    return results


def run_classes(
    names: list[str], timeout: float, *, linen: bool = False, fresh: bool = True, jobs: int = 1
) -> dict[str, Any]:
    """Run the listed classes on both sides, each in a process of its own. A package is migrated again where the
    migration that is there was made by other code than today's.
    """
    import corpus_classes

    here = packages()
    wanted = [
        case
        for case in corpus_classes.CASES
        if not names or any(n in (case.name, case.package) or n in case.name for n in names)
    ]
    stale = sorted({c.package for c in wanted if c.package in here and not _current(c.package)})
    if fresh and stale:
        print(f"migrating {', '.join(stale)}", file=sys.stderr, flush=True)
        run_static(stale, max(timeout, 1800.0))

    def one(case: Any) -> dict[str, Any]:
        if case.package not in here:
            return {"verdict": "not here", "detail": f"{case.package} is not in {CORPUS}"}
        out = CORPUS / "out" / case.package
        if not (out / "nnx_migrate_classes.json").exists():
            return {"verdict": "broken", "detail": f"{case.package} was not migrated: see `static {case.package}`"}
        command = [str(CORPUS / "venv" / "bin" / "python"), str(HERE / "corpus_compare.py"), case.name]
        return _child([*command, str(here[case.package]), str(out), *(["--linen"] if linen else [])], timeout, case.name)

    results = {}
    with ThreadPoolExecutor(jobs) as pool:
        for case, found in zip(wanted, pool.map(one, wanted)):
            results[case.name] = found
            print(f"{case.name:34} {found['verdict']:11} {found.get('detail', '')}", flush=True)
    return results


def run_sweep(names: list[str], timeout: float, *, fresh: bool = True, jobs: int = 1) -> list[dict[str, Any]]:
    """Every native class of the packages for which an example can be guessed, file by file; the rows."""
    here = packages()
    wanted = [name.replace("-", "_") if name.replace("-", "_") in here else name for name in names] or list(here)
    stale = [name for name in wanted if name in here and not _current(name)]
    if fresh and stale:
        print(f"migrating {', '.join(stale)}", file=sys.stderr, flush=True)
        run_static(stale, max(timeout, 1800.0))
    work = []
    for name in wanted:
        listing = CORPUS / "out" / name / "nnx_migrate_classes.json"
        if name in here and listing.exists():
            entries = json.loads(listing.read_text())
            work += [(name, file) for file in sorted({e["path"] for e in entries if e["outcome"] == "native"})]
    python, rows = CORPUS / "venv" / "bin" / "python", []

    def one(place: tuple[str, str]) -> list[dict[str, Any]]:
        package, file = place
        command = [str(python), str(HERE / "corpus_sweep.py"), file, str(here[package]), str(CORPUS / "out" / package)]
        found, problem = _lines(command, timeout)
        told = [{"package": package, **json.loads(line[4:])} for line in found if line.startswith("ROW ")]
        entries = json.loads((CORPUS / "out" / package / "nnx_migrate_classes.json").read_text())
        for entry in entries:
            if entry["path"] == file and entry["outcome"] == "native" and entry["name"] not in {r["class"] for r in told}:
                row = {"file": file, "line": entry["line"], "class": entry["name"]}
                told.append({"package": package, **row, "verdict": "unchecked", "detail": problem or "no result"})
        return told

    with ThreadPoolExecutor(jobs) as pool:
        for told in pool.map(one, work):
            for row in told:
                place = f"{row['package']} {row['file']}:{row['line']}"
                print(f"{row['verdict']:10} {row['class']:28} {place}  {row.get('detail', '')}", flush=True)
            rows += told
    return rows


def _fingerprint() -> str:
    """Of the code that migrates."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "migrate").rglob("*")):
        if path.suffix in (".py", ".txt"):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _current(package: str) -> bool:
    stamp = CORPUS / "out" / package / "nnx_migrate_stamp.txt"
    return stamp.exists() and stamp.read_text() == _fingerprint()


def _child(command: list[str], timeout: float, name: str) -> dict[str, Any]:
    lines, problem = _lines(command, timeout)
    for line in reversed(lines):
        if line.startswith("RESULT "):
            found: dict[str, Any] = json.loads(line[7:])
            return found
    return {"package": name, "verdict": "broken", "detail": problem, "failures": [problem]}


def _lines(command: list[str], timeout: float) -> tuple[list[str], str]:
    """What a child printed, and what was wrong with how it ended."""
    environment = {"JAX_PLATFORMS": "cpu", "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(CORPUS)}
    own = ROOT / "build" / "types"  # this tree as the package nnx_migrate, see `make lint`: not another, installed one
    if "PYTHONPATH" in os.environ or own.is_dir():
        environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", str(own))
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)
    except subprocess.TimeoutExpired as late:
        printed = late.stdout.decode(errors="replace") if isinstance(late.stdout, bytes) else late.stdout or ""
        return printed.splitlines(), f"took more than {timeout:.0f} s; see --timeout"
    tail = (done.stderr.strip().splitlines() or ["no output"])[-1]
    return done.stdout.splitlines(), "" if done.returncode == 0 else f"ended with {done.returncode}: {tail[:300]}"


def print_static(found: dict[str, Any]) -> None:
    if "files" not in found:
        print(f"{found['package']:20} CRASH {found['failures']}", flush=True)
        return
    share = found["native"] / found["classes"] if found["classes"] else 1.0
    print(
        f"{found['package']:20} files {found['files']:4} changed {found['changed']:4} classes {found['classes']:4} "
        f"native {found['native']:4} ({share:.0%}) bridged {found['bridged']:3} manual {found['manual']:3} crashes "
        f"{found['crashes']} unparsable {found['unparsable']} second-run {found['second_run_changes']} "
        f"{found['seconds']:.1f}s",
        flush=True,
    )


def summary(results: dict[str, Any]) -> None:
    """Totals, and the most frequent reasons for not being native."""
    reasons: collections.Counter[str] = collections.Counter()
    for found in results.values():
        reasons.update(found.get("reasons", {}))
        for failure in found.get("failures", [])[:8]:
            print(f"  {found['package']}: {failure}")
    if reasons:
        print("most frequent reasons for not being native:")
    for reason, count in reasons.most_common(25):
        print(f"  {count:5}  {reason}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["fetch", "static", "classes", "sweep", "all"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for each package or class")
    parser.add_argument("--linen", action="store_true", help="classes: run the Linen side of those not native, too")
    parser.add_argument("--no-migrate", action="store_true", help="classes: take the migrated trees as they are")
    parser.add_argument("--jobs", type=int, default=1, help="classes: so many at a time")
    parser.add_argument("--verbose", "-v", action="store_true", help="name every class that is not native")
    options = parser.parse_intermixed_args()
    sys.path.insert(0, str(HERE))
    results: dict[str, Any] = {}
    if options.mode == "fetch":
        fetch()
        return 0
    if options.mode in ("static", "all"):
        results["static"] = run_static(options.names, options.timeout)
        summary(results["static"])
        if options.verbose:
            for found in results["static"].values():
                print("\n".join(f"  {line}" for line in found.get("not_native", [])))
    if options.mode in ("classes", "all"):
        results["classes"] = run_classes(
            options.names, options.timeout, linen=options.linen, fresh=not options.no_migrate, jobs=options.jobs
        )
        verdicts = collections.Counter(found["verdict"] for found in results["classes"].values())
        print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    if options.mode == "sweep":
        rows = run_sweep(options.names, options.timeout, fresh=not options.no_migrate, jobs=options.jobs)
        print(", ".join(f"{n} {verdict}" for verdict, n in collections.Counter(r["verdict"] for r in rows).most_common()))
        results["sweep"] = {f"{r['package']}/{r['file']}:{r['class']}": r for r in rows}
    path = CORPUS / "results.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    for part, found in results.items():
        kept.setdefault(part, {}).update(found)
    path.write_text(json.dumps(kept, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
