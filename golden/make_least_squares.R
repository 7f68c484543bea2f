# Golden values from R's lm: least_squares_r.json.
#
# Run from the repository root: Rscript golden/make_least_squares.R     (the version of R is recorded in the file)
#
# lm is a QR in column order that leaves out dependent columns (NA, written as 0) and reports the rank.
here <- if (dir.exists("golden")) "golden" else "."
number <- function(x) { s <- sprintf("%.17g", x); ifelse(grepl("[.e]", s), s, paste0(s, ".0")) }
array <- function(x) paste0("[", paste(x, collapse = ", "), "]")
quoted <- function(x) array(paste0('"', x, '"'))

case <- function(file, target, features, classes, weighted, sum_column) {
  d <- read.csv(file.path(here, "data", file), check.names = FALSE)
  d <- d[complete.cases(d[, c(target, features)]) & d[[target]] %in% classes, ]
  x <- as.matrix(d[, features])
  # a dependent column, named after what it is: the sum of the first two
  if (sum_column) x <- cbind(x, sum = x[, 1] + x[, 2])
  s <- if (weighted) 1 + (seq_len(nrow(d)) - 1) %% 3 else rep(1, nrow(d))
  targets <- if (length(classes) == 2) list(ifelse(d[[target]] == classes[2], 1, -1)) else
    lapply(classes, function(k) as.numeric(d[[target]] == k))
  fits <- lapply(targets, function(t) lm(t ~ x, weights = s))
  objective <- sum(sapply(fits, function(f) sum(s * residuals(f)^2))) / (2 * sum(s))
  coef <- lapply(fits, function(f) ifelse(is.na(coef(f)), 0, coef(f)))
  # the normal equations hold
  for (f in fits) stopifnot(max(abs(crossprod(cbind(1, x), s * residuals(f)))) < 1e-7 * nrow(x) * max(abs(x)))
  paste0('  {"data": "', file, '", "target": "', target, '", "features": ', quoted(features), ', "classes": ',
         quoted(classes), ',\n   "n": ', nrow(d), ', "weighted": ', tolower(weighted), ', "sum_column": ',
         tolower(sum_column), ', "rank": ', fits[[1]]$rank - 1, ',\n   "objective": ', number(objective),
         ',\n   "coef": [', paste(sapply(coef, function(b) array(number(unname(b[-1])))), collapse = ",\n    "),
         '],\n   "intercept": ', array(number(sapply(coef, function(b) unname(b[1])))), '}')
}

measures <- c("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
sizes <- c("Sepal.Length", "Sepal.Width", "Petal.Length", "Petal.Width")
species <- c("setosa", "versicolor", "virginica")
birds <- c("Adelie", "Chinstrap", "Gentoo")
cases <- c(
  case("iris.csv", "Species", sizes, species, FALSE, FALSE),
  case("iris.csv", "Species", sizes, species[2:3], TRUE, FALSE),
  case("penguins.csv", "species", measures, birds, TRUE, FALSE),
  case("penguins.csv", "species", measures, birds[1:2], FALSE, TRUE),
  case("iris.csv", "Species", sizes, species, FALSE, TRUE)
)
writeLines(paste0('{"source": "', R.version.string, '",\n "cases": [\n', paste(cases, collapse = ",\n"), "]}"),
           file.path(here, "least_squares_r.json"))
