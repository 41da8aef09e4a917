"""Writes configs/data/schools.csv: the scores of 120 made-up pupils of 10 schools, whose levels and slopes differ."""
import csv
import random
from pathlib import Path

rng = random.Random(8)
schools = [(f"school {chr(ord('A') + k)}", rng.gauss(0, 0.6), rng.gauss(0, 0.3)) for k in range(10)]
rows = []
for number in range(120):
    school, level, slope = schools[number % 10]
    hours = round(rng.uniform(0, 10), 1)
    score = 3 + level + (0.8 + slope) * (hours - 5) + rng.gauss(0, 0.5)
    rows.append((number + 1, school, hours, round(score, 3)))
with open(Path(__file__).parent.parent / "configs/data/schools.csv", "w", newline="") as file:
    csv.writer(file, lineterminator="\n").writerows([("pupil", "school", "hours", "score"), *rows])
