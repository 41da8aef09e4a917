"""Writes configs/data/patients.csv: Weibull times of 200 made-up patients, a third of them censored."""
import csv
import math
import random
from pathlib import Path

rng = random.Random(1951)
rows = []
for number in range(200):
    age = rng.randint(40, 80)
    treated = rng.randint(0, 1)
    scale = math.exp(3.0 - 0.05 * (age - 60) + 0.7 * treated)
    time, limit = scale * rng.weibullvariate(1, 2.5), rng.uniform(10, 90)
    rows.append((number + 1, age, treated, f"{min(time, limit):.2f}", int(time <= limit)))
with open(Path(__file__).parent.parent / "configs/data/patients.csv", "w", newline="") as file:
    csv.writer(file, lineterminator="\n").writerows([("patient", "age", "treated", "months", "died"), *rows])
