# Golden values from R: lda_r.json (MASS::lda), logistic_r.json (glm, nnet::multinom).
#
# Run from the repository root: Rscript golden/make_r.R     (R with MASS and nnet; versions are recorded in the files)
#
# Logistic values are polished by Newton steps until the largest entry of the gradient of the mean loss is
# below 1e-12; glm's and multinom's own values must agree with them.
suppressMessages({library(MASS); library(nnet)})
here <- if (dir.exists("golden")) "golden" else "."
source_of <- function(...) paste(c(R.version.string, sapply(c(...), function(p) paste(p, packageVersion(p)))), collapse = ", ")

# ---- JSON: named list -> object, list or vector -> array, matrix -> array of rows; 17 significant digits
number <- function(x) {
  if (is.character(x)) return(paste0('"', gsub('"', '\\\\"', x), '"'))
  if (is.logical(x)) return(ifelse(x, "true", "false"))
  if (is.integer(x)) return(as.character(x))
  stopifnot(all(is.finite(x)))
  s <- sprintf("%.17g", x)
  ifelse(grepl("[.e]", s), s, paste0(s, ".0"))
}
json <- function(x, pad = "") {
  inner <- paste0(pad, " ")
  block <- function(open, items, close) paste0(open, "\n", paste0(inner, items, collapse = ",\n"), "\n", pad, close)
  if (is.list(x) && !is.null(names(x)))
    return(block("{", mapply(function(k, v) paste0('"', k, '": ', json(v, inner)), names(x), x), "}"))
  if (is.list(x)) return(block("[", sapply(x, json, pad = inner), "]"))
  if (is.matrix(x))
    return(block("[", apply(x, 1, function(r) paste0("[", paste(number(r), collapse = ", "), "]")), "]"))
  if (length(x) == 1) number(unname(x)) else paste0("[", paste(number(unname(x)), collapse = ", "), "]")
}
write_golden <- function(name, value) { writeLines(json(value), file.path(here, name)); cat("wrote", name, "\n") }

# ---- data
iris_all <- read.csv(file.path(here, "data/iris.csv"), check.names = FALSE)
penguins <- read.csv(file.path(here, "data/penguins.csv"))
measures <- c("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
penguins <- penguins[complete.cases(penguins[, c("species", measures)]), ]

# 0-based among the rows used: first of each class, the seven least certain, three more (the same list is in common.py)
rows_iris <- c(0L, 50L, 100L, 77L, 133L, 70L, 119L, 138L, 126L, 72L, 20L, 60L, 140L)
rows_penguins <- c(0L, 151L, 274L, 72L, 128L, 328L, 282L, 306L, 338L, 304L, 20L, 200L, 300L)

# ---- LDA
lda_case <- function(x, y, rows, method, prior = NULL) {
  fit <- if (is.null(prior)) lda(x, y, method = method, tol = 1e-12) else lda(x, y, prior = prior, method = method, tol = 1e-12)
  out <- predict(fit, x)
  # the same by the textbook formula
  n <- nrow(x); k <- nlevels(y)
  centred <- x - fit$means[as.integer(y), ]
  cov <- crossprod(centred) / (if (method == "mle") n else n - k)
  w <- solve(cov, t(fit$means))
  b <- -0.5 * colSums(t(fit$means) * w) + log(fit$prior)
  z <- sweep(x %*% w, 2, b, "+")
  e <- exp(z - apply(z, 1, max)); p <- e / rowSums(e)
  stopifnot(max(abs(p - out$posterior)) < 1e-10)
  list(method = method, divisor = if (method == "mle") "n" else "n-K", prior_given = !is.null(prior),
       priors = as.numeric(fit$prior), means = unname(fit$means), covariance = unname(cov),
       coef = unname(t(w)), intercept = unname(b), svd = fit$svd,
       scores = unname(z[rows + 1, ]), posterior = unname(out$posterior[rows + 1, ]),
       predicted = as.integer(out$class)[rows + 1] - 1L,
       confusion = unname(matrix(as.integer(table(y, out$class)), k)))
}
lda_set <- function(file, frame, features, target, rows) {
  x <- as.matrix(frame[, features]); y <- factor(frame[[target]])
  certainty <- apply(predict(lda(x, y), x)$posterior, 1, max)
  stopifnot(all((order(certainty)[1:7] - 1) %in% rows))
  list(data = file, target = target, features = features, classes = levels(y), n = nrow(x), rows = rows,
       counts = as.integer(table(y)),
       cases = list(lda_case(x, y, rows, "moment"), lda_case(x, y, rows, "moment", c(.2, .3, .5)),
                    lda_case(x, y, rows, "mle"), lda_case(x, y, rows, "mle", c(.2, .3, .5))))
}
write_golden("lda_r.json", list(
  source = source_of("MASS"),
  what = paste("MASS::lda. rows: 0-based among the rows used (penguins: rows complete in the features).",
               "posterior, predicted (class code from 0) for these rows; confusion[true][predicted] over all rows used.",
               "covariance, coef, intercept and scores are by the textbook formula in R, checked against MASS's posterior;",
               "svd is MASS's (ratios of between- to within-group standard deviations on the discriminants)."),
  sets = list(lda_set("iris.csv", iris_all, names(iris_all)[1:4], "Species", rows_iris),
              lda_set("penguins.csv", penguins, measures, "species", rows_penguins))))

# ---- softmax in reference form (first class is the reference) and binary logistic as its K = 2
softmax_newton <- function(x, code, k, s, offset, start) {
  xt <- cbind(1, x); dt <- ncol(xt); total <- sum(s)
  y <- outer(code, 1:(k - 1), "==") * 1
  beta <- matrix(start, dt, k - 1)
  at <- function(beta) {
    eta <- xt %*% beta + offset
    top <- pmax(0, apply(eta, 1, max))
    e <- exp(eta - top); den <- exp(-top) + rowSums(e)
    list(p = e / den, loss = sum(s * (log(den) + top - rowSums(y * eta))) / total)
  }
  for (i in 1:50) {
    now <- at(beta)
    g <- crossprod(xt, s * (now$p - y)) / total
    h <- matrix(0, dt * (k - 1), dt * (k - 1))
    for (a in 1:(k - 1)) for (b in 1:(k - 1)) {
      v <- s * now$p[, a] * ((a == b) - now$p[, b])
      h[(a - 1) * dt + 1:dt, (b - 1) * dt + 1:dt] <- crossprod(xt, xt * v) / total
    }
    if (i > 1 && max(abs(g)) >= best) { beta <- kept; break }   # no further progress: rounding
    best <- max(abs(g)); kept <- beta; loss <- now$loss; hess <- h
    beta <- beta - matrix(solve(h, as.vector(g)), dt)
  }
  stopifnot(best < 1e-12)
  list(beta = kept, loss = loss, gradient = best, se = matrix(sqrt(diag(solve(hess * total))), dt))
}

two <- iris_all[iris_all$Species != "setosa", ]
x2 <- as.matrix(two[, 1:4]); y2 <- as.integer(two$Species == "virginica"); i2 <- 0:(nrow(two) - 1)
glm_case <- function(weighted, with_offset) {
  s <- if (weighted) 1 + i2 %% 3 else rep(1, nrow(two))
  o <- if (with_offset) 0.1 * (i2 %% 5) else rep(0, nrow(two))
  fit <- glm(y2 ~ x2, family = binomial(), weights = s, offset = o, control = glm.control(epsilon = 1e-15, maxit = 200))
  new <- softmax_newton(x2, y2, 2, s, o, coef(fit))
  stopifnot(max(abs(new$beta - coef(fit))) < 1e-6, abs(2 * sum(s) * new$loss - deviance(fit)) < 1e-9)
  se <- sqrt(diag(vcov(fit)))
  stopifnot(max(abs(new$se / se - 1)) < 1e-4)
  p <- length(coef(fit))
  # free of the offset's effect: glm's null deviance refits the intercept with weights and offset
  list(data = "iris.csv", target = "Species", features = names(two)[1:4], classes = c("versicolor", "virginica"), n = nrow(two),
       weighted = weighted, offset = with_offset, S = sum(s),
       coef = new$beta[-1, 1], intercept = new$beta[1, 1], se_coef = new$se[-1, 1], se_intercept = new$se[1, 1],
       deviance = 2 * sum(s) * new$loss, null_deviance = fit$null.deviance,
       mean_log_likelihood = -new$loss, log_likelihood = -sum(s) * new$loss,
       aic = 2 * sum(s) * new$loss + 2 * p, bic = 2 * sum(s) * new$loss + p * log(sum(s)),
       gradient = new$gradient, glm_max_difference = max(abs(new$beta - coef(fit))))
}

sim <- read.csv(file.path(here, "data/sim3.csv"), colClasses = c("numeric", "numeric", "numeric", "character"))
x3 <- as.matrix(sim[, 1:3]); f3 <- factor(sim$class); i3 <- 0:(nrow(sim) - 1)
multinom_case <- function(weighted) {
  s <- if (weighted) 1 + i3 %% 3 else rep(1, nrow(sim))
  fit <- multinom(f3 ~ x3, weights = s, reltol = 1e-15, abstol = 0, maxit = 10000, trace = FALSE)
  new <- softmax_newton(x3, as.integer(f3) - 1L, 3, s, 0, t(coef(fit)))
  stopifnot(max(abs(t(new$beta) - coef(fit))) < 1e-5, abs(2 * sum(s) * new$loss - deviance(fit)) < 1e-8)
  full <- rbind(0, t(new$beta))                     # K x (1 + d), reference class first
  centred <- sweep(full, 2, colMeans(full))
  list(data = "sim3.csv", target = "class", features = names(sim)[1:3], classes = levels(f3), n = nrow(sim),
       weighted = weighted, S = sum(s), reference = levels(f3)[1],
       reference_coef = unname(t(new$beta)[, -1]), reference_intercept = new$beta[1, ],
       reference_se_coef = unname(t(new$se)[, -1]), reference_se_intercept = new$se[1, ],
       symmetric_coef = unname(centred[, -1]), symmetric_intercept = unname(centred[, 1]),
       deviance = 2 * sum(s) * new$loss, mean_log_likelihood = -new$loss, gradient = new$gradient,
       multinom_max_difference = max(abs(t(new$beta) - coef(fit))))
}
write_golden("logistic_r.json", list(
  source = paste(source_of("nnet"), "(polished by Newton)"),
  what = paste("Maximum likelihood. glm: iris without setosa in file order, virginica = 1. weights: 1 + i mod 3, offset:",
               "0.1 (i mod 5), for the i-th row used, from 0. se: inverse information at total weight S (weights are",
               "frequencies). bic uses log S. null_deviance: intercept (and offset) only. multinom: reference_* has K-1 rows,",
               "classes after the reference; symmetric_* has K rows that sum to 0 in every column."),
  glm = list(glm_case(FALSE, FALSE), glm_case(TRUE, FALSE), glm_case(FALSE, TRUE), glm_case(TRUE, TRUE)),
  multinom = list(multinom_case(FALSE), multinom_case(TRUE))))
