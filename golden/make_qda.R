# Golden values from R: qda_r.json (MASS::qda).
#
# Run from the repository root: Rscript golden/make_qda.R     (R with MASS; versions are recorded in the file)
#
# The posteriors are computed a second time by the textbook formula; both must agree.
suppressMessages(library(MASS))
here <- if (dir.exists("golden")) "golden" else "."
vector <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
words <- function(x) paste0("[", paste0('"', x, '"', collapse = ", "), "]")
rows_of <- function(m) paste0("[", paste(apply(m, 1, vector), collapse = ",\n   "), "]")

case <- function(file, target, features, rows, method) {
  table <- read.csv(file.path(here, "data", file), check.names = FALSE)
  table <- table[complete.cases(table[, c(target, features)]), ]
  x <- as.matrix(table[, features]); y <- factor(table[[target]])
  fit <- qda(x, y, method = method)
  posterior <- predict(fit, x)$posterior
  joint <- sapply(levels(y), function(k) {
    own <- x[y == k, , drop = FALSE]
    n <- nrow(own); mu <- colMeans(own)
    sigma <- cov(own) * (if (method == "mle") (n - 1) / n else 1)
    log(n / nrow(x)) - 0.5 * as.numeric(determinant(sigma)$modulus) - 0.5 * mahalanobis(x, mu, sigma)
  })
  e <- exp(joint - apply(joint, 1, max)); p <- e / rowSums(e)
  stopifnot(max(abs(p - posterior)) < 1e-9)
  paste0('{"data": "', file, '", "target": "', target, '", "features": ', words(features),
         ', "classes": ', words(levels(y)), ', "n": ', nrow(x), ', "divisor": "', if (method == "mle") "n" else "n-1",
         '",\n  "rows": ', vector(rows), ',\n  "posterior": ', rows_of(posterior[rows + 1, ]),
         ',\n  "differences": ', rows_of(joint[rows + 1, -1] - joint[rows + 1, 1]),
         ',\n  "errors": ', sum(predict(fit, x)$class != y), "}")
}
measures <- c("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
flower <- c("Sepal.Length", "Sepal.Width", "Petal.Length", "Petal.Width")
iris_names <- names(read.csv(file.path(here, "data/iris.csv"), check.names = FALSE))
flower <- intersect(iris_names, c(flower, gsub("\\.", "_", tolower(flower)), tolower(flower)))
label <- setdiff(iris_names, c(flower, "rownames", ""))[1]
cases <- c(
  case("iris.csv", label, flower, c(0, 50, 100, 77, 133, 70, 119, 20), "moment"),
  case("iris.csv", label, flower, c(0, 50, 100, 77, 133, 70, 119, 20), "mle"),
  case("penguins.csv", "species", measures, c(0, 151, 274, 72, 128, 328, 282, 306), "moment"),
  case("penguins.csv", "species", measures, c(0, 151, 274, 72, 128, 328, 282, 306), "mle"))
source <- paste(R.version.string, "MASS", packageVersion("MASS"))
writeLines(paste0('{"source": "', source, '",\n "cases": [', paste(cases, collapse = ",\n "), "]}"),
           file.path(here, "qda_r.json"))
cat("wrote qda_r.json\n")
