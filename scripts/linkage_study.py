"""A simulated linkage of two files in which most true partners are not in the other file.

usage: linkage_study.py UNSHUFFLE [REPEATS] [FOLDER]

A survey of 1000 people has a response, a register of 1000 people a predictor; about three quarters of the survey are in the
register. Records are linked one to one by the distance of their names, written with errors, within the year of birth, as a
linkage program does: best pair first, until nobody is left. Prints the wrong links, and for each method the mean error, the
root mean square error of the slope and how often its 90 % interval has the true slope, for a linear and a logistic model.
"""

import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

NUM_ROWS = 1000
NUM_COMMON = 800
NUM_CHECKED = 100
SLOPE = {"linear": 1.0, "logistic": 1.0}
SYLLABLES = "an bel cor dan el far han is kal mar nor per ros sen tor wes".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SAMPLER = {"chains": 2, "warmup": 500, "draws": 500}


def name(rng):
    """A first and a last name; some are frequent."""
    syllable = lambda: SYLLABLES[int(len(SYLLABLES) * rng.random() ** 1.5)]
    return syllable() + " " + syllable() + syllable()


def mistyped(rng, text):
    """The text after up to three errors of a keyboard or a scanner."""
    for _ in range(rng.choices([0, 1, 2, 3], [45, 30, 15, 10])[0]):
        at = rng.randrange(len(text))
        letter = rng.choice(LETTERS)
        text = rng.choice([text[:at] + text[at + 1 :], text[:at] + letter + text[at:], text[:at] + letter + text[at + 1 :]])
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
    links = {}
    for same_year in (True, False):
        left = [i for i in range(len(survey)) if i not in links]
        taken = {link[0] for link in links.values()}
        right = [j for j in range(len(register)) if j not in taken]
        pairs = [
            (distance(survey[i]["name"], register[j]["name"]), i, j)
            for i in left
            for j in right
            if not same_year or survey[i]["year"] == register[j]["year"]
        ]
        for far, i, j in sorted(pairs):
            if i not in links and j not in taken:
                links[i] = (j, far)
                taken.add(j)
    return links


def simulate(seed, model):
    """The linked rows, and the true ones of those that are in both files."""
    rng = random.Random(seed)
    people = [{"person": k, "name": name(rng), "year": rng.randrange(1975, 1985), "x": rng.gauss(0, 1)}
              for k in range(2 * NUM_ROWS - NUM_COMMON)]
    for person in people:
        linear = 0.5 + SLOPE[model] * person["x"]
        person["y"] = linear + rng.gauss(0, 0.7) if model == "linear" else int(rng.random() < 1 / (1 + math.exp(-linear)))
    typed = lambda person: {**person, "name": mistyped(rng, person["name"])}
    survey = [typed(person) for person in people[:NUM_ROWS]]
    register = [typed(person) for person in people[NUM_ROWS - NUM_COMMON :]]
    rng.shuffle(register)
    links = linked(survey, register)
    rows = []
    for i, (j, far) in sorted(links.items()):
        rows.append({"y": survey[i]["y"], "x": register[j]["x"], "distance": far,
                     "right": survey[i]["person"] == register[j]["person"],
                     "outside": survey[i]["person"] < NUM_ROWS - NUM_COMMON})
    checked = rng.sample(rows, NUM_CHECKED)
    audit = {"checked": NUM_CHECKED, "wrong": sum(not row["right"] for row in checked)}
    truth = [{"y": row["y"], "x": row["x"]} for row in survey[NUM_ROWS - NUM_COMMON :]]
    return rows, truth, audit


def write(path, rows, columns):
    with open(path, "w", newline="") as out:
        writer = csv.DictWriter(out, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def fit(program, folder, data, model, permutation, seed):
    """Estimates of the slope by method: (estimate, lower end, upper end)."""
    config = {"model": {"stan": model}, "data": {"file": data, "formula": "y ~ x"}, "permutation": permutation,
              "sampler": {**SAMPLER, "seed": seed}, "output": "out"}
    (folder / "fit.json").write_text(json.dumps(config))
    command = [program, "fit", "fit.json", "--compare", "--force", "--quiet"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    found = {}
    with open(folder / "out/coefficients.csv") as file:
        for row in csv.DictReader(file):
            if row["name"] == "x":
                found[row["method"]] = tuple(float(row[key]) for key in ("estimate", "5%", "95%"))
    return found


def estimates(program, folder, model, seed):
    """All methods on one data set, and what is true of its links."""
    rows, truth, audit = simulate(seed, model)
    write(folder / "linked.csv", rows, ["y", "x", "distance"])
    write(folder / "truth.csv", truth, ["y", "x"])
    run = lambda data, permutation: fit(program, folder, data, model, permutation, seed)
    prior = {"name": "beta_binomial", "audit": audit}
    plain = run("linked.csv", {"prior": prior})
    outside = run("linked.csv", {"prior": prior, "outside": True})
    by_distance = run("linked.csv", {"rate_formula": "~ distance", "outside": True})
    oracle = run("truth.csv", {"update": {"name": "none"}})
    found = {
        "naive": plain["as_linked"],
        "known rate, audited": plain.get("known_rate"),
        "mixture": plain.get("mixture"),
        "ours, without outside": plain["joint"],
        "ours, with outside": outside["joint"],
        "ours, with outside and distances": by_distance["joint"],
        "oracle: true links": oracle["as_linked"],
    }
    wrong = [row for row in rows if not row["right"]]
    return found, len(wrong) / len(rows), sum(row["outside"] for row in wrong) / len(wrong)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as own:
        folder = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else own)
        for model in SLOPE:
            results = [estimates(program, folder, model, seed) for seed in range(1, repeats + 1)]
            wrong = sum(result[1] for result in results) / repeats
            outside = sum(result[2] for result in results) / repeats
            print(f"{model}: {repeats} data sets of {NUM_ROWS} links, {100 * wrong:.1f} % wrong, "
                  f"{100 * outside:.1f} % of these with their partner outside", flush=True)
            print("| method | mean error | RMSE | 90 % intervals with the truth |\n|---|---|---|---|")
            for method in results[0][0]:
                found = [result[0][method] for result in results]
                if None in found:
                    continue
                errors = [estimate - SLOPE[model] for estimate, _, _ in found]
                mean = sum(errors) / repeats
                rmse = math.sqrt(sum(error * error for error in errors) / repeats)
                covered = sum(low <= SLOPE[model] <= high for _, low, high in found)
                print(f"| {method} | {mean:+.3f} | {rmse:.3f} | {covered} of {repeats} |", flush=True)


if __name__ == "__main__":
    main()
