"""The same table in workbooks of three writers, and as CSV: golden/workbooks.

Run with pandas, openpyxl and xlsxwriter installed; their versions are in golden/workbooks/made_with.txt.
"""

import csv
import datetime as dt
import pathlib

import openpyxl
import pandas as pd
import xlsxwriter

OUT = pathlib.Path(__file__).parent / "workbooks"
OUT.mkdir(exist_ok=True)
NAMES = ["amount", "day", "wait", "member", "code", "town", "y"]


def rows():
    for i in range(30):
        day = dt.datetime(2024, 1 + i % 12, 1 + i * 7 % 28)
        yield [
            None if i == 7 else 1000 + i * 37 % 100 + 0.25 * (i % 4),
            day + dt.timedelta(hours=6 * (i % 3)),
            0.5 + i % 5,  # days, shown as a duration
            i % 3 == 0,
            f"{i * 13 % 50:03d}",  # text with leading zeros
            ["Köln", "Bern ", "São Paulo"][i % 3],
            "ja" if (i * 37 % 100) + 10 * (i % 7) > 60 else "nein",
        ]


TABLE = list(rows())

with open(OUT / "table.csv", "w", newline="", encoding="utf-8") as f:
    out = csv.writer(f, lineterminator="\n")
    out.writerow(NAMES)
    for amount, day, wait, member, code, town, y in TABLE:
        stamp = day.date().isoformat() if day.time() == dt.time() else day.isoformat()
        out.writerow(["" if amount is None else amount, stamp, wait, int(member), code, town.strip(), y])

# As pandas writes a frame: the index in a first column without a name.
frame = pd.DataFrame(TABLE, columns=NAMES)
frame["wait"] = [r[2] for r in TABLE]
frame.to_excel(OUT / "pandas.xlsx", sheet_name="frame")

# As a person leaves it: a title above, the table not in the first column, notes in a second sheet, spare formatted cells.
book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Daten 2024"
sheet["B1"] = "Umfrage"
sheet.merge_cells("B1:D1")
for c, name in enumerate(NAMES):
    sheet.cell(3, 2 + c, name)
for r, row in enumerate(TABLE):
    for c, value in enumerate(row):
        cell = sheet.cell(4 + r, 2 + c, value)
        if NAMES[c] == "wait":
            cell.value = dt.timedelta(days=value)
            cell.number_format = "[h]:mm:ss"
for r in range(34, 40):
    sheet.cell(r, 2).font = openpyxl.styles.Font(bold=True)
book.create_sheet("Notizen")["A1"] = "nothing of the table"
book.create_sheet("leer")
book.save(OUT / "openpyxl.xlsx")

# Days since 1904, values of formulas, strings in the cells, a hidden sheet first.
book = xlsxwriter.Workbook(OUT / "xlsxwriter.xlsx", {"date_1904": True, "in_memory": True})
hidden = book.add_worksheet("hidden")
hidden.write(0, 0, "x")
sheet = book.add_worksheet("data")
stamp, duration = book.add_format({"num_format": "dd.mm.yyyy hh:mm"}), book.add_format({"num_format": "[h]:mm"})
sheet.write_row(0, 0, NAMES)
for r, (amount, day, wait, member, code, town, y) in enumerate(TABLE, 1):
    if amount is None:
        sheet.write_formula(r, 0, "=NA()", None, "#N/A")
    else:
        sheet.write_formula(r, 0, f"={amount}+0", None, amount)
    sheet.write_datetime(r, 1, day, stamp)
    sheet.write_number(r, 2, wait, duration)
    sheet.write_boolean(r, 3, member)
    sheet.write_string(r, 4, code)
    sheet.write_string(r, 5, town)
    sheet.write_string(r, 6, y)
sheet.activate()
sheet.set_first_sheet()
hidden.hide()
book.close()

(OUT / "made_with.txt").write_text(
    f"pandas {pd.__version__}\nopenpyxl {openpyxl.__version__}\nxlsxwriter {xlsxwriter.__version__}\n"
)
