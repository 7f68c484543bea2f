# Design matrices of formulas by R's model.matrix: formula_r.json.
#
# Run: Rscript golden/make_formula.R   (base R: stats, splines)
library(splines)
options(digits = 17)

# Levels in the order of their bytes, whatever the locale.
read <- function(file) {
  table <- read.csv(file, na.strings = c("NA", ""))
  for (name in names(table)) if (is.character(table[[name]]))
    table[[name]] <- factor(table[[name]], levels = sort(unique(table[[name]]), method = "radix"))
  table
}
tables <- list(penguins = na.omit(read("examples/penguins.csv")), iris = read("examples/iris.csv"))
relevel_to <- function(x, level) C(x, contr.treatment(levels(x), base = match(level, levels(x))))
sum_coding <- function(x) C(x, contr.sum)
sum_without <- function(x, level) { x <- factor(x, c(setdiff(levels(x), level), level)); C(x, contr.sum) }

# Each case: the table, linsep's right side, and R's where its words differ.
case <- function(table, ours, theirs = ours) list(table = table, ours = ours, theirs = theirs)
cases <- list(
  case("penguins", "bill_length_mm"),
  case("penguins", "bill_length_mm + island"),
  case("penguins", "island + bill_length_mm"),
  case("penguins", "island * sex"),
  case("penguins", "island * bill_depth_mm"),
  case("penguins", "island:sex"),
  case("penguins", "island:bill_depth_mm"),
  case("penguins", "bill_depth_mm + island:bill_depth_mm"),
  case("penguins", "island + island:sex"),
  case("penguins", "sex + island:sex"),
  case("penguins", "0 + island"),
  case("penguins", "0 + island + sex"),
  case("penguins", "bill_depth_mm + sex + island - 1"),
  case("penguins", "0 + bill_depth_mm + island:bill_depth_mm"),
  case("penguins", "0 + island:sex"),
  case("penguins", "(island + sex + bill_depth_mm)^2"),
  case("penguins", "(island + sex + bill_depth_mm)^3 - island:sex"),
  case("penguins", "island * sex * bill_depth_mm - island"),
  case("penguins", "island:sex:bill_depth_mm + sex"),
  case("penguins", "log(body_mass_g) + sqrt(bill_depth_mm) + exp(bill_depth_mm / 10)"),
  case("penguins", "log1p(body_mass_g) + sin(bill_depth_mm) + cos(bill_depth_mm) + abs(bill_depth_mm - 17)"),
  case("penguins", "I(bill_length_mm^2) + I(bill_length_mm / bill_depth_mm) + I(-bill_depth_mm^3 + 2 * (bill_length_mm - 1))"),
  case("penguins", "poly(body_mass_g, 3)"),
  case("penguins", "poly(body_mass_g, 2, raw = TRUE)"),
  case("penguins", "poly(body_mass_g, 5) + poly(year, 2)"),
  case("penguins", "poly(log(body_mass_g), 2) * sex"),
  case("penguins", "ns(body_mass_g, 4)"),
  case("penguins", "ns(body_mass_g, df = 1) + ns(bill_depth_mm, 2)"),
  case("penguins", "ns(bill_length_mm, knots = c(40, 45, 50)) + ns(bill_depth_mm, 3, intercept = TRUE)"),
  case("penguins", "ns(bill_length_mm, df = 3, Boundary.knots = c(38, 52))"),
  case("penguins", "bs(body_mass_g)"),
  case("penguins", "bs(body_mass_g, 6)"),
  case("penguins", "bs(body_mass_g, df = 7, degree = 2) + bs(bill_depth_mm, degree = 1, knots = c(16, 18))"),
  case("penguins", "bs(body_mass_g, df = 5, intercept = TRUE) - 1"),
  case("penguins", "bs(bill_length_mm, df = 5, Boundary.knots = c(36, 54))"),
  case("penguins", "ns(body_mass_g, 3):island + sex"),
  case("penguins", "C(island, ref = \"Dream\") * bill_depth_mm", "relevel_to(island, \"Dream\") * bill_depth_mm"),
  case("penguins", "C(island, sum) * C(sex, sum)", "sum_coding(island) * sum_coding(sex)"),
  case("penguins", "C(island, sum, ref = \"Biscoe\") + sex", "sum_without(island, \"Biscoe\") + sex"),
  case("penguins", "C(year) * sex", "factor(year) * sex"),
  case("penguins", "0 + sex:bill_depth_mm + C(year, ref = 2008)", "0 + sex:bill_depth_mm + relevel_to(factor(year), \"2008\")"),
  case("iris", ". - Petal.Width", "Sepal.Length + Sepal.Width + Petal.Length"),
  case("iris", ".^2", "(Sepal.Length + Sepal.Width + Petal.Length + Petal.Width)^2"),
  case("iris", "Sepal.Length * ns(Petal.Length, 3) + poly(Petal.Width, 2)"),
  case("iris", "bs(log(Petal.Width), 4):Sepal.Width - 1")
)

numbers <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ","), "]")
quoted <- function(x) paste0("\"", gsub("\"", "\\\\\"", x), "\"")
one <- function(case) {
  table <- tables[[case$table]]
  suppressWarnings(matrix <- model.matrix(as.formula(paste("~", case$theirs)), table))
  matrix <- matrix[, colnames(matrix) != "(Intercept)", drop = FALSE]
  every <- matrix[seq(1, nrow(matrix), by = 9), , drop = FALSE]
  rows <- paste(apply(every, 1, numbers), collapse = ",\n")
  paste0("{\"table\":", quoted(case$table), ",\"formula\":", quoted(case$ours), ",\"r\":", quoted(case$theirs),
         ",\"columns\":", ncol(matrix), ",\"values\":[", rows, "]}")
}
# Natural splines and B-splines beyond the rows they were learned from.
beyond <- function() {
  x <- tables$penguins$body_mass_g
  at <- c(1000, 2700, 3000, 4050, 6300, 7000, 9000)
  bases <- list("ns(body_mass_g, 4)" = ns(x, 4), "bs(body_mass_g, 5)" = bs(x, 5), "poly(body_mass_g, 3)" = poly(x, 3))
  parts <- mapply(function(name, basis) {
    suppressWarnings(values <- predict(basis, at))
    paste0("{\"formula\":", quoted(name), ",\"values\":[", paste(apply(values, 1, numbers), collapse = ","), "]}")
  }, names(bases), bases)
  paste0("{\"at\":", numbers(at), ",\"bases\":[", paste(parts, collapse = ","), "]}")
}
out <- paste0("{\"source\":", quoted(R.version.string), ",\n\"what\":",
  quoted("model.matrix without its intercept, every ninth row; penguins without rows that miss a cell. beyond: bases of all rows at other numbers"),
  ",\n\"cases\":[", paste(sapply(cases, one), collapse = ",\n"), "],\n\"beyond\":", beyond(), "}\n")
writeLines(out, "golden/formula_r.json", sep = "")
cat(length(cases), "formulas\n")
