# Golden values of cross-validated paths from R: cv_glmnet.json.
#
# Run from the repository root: Rscript golden/make_cv_glmnet.R     (R with glmnet; versions are recorded in the file)
#
# cv.glmnet with given folds and given λ: the mean deviance of every λ over the folds, each of which counts by its weight, its
# standard error, the λ of the least mean (lambda.min), and the largest λ whose mean is within one standard error of it
# (lambda.1se). The deviance is twice the log loss; cv.glmnet clips probabilities at 1e-5, so that paths end before any is. Columns are standardised in every fold by its own training rows.
suppressMessages(library(glmnet))
here <- if (dir.exists("golden")) "golden" else "."
glmnet.control(fdev = 0, devmax = 1, epsnr = 1e-14, mxitnr = 1000)

number <- function(x) { s <- sprintf("%.17g", x); ifelse(grepl("[.en]", s), s, paste0(s, ".0")) }
vector_of <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")

iris_all <- read.csv(file.path(here, "data/iris.csv"), check.names = FALSE)
x <- as.matrix(iris_all[, 1:4]); y <- factor(iris_all[, 5])
two <- y != levels(y)[1]
fold <- 1 + (seq_len(nrow(x)) * 7 + seq_len(nrow(x)) %/% 11) %% 5
weights <- 1 + (seq_len(nrow(x)) %% 3)

case <- function(name, rows, family, alpha, lambda, standardize, w = rep(1, nrow(x)), measure = "deviance") {
  found <- cv.glmnet(x[rows, ], droplevels(y[rows]), family = family, alpha = alpha, lambda = lambda, foldid = fold[rows],
                     weights = w[rows], standardize = standardize, type.measure = measure, thresh = 1e-16, maxit = 1e7)
  scale <- if (measure == "deviance") 2 else 1
  stopifnot(length(found$lambda) == length(lambda))
  paste0('  {"name": "', name, '", "classes": ', nlevels(droplevels(y[rows])), ', "alpha": ', number(alpha), ', "standardize": ',
         tolower(standardize), ', "weighted": ', tolower(any(w[rows] != 1)), ', "metric": "',
         if (measure == "deviance") "log-loss" else "error", '",\n   "lambda": ', vector_of(found$lambda), ',\n   "mean": ',
         vector_of(found$cvm / scale), ',\n   "se": ', vector_of(found$cvsd / scale), ',\n   "lambda_min": ',
         number(found$lambda.min), ', "lambda_1se": ', number(found$lambda.1se), "}")
}
path <- function(from, to, n) from * (to / from)^(seq(0, n - 1) / (n - 1))
cases <- c(
  case("lasso", two, "binomial", 1, path(0.4, 0.02, 12), TRUE),
  case("lasso, columns as they are", two, "binomial", 1, path(0.4, 0.02, 12), FALSE),
  case("elastic net, weighted", two, "binomial", 0.5, path(0.5, 0.012, 12), TRUE, weights),
  case("ridge", two, "binomial", 0, path(5, 0.005, 12), TRUE),
  case("lasso by error", two, "binomial", 1, path(0.4, 0.02, 12), TRUE, measure = "class"),
  case("softmax lasso", rep(TRUE, nrow(x)), "multinomial", 1, path(0.3, 0.02, 10), TRUE))
version <- paste(R.version.string, "glmnet", packageVersion("glmnet"))
writeLines(c(paste0('{"source": "', version, '", "fold": ', vector_of(fold), ', "weights": ', vector_of(weights), ', "cases": ['),
             paste(cases, collapse = ",\n"), "]}"), file.path(here, "cv_glmnet.json"))
