"""Monthly reports from the table of sales."""
import csv
import re
from collections import defaultdict
from pathlib import Path

NUMBER = re.compile(r"^\s*(\d+)\\(\d{2})\s*$")


class Report:
    """The sales of a month, by region."""

    def __init__(self, path, currency="EUR"):
        self.path = Path(path)
        self.currency = currency
        self.sales = defaultdict(float)
        self.errors = []

    def read(self):
        with self.path.open(newline="", encoding="utf-8") as f:
            for number, row in enumerate(csv.DictReader(f), start=2):
                region = row["region"].strip()
                if not region:
                    self.errors.append(f"line {number}: no region")
                    continue
                # Amounts use a comma in some branches.
                amount = row["amount"].replace(",", ".")
                try:
                    self.sales[region] += float(amount)
                except ValueError:
                    self.errors.append(f"line {number}: amount is {amount!r}")

    def total(self):
        return sum(self.sales.values())

    def lines(self):
        width = max((len(r) for r in self.sales), default=0)
        for region in sorted(self.sales):
            yield f"{region:<{width}}  {self.sales[region]:>12.2f} {self.currency}"
        yield "-" * (width + 18)
        yield f"{'total':<{width}}  {self.total():>12.2f} {self.currency}"


def main(argv):
    report = Report(argv[1])
    report.read()
    for line in report.lines():
        print(line)
    for error in report.errors:
        print("warning:", error)
    return 1 if report.errors else 0
