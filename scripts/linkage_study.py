#!/usr/bin/env python3
"""A simulated linkage of two files in which most wrong links have no right partner to be found.

usage: linkage_study.py UNSHUFFLE [--repeats N] [--work FOLDER] [--page FILE]

A survey of 1000 people has a response and a register of 1000 people a predictor; 800 people are in both. Records are linked
one to one by the distance of their names, which are written with errors: within the year of birth first, the nearest pair
first, until nobody is left, as a linkage program without a threshold does. 100 links are checked by hand.

Writes a page with the wrong links and, for each method, the mean error of the slope, its root mean square error and how
often its 90 % interval has the true slope, for a linear and a logistic model. Data sets that are in FOLDER already are not
fitted again.
"""

import argparse
import csv
import json
import math
import pathlib
import random
import subprocess

NUM_ROWS = 1000
NUM_COMMON = 800
NUM_CHECKED = 100
INTERCEPT, SLOPE, SIGMA = 0.5, 1.0, 0.7
SYLLABLES = "an bel cor dan el far han is kal mar nor per ros sen tor wes".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SAMPLER = {"chains": 2, "warmup": 500, "draws": 1000}

METHODS = {
    "naive": "links as given",
    "known rate": "known rate, from the audit",
    "mixture": "mixture of right and wrong rows",
    "without outside": "unshuffle, audit",
    "with outside": "unshuffle, audit and `outside`",
    "distances": "unshuffle, string distances and `outside`",
    "recommended": "what the report of the last fit recommends",
    "oracle": "oracle: the true links",
}


def name(rng):
    """A first and a last name; some are frequent."""

    def syllable():
        return SYLLABLES[int(len(SYLLABLES) * rng.random() ** 1.5)]

    return syllable() + " " + syllable() + syllable()


def mistyped(rng, text):
    """The text after up to three errors of a keyboard or a scanner."""
    for _ in range(rng.choices([0, 1, 2, 3], [45, 30, 15, 10])[0]):
        at, letter = rng.randrange(len(text)), rng.choice(LETTERS)
        rest = text[at + 1 :]
        text = text[:at] + rng.choice([rest, letter + text[at:], letter + rest])
    return text


def distance(a, b):
    """Levenshtein's distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def linked(survey, register):
    """Links by distance, the nearest pair first; within a year while that has pairs, then whoever is left."""
    links, taken, known = {}, set(), {}
    for same_year in (True, False):
        pairs = []
        for i in (i for i in range(len(survey)) if i not in links):
            for j in (j for j in range(len(register)) if j not in taken):
                if same_year and survey[i]["year"] != register[j]["year"]:
                    continue
                names = survey[i]["name"], register[j]["name"]
                if names not in known:
                    known[names] = distance(*names)
                pairs.append((known[names], i, j))
        for far, i, j in sorted(pairs):
            if i not in links and j not in taken:
                links[i] = (j, far)
                taken.add(j)
    return links


def simulate(seed, model):
    """The linked rows, the true rows of people who are in both files, and what the audit found."""
    rng = random.Random(seed)
    people = []
    for number in range(2 * NUM_ROWS - NUM_COMMON):
        x = rng.gauss(0, 1)
        linear = INTERCEPT + SLOPE * x
        if model == "linear":
            y = linear + rng.gauss(0, SIGMA)
        else:
            y = int(rng.random() < 1 / (1 + math.exp(-linear)))
        people.append({"person": number, "name": name(rng), "year": rng.randrange(1975, 1985), "x": x, "y": y})
    first_common = NUM_ROWS - NUM_COMMON
    survey = [{**person, "name": mistyped(rng, person["name"])} for person in people[:NUM_ROWS]]
    register = [{**person, "name": mistyped(rng, person["name"])} for person in people[first_common:]]
    rng.shuffle(register)
    rows = []
    for i, (j, far) in sorted(linked(survey, register).items()):
        person = survey[i]["person"]
        right = person == register[j]["person"]
        rows.append(
            {"y": survey[i]["y"], "x": register[j]["x"], "distance": far, "right": right, "outside": person < first_common}
        )
    checked = rng.sample(rows, NUM_CHECKED)
    audit = {"checked": NUM_CHECKED, "wrong": sum(not row["right"] for row in checked)}
    return rows, survey[first_common:], audit


def write(path, rows, columns):
    with open(path, "w", newline="") as out:
        writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def fit(program, folder, data, model, permutation, seed):
    """Estimates of the slope by method: [estimate, lower end, upper end]."""
    config = {
        "model": {"stan": model},
        "data": {"file": data, "formula": "y ~ x"},
        "permutation": permutation,
        "sampler": {**SAMPLER, "seed": seed},
        "output": "out",
    }
    (folder / "fit.json").write_text(json.dumps(config))
    command = [program, "fit", "fit.json", "--force", "--quiet"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    with open(folder / "out/coefficients.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["name"] == "x"]
    return {row["method"]: [float(row[key]) for key in ("estimate", "5%", "95%")] for row in rows}


def one(program, folder, model, seed):
    """All methods on one data set, and what is true of its links."""
    kept = folder / f"{model}-{seed}.json"
    if kept.exists():
        return json.loads(kept.read_text())
    rows, truth, audit = simulate(seed, model)
    write(folder / "linked.csv", rows, ["y", "x", "distance"])
    write(folder / "truth.csv", truth, ["y", "x"])

    def run(data, permutation):
        return fit(program, folder, data, model, permutation, seed)

    prior = {"name": "beta_binomial", "audit": audit}
    plain = run("linked.csv", {"prior": prior})
    outside = run("linked.csv", {"prior": prior, "outside": True})
    distances = run("linked.csv", {"rate_formula": "~ distance", "outside": True})
    oracle = run("truth.csv", {"update": {"name": "none"}})
    wrong = [row for row in rows if not row["right"]]
    result = {
        "wrong": len(wrong) / len(rows),
        "outside": sum(row["outside"] for row in wrong) / len(wrong),
        "slopes": {
            "naive": plain["as_linked"],
            "known rate": plain.get("known_rate"),
            "mixture": plain.get("mixture"),
            "without outside": plain["joint"],
            "with outside": outside["joint"],
            "distances": distances["joint"],
            "recommended": distances["recommended"],
            "oracle": oracle["as_linked"],
        },
    }
    kept.write_text(json.dumps(result))
    print(model, seed, {method: slope and round(slope[0], 3) for method, slope in result["slopes"].items()}, flush=True)
    return result


def mean_and_error(values):
    mean = sum(values) / len(values)
    spread = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, math.sqrt(spread / len(values))


def table(results):
    lines = ["| method | mean error | root mean square error | 90 % intervals with the truth |", "|---|---|---|---|"]
    for method, words in METHODS.items():
        slopes = [result["slopes"][method] for result in results]
        if None in slopes:
            continue
        errors = [estimate - SLOPE for estimate, _, _ in slopes]
        mean, error = mean_and_error(errors)
        rmse = math.sqrt(sum(error * error for error in errors) / len(errors))
        covered = sum(low <= SLOPE <= high for _, low, high in slopes)
        share = covered / len(slopes)
        spread = math.sqrt(share * (1 - share) / len(slopes))
        lines.append(f"| {words} | {mean:+.3f} ({error:.3f}) | {rmse:.3f} | {covered} of {len(slopes)} ({spread:.2f}) |")
    return "\n".join(lines)


PAGE = """# A linkage whose partners are missing

`make linkage` runs `scripts/linkage_study.py`, which writes this page. Every number is from that run; standard errors stand in
parentheses.

A survey of {rows} people has a response, a register of {rows} people a predictor, and {common} people are in both. Names are
written with up to three errors. Records are linked one to one by Levenshtein's distance of the names, within the year of
birth first and the nearest pair first, until nobody is left: a person who is not in the register is linked to somebody
else. {checked} links, drawn at random, are checked by hand; the count of wrong ones is the audit. The true slope is {slope}, the
intercept {intercept}.

"Known rate" is the estimator for a known rate of wrong links at what the audit says, and the mixture is of right and wrong
rows, of which wrong ones have the distribution of all responses; both take the links as one file has them. `outside` lets a
response belong to nobody in the file. With string distances the rate of wrong links is a regression on the distance of the
names (`"rate_formula": "~ distance"`), without the audit. The oracle has the true rows of the {common} people.
"""


def section(model, results):
    wrong = mean_and_error([100 * result["wrong"] for result in results])
    outside = mean_and_error([100 * result["outside"] for result in results])
    words = {
        "linear": f"y ~ normal({INTERCEPT} + {SLOPE} x, {SIGMA}).",
        "logistic": "y is 0 or 1 with log odds "
        f"{INTERCEPT} + {SLOPE} x. Without feedback, which is the default here, `unshuffle` is a mixture of right and wrong "
        "rows itself, so there is no line for another.",
    }[model]
    return (
        f"## {model.capitalize()}\n\n{words} {len(results)} data sets, of whose links {wrong[0]:.1f} % ({wrong[1]:.1f}) are "
        f"wrong; of the wrong ones {outside[0]:.1f} % ({outside[1]:.1f}) have no right partner in the register.\n\n"
        f"{table(results)}\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("unshuffle")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--work", default="target/linkage")
    parser.add_argument("--page", default="docs/linkage_study.md")
    args = parser.parse_args()
    program = str(pathlib.Path(args.unshuffle).resolve())
    folder = pathlib.Path(args.work)
    folder.mkdir(parents=True, exist_ok=True)
    results = {"linear": [], "logistic": []}
    for seed in range(1, args.repeats + 1):
        for model, found in results.items():
            found.append(one(program, folder, model, seed))
    page = PAGE.format(
        rows=NUM_ROWS, common=NUM_COMMON, checked=NUM_CHECKED, slope=SLOPE, intercept=INTERCEPT
    )
    parts = [page, *(section(model, found) for model, found in results.items())]
    pathlib.Path(args.page).write_text("\n".join(parts))


if __name__ == "__main__":
    main()
