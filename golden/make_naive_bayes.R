# Golden values from R: naive_bayes_r.json (Poisson naive Bayes by dpois).
#
# Run from the repository root: Rscript golden/make_naive_bayes.R     (base R; its version is recorded in the file)
#
# Rates are the class means, smoothed by the mean of all rows: (sum(s x) + alpha m) / (sum(s) + alpha). The log-odds against
# the first class come from dpois with its factorials; the linear form of the textbook must give the same.
here <- if (dir.exists("golden")) "golden" else "."
vector <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
rows_of <- function(m) paste0("[", paste(apply(m, 1, vector), collapse = ",\n   "), "]")

case <- function(rates, counts, weighted, alpha, priors) {
  classes <- nrow(rates); cols <- ncol(rates)
  y <- rep(seq_len(classes), counts); n <- length(y)
  x <- matrix(rpois(n * cols, rates[y, ]), n, cols)
  s <- if (weighted) 1 + (seq_len(n) - 1) %% 3 / 2 else rep(1, n)
  overall <- colSums(s * x) / sum(s)
  lambda <- t(sapply(seq_len(classes), function(k)
    (colSums((s * x)[y == k, , drop = FALSE]) + alpha * overall) / (sum(s[y == k]) + alpha)))
  share <- if (is.null(priors)) sapply(seq_len(classes), function(k) sum(s[y == k])) / sum(s) else priors
  joint <- sapply(seq_len(classes), function(k)
    log(share[k]) + rowSums(matrix(dpois(x, rep(lambda[k, ], each = n), log = TRUE), n, cols)))
  odds <- joint[, -1, drop = FALSE] - joint[, 1]
  linear <- sapply(seq_len(classes)[-1], function(k)
    x %*% log(lambda[k, ] / lambda[1, ]) + log(share[k] / share[1]) + sum(lambda[1, ] - lambda[k, ]))
  stopifnot(max(abs(odds - linear)) < 1e-9)
  likelihood <- -sum(s * joint[cbind(seq_len(n), y)]) / sum(s)
  # the factorials have no parameter
  objective <- likelihood - sum(s * rowSums(lfactorial(x))) / sum(s)
  paste0('  {"cols": ', cols, ', "classes": ', classes, ', "alpha": ', alpha, ', "objective": ',
         sprintf("%.17g", objective), ',\n   "priors": ', if (is.null(priors)) "null" else vector(priors),
         ',\n   "weights": ', if (weighted) vector(s) else "null", ',\n   "y": ', vector(y - 1),
         ',\n   "x": ', vector(as.vector(t(x))), ',\n   "rates": ', rows_of(lambda),
         ',\n   "log_odds": ', rows_of(odds), "}")
}

set.seed(20240517)
two <- rbind(c(0.4, 3, 20), c(1.1, 2, 26))
three <- rbind(c(0.2, 5, 1, 300), c(0.9, 4, 1, 330), c(0.5, 9, 0.3, 290))
cases <- c(
  case(two, c(25, 15), FALSE, 0, NULL),
  case(two, c(12, 28), TRUE, 1, NULL),
  case(three, c(14, 20, 9), FALSE, 0.5, NULL),
  case(three, c(14, 20, 9), TRUE, 1, c(0.2, 0.5, 0.3)))
writeLines(paste0('{"source": "', R.version.string, '",\n "cases": [\n', paste(cases, collapse = ",\n"), "]}"),
           file.path(here, "naive_bayes_r.json"))
cat("wrote naive_bayes_r.json\n")
