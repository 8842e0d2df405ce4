"""The open corpus as a measure: real Linen packages, migrated, and the listed classes run on both sides.

    python benchmarks/corpus.py fetch                 # the PyPI packages, into ./corpus/pypi
    python benchmarks/corpus.py static [PACKAGE...]   # migrate every file; outcomes and reasons
    python benchmarks/corpus.py classes [NAME...]     # run the listed classes, Linen beside NNX
    python benchmarks/corpus.py all                   # everything, and the table

Checkouts of repositories are taken from ./corpus/github/<name> where they stand; what is missing is left out and named.
Migrated trees are left in ./corpus/out/<package> for reading; results in ./corpus/results.json.
"""

from __future__ import annotations

import argparse
import collections
import json
import subprocess
import sys
import zipfile
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
    (site / "zz_project.pth").write_text(f"{project}\nimport site; site.addsitedir({str(project)!r})\n")
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
        results[name] = _child([sys.executable, "-c", code], timeout, name)
        print_static(results[name])
    return results


def run_classes(names: list[str], timeout: float) -> dict[str, Any]:
    """Run the listed classes on both sides, each in a process of its own."""
    import corpus_classes

    here = packages()
    results = {}
    python = CORPUS / "venv" / "bin" / "python"
    for case in corpus_classes.CASES:
        if names and case.name not in names and case.package not in names:
            continue
        if case.package not in here:
            results[case.name] = {"verdict": "not here", "detail": case.package}
        elif not (CORPUS / "out" / case.package).exists():
            results[case.name] = {"verdict": "unchecked", "detail": f"run `static {case.package}` first"}
        else:
            command = [str(python), str(HERE / "corpus_compare.py"), case.name, str(here[case.package])]
            command.append(str(CORPUS / "out" / case.package))
            results[case.name] = _child(command, timeout, case.name)
        found = results[case.name]
        print(
            f"{case.name:34} {found['verdict']:11} {found.get('outcome', ''):9} {found.get('detail', '')}", flush=True
        )
    return results


def _child(command: list[str], timeout: float, name: str) -> dict[str, Any]:
    environment = {"JAX_PLATFORMS": "cpu", "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(CORPUS)}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)
    except subprocess.TimeoutExpired:
        return {
            "package": name,
            "verdict": "crash",
            "detail": f"took more than {timeout:.0f} s",
            "failures": ["timeout"],
        }
    for line in reversed(done.stdout.splitlines()):
        if line.startswith("RESULT "):
            found: dict[str, Any] = json.loads(line[7:])
            return found
    tail = (done.stderr.strip().splitlines() or ["no output"])[-1]
    return {"package": name, "verdict": "crash", "detail": tail[:300], "failures": [done.stderr[-1500:]]}


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
    parser.add_argument("mode", choices=["fetch", "static", "classes", "all"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for each package or class")
    parser.add_argument("--verbose", "-v", action="store_true", help="name every class that is not native")
    options = parser.parse_args()
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
        results["classes"] = run_classes(options.names, options.timeout)
        verdicts = collections.Counter(found["verdict"] for found in results["classes"].values())
        print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    path = CORPUS / "results.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    for part, found in results.items():
        kept.setdefault(part, {}).update(found)
    path.write_text(json.dumps(kept, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
