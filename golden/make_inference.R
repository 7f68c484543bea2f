# Golden values of inference from R: inference_r.json (data in golden/data), inference_shared_r.json (data in ../shared/data),
# and the simulated tables data/infer.csv and data/infer_separated.csv.
#
# Run from the repository root: Rscript golden/make_inference.R
# (R with MASS, nnet, car, sandwich, pROC, brglm2; versions are recorded in the files. LINSEP_SHARED names another
# folder for the shared data; without it inference_shared_r.json is left as it is.)
#
# Every maximum is polished by Newton steps, in centred and scaled columns, until the largest entry of the gradient of the mean
# loss is below 1e-13, profile limits are roots (uniroot, tol 1e-12 in units of the standard error) over such refits.
# glm, nnet, car, sandwich, brglm2, pROC must agree with them; limits and tests, which those packages do not give at this
# accuracy, are the definitions written out.
invisible(Sys.setlocale("LC_COLLATE", "C"))
suppressMessages({library(MASS); library(nnet); library(car); library(sandwich); library(pROC); library(brglm2)})
here <- if (dir.exists("golden")) "golden" else "."
shared <- file.path(Sys.getenv("LINSEP_SHARED", "../shared/data"), "small")
source_of <- function(...) paste(c(R.version.string, sapply(c(...), function(p) paste(p, packageVersion(p)))), collapse = ", ")
close_to <- function(a, b, tolerance) {
  worst <- max(abs(a - b) / (1e-12 + pmax(abs(a), abs(b))))
  if (!(worst < tolerance)) stop("disagree: ", worst, "\n", paste(head(a), collapse = " "), "\n", paste(head(b), collapse = " "))
}

# ---- JSON: named list -> object, list -> array, matrix -> array of rows, I(vector) -> array, vector of length 1 -> scalar;
# 17 significant digits; NA and infinities -> null
number <- function(x) {
  if (is.character(x)) return(paste0('"', gsub('"', '\\\\"', x), '"'))
  if (is.logical(x)) return(ifelse(is.na(x), "null", ifelse(x, "true", "false")))
  if (is.integer(x)) return(as.character(x))
  s <- sprintf("%.17g", x)
  ifelse(is.finite(x), ifelse(grepl("[.e]", s), s, paste0(s, ".0")), "null")
}
json <- function(x, pad = "") {
  inner <- paste0(pad, " ")
  block <- function(open, items, close) paste0(open, "\n", paste0(inner, items, collapse = ",\n"), "\n", pad, close)
  if (is.null(x)) return("null")
  if (is.list(x) && !is.null(names(x)))
    return(block("{", mapply(function(k, v) paste0('"', k, '": ', json(v, inner)), names(x), x), "}"))
  if (is.list(x)) return(if (length(x)) block("[", sapply(x, json, pad = inner), "]") else "[]")
  if (is.matrix(x))
    return(block("[", apply(x, 1, function(r) paste0("[", paste(number(r), collapse = ", "), "]")), "]"))
  if (length(x) == 1 && !inherits(x, "AsIs")) number(unname(x))
  else paste0("[", paste(number(unname(unclass(x))), collapse = ", "), "]")
}
write_golden <- function(name, value) { writeLines(json(value), file.path(here, name)); cat("wrote", name, "\n") }
plain <- function(m) { m <- as.matrix(m); dimnames(m) <- NULL; m }

# ---- simulated tables: seeded, written as text, and read back from the text
suppressWarnings(RNGkind("Mersenne-Twister", "Inversion", "Rejection"))
simulate <- function() {
  set.seed(20240719)
  n <- 300
  clinic <- sample(sprintf("c%02d", 1:20), n, TRUE)
  shift <- setNames(rnorm(20, 0, 0.6), sprintf("c%02d", 1:20))
  d <- data.frame(age = round(runif(n, 20, 70)), dose = sprintf("%.2f", rexp(n, 1 / 2)), noise = sprintf("%.3f", rnorm(n)),
                  group = sample(c("west", "north", "east", "south"), n, TRUE, c(.2, .35, .3, .15)),
                  treated = rbinom(n, 1, 0.4), clinic = clinic, count = 1 + rbinom(n, 3, 0.3),
                  share = sprintf("%.2f", runif(n, 0.2, 2.5)))
  eta <- -2.2 + 0.045 * d$age - 0.25 * as.numeric(d$dose) + 0.02 * as.numeric(d$noise) - 0.8 * d$treated +
    c(east = 0, north = 0.5, south = -0.4, west = 0.9)[d$group] + shift[clinic]
  d$outcome <- ifelse(runif(n) < plogis(eta), "yes", "no")
  s2 <- -0.4 + 0.02 * d$age - 0.1 * as.numeric(d$dose); s3 <- -2.2 + 0.05 * d$age + 0.6 * (d$group == "west") - 0.5 * d$treated
  u <- runif(n); total <- 1 + exp(s2) + exp(s3)
  d$grade <- ifelse(u < 1 / total, "mild", ifelse(u < (1 + exp(s2)) / total, "moderate", "severe"))
  write.csv(d, file.path(here, "data/infer.csv"), row.names = FALSE, quote = FALSE)
  # quasi-complete separation of the kind of the endometrial data: every row with marker 1 has outcome yes
  n <- 80
  d <- data.frame(marker = rbinom(n, 1, 0.18), index = round(pmax(0, rnorm(n, 18, 9))), thickness = sprintf("%.2f", runif(n, 0.3, 3.6)))
  d$outcome <- ifelse(d$marker == 1 | runif(n) < plogis(3 - 0.03 * d$index - 2 * as.numeric(d$thickness)), "yes", "no")
  write.csv(d, file.path(here, "data/infer_separated.csv"), row.names = FALSE, quote = FALSE)
}
simulate()

# ---- the engine: logistic with classes 0..K-1 (0 is the reference), parameters class by class: (class 1: all columns), (class 2: ...)
# columns are centred and scaled within; `back` takes parameters to the units of the columns.
model <- function(X, code, K, w = rep(1, nrow(X)), offset = 0) {
  p <- ncol(X); one <- which(apply(X, 2, function(v) all(v == 1)))
  stopifnot(length(one) <= 1)
  scale <- apply(X, 2, function(v) { s <- if (length(one)) sd(v) else sqrt(mean(v^2)); if (s > 0) 2^round(log2(s)) else 1 })
  centre <- if (length(one)) colMeans(X) else rep(0, p)
  if (length(one)) { scale[one] <- 1; centre[one] <- 0 }
  T <- diag(1 / scale, p); if (length(one)) T[one, ] <- T[one, ] - centre / scale
  Z <- sweep(sweep(X, 2, centre), 2, scale, "/")
  list(X = X, Z = Z, K = K, p = p, q = p * (K - 1), n = nrow(X), w = w, S = sum(w), offset = offset, code = code,
       Y = outer(code, seq_len(K - 1), "==") * 1, back = kronecker(diag(K - 1), T))
}
log_likelihood <- function(m, theta) {
  eta <- m$Z %*% matrix(theta, m$p) + m$offset
  top <- pmax(0, apply(eta, 1, max))
  sum(m$w * (rowSums(m$Y * eta) - top - log(exp(-top) + rowSums(exp(eta - top)))))
}
at <- function(m, theta) {
  eta <- m$Z %*% matrix(theta, m$p) + m$offset
  top <- pmax(0, apply(eta, 1, max))
  e <- exp(eta - top); den <- exp(-top) + rowSums(e); P <- e / den
  # y - p without cancellation, for the class that is right
  R <- m$Y - P
  if (m$K == 2) R <- ifelse(m$Y == 1, exp(-top) / den, -P)
  info <- matrix(0, m$q, m$q)
  for (a in seq_len(m$K - 1)) for (b in seq_len(m$K - 1))
    info[(a - 1) * m$p + seq_len(m$p), (b - 1) * m$p + seq_len(m$p)] <-
      crossprod(m$Z, m$Z * (m$w * (if (a == b && m$K == 2) P[, 1] * exp(-top) / den else P[, a] * ((a == b) - P[, b]))))
  list(eta = eta, P = P, R = R, ll = sum(m$w * (rowSums(m$Y * eta) - top - log(den))),
       u = as.vector(crossprod(m$Z, m$w * R)), info = info)
}
# maximum over theta = t0 + N g
maximum <- function(m, N = diag(m$q), t0 = rep(0, m$q), start = NULL, tolerance = 1e-13) {
  if (ncol(N) == 0) { now <- at(m, t0); return(c(now, list(theta = t0, gradient = 0))) }
  g <- if (is.null(start)) rep(0, ncol(N)) else qr.solve(N, start - t0)
  now <- at(m, t0 + N %*% g)
  best <- max(abs(crossprod(N, now$u))) / m$S; idle <- 0
  for (i in 1:200) {
    step <- solve(crossprod(N, now$info %*% N), crossprod(N, now$u), tol = 1e-300)
    t <- 1
    repeat {
      new <- at(m, t0 + N %*% (g + t * step))
      if (is.finite(new$ll) && new$ll >= now$ll - 1e-10 * abs(now$ll)) break
      t <- t / 2; if (t < 1e-10) stop("no progress")
    }
    size <- max(abs(crossprod(N, new$u))) / m$S
    if (size < best || size > 1e-9) { g <- g + t * step; now <- new; best <- size; idle <- 0 } else idle <- idle + 1
    if (best < 1e-17 || idle > 0) break
  }
  if (best >= tolerance) stop("gradient ", best)
  c(now, list(theta = as.vector(t0 + N %*% g), gradient = best))
}
fitted_model <- function(m) {
  f <- maximum(m)
  Vs <- if (m$K == 2) chol2inv(qr.R(qr(m$Z * as.vector(sqrt(m$w * f$P * (1 - f$P)))))) else solve(f$info, tol = 1e-300)
  c(f, list(m = m, beta = as.vector(m$back %*% f$theta), V = m$back %*% Vs %*% t(m$back), Vs = Vs))
}
null_basis <- function(C) { s <- svd(C, nu = 0, nv = ncol(C)); s$v[, -seq_len(nrow(C)), drop = FALSE] }
restricted <- function(f, C, d, start = NULL) {               # C beta = d in the units of the columns
  Cs <- C %*% f$m$back
  t0 <- as.vector(crossprod(Cs, solve(tcrossprod(Cs), d)))
  maximum(f$m, null_basis(Cs), t0, start)
}
chi2 <- function(statistic, df) {
  list(df = as.integer(df), statistic = statistic, p = pchisq(statistic, df, lower.tail = FALSE),
       log10_p = pchisq(statistic, df, lower.tail = FALSE, log.p = TRUE) / log(10))
}
test_linear <- function(f, C, d = rep(0, nrow(C))) {
  r <- restricted(f, C, d)
  gap <- C %*% f$beta - d
  list(matrix = plain(C), value = I(d), lr = chi2(2 * (f$ll - r$ll), nrow(C)),
       score = chi2(sum(r$u * solve(r$info, r$u, tol = 1e-300)), nrow(C)),
       wald = chi2(sum(gap * solve(C %*% f$V %*% t(C), gap, tol = 1e-300)), nrow(C)),
       restricted_log_likelihood = r$ll)
}
unit <- function(j, q) { C <- matrix(0, length(j), q); C[cbind(seq_along(j), j)] <- 1; C }
# profile limits: roots in t, beta_j = estimate + t se; NA where the profile never reaches the quantile
profile_limits <- function(f, j, level = 0.95, reach = 60) {
  se <- sqrt(f$V[j, j]); C <- unit(j, f$m$q); cut <- qchisq(level, 1)
  start <- f$theta
  gap <- function(t) 2 * (f$ll - restricted(f, C, f$beta[j] + t * se, start)$ll) - cut
  sapply(c(-1, 1), function(side) {
    far <- side * 2
    while (gap(far) < 0) { far <- far * 1.5; if (abs(far) > reach) return(NA) }
    root <- uniroot(gap, sort(c(0, far)), tol = 1e-12, maxiter = 500, f.lower = if (side > 0) -cut else gap(far), f.upper = if (side > 0) gap(far) else -cut)$root
    stopifnot(abs(gap(root)) < 1e-9)
    f$beta[j] + root * se
  })
}
log10_two_sided <- function(z) (log(2) + pnorm(-abs(z), log.p = TRUE)) / log(10)

# ---- a design by a formula, with the names of linsep
design <- function(formula, d) {
  X <- model.matrix(formula, d); terms <- terms(formula, data = d)
  names <- colnames(X)
  vars <- all.vars(formula)[-1]
  pretty <- function(s) {
    for (v in vars) if (is.factor(d[[v]])) for (l in levels(d[[v]])) if (s == paste0(v, l)) return(paste0(v, "=", l))
    s
  }
  names <- sapply(strsplit(names, ":", fixed = TRUE), function(parts) paste(sapply(parts, pretty), collapse = "*"))
  names[names == "(Intercept)"] <- "(intercept)"
  F <- attr(terms, "factors")
  list(X = X, names = unname(names), assign = attr(X, "assign"), labels = gsub(":", "*", attr(terms, "term.labels"), fixed = TRUE),
       factors = F[rowSums(F) > 0, , drop = FALSE])
}
type_two <- function(f, g) {
  rows <- lapply(seq_along(g$labels), function(i) {
    above <- sapply(seq_along(g$labels), function(j) j != i && all(g$factors[g$factors[, i] > 0, j] > 0))
    base <- which(!(g$assign %in% c(i, which(above)))); with <- which(!(g$assign %in% which(above)))
    column <- function(keep) as.vector(outer(keep, (seq_len(f$m$K - 1) - 1) * f$m$p, "+"))
    fit <- function(keep) if (length(keep) == f$m$p) f$ll else maximum(model(f$m$X[, keep, drop = FALSE], f$m$code, f$m$K, f$m$w))$ll
    c(list(name = g$labels[i], test = "likelihood ratio"), chi2(2 * (fit(with) - fit(base)), length(with) * (f$m$K - 1) - length(base) * (f$m$K - 1)))
  })
  rows
}
ellipsoid <- function(f, set, names, level = 0.95) {
  e <- eigen(f$V[set, set], symmetric = TRUE)
  v <- apply(e$vectors, 2, function(a) a * sign(a[which.max(abs(a))]))
  list(columns = I(names[set]), level = level, radius_squared = qchisq(level, length(set)), centre = I(f$beta[set]),
       half_lengths = I(sqrt(qchisq(level, length(set)) * e$values)), directions = plain(t(v)))
}
coefficient_table <- function(f, names, classes = NULL, profile = TRUE) {
  q <- f$m$q; se <- sqrt(diag(f$V)); z <- f$beta / se; k <- qnorm(0.975)
  out <- list(names = I(rep(names, f$m$K - 1)))
  if (!is.null(classes)) out$class <- I(rep(classes[-1], each = length(names)))
  out <- c(out, list(estimate = I(f$beta), se = I(se), z = I(z), p = I(2 * pnorm(-abs(z))), log10_p = I(log10_two_sided(z)),
              low = I(f$beta - k * se), high = I(f$beta + k * se),
              odds_ratio = I(exp(f$beta)), odds_low = I(exp(f$beta - k * se)), odds_high = I(exp(f$beta + k * se))))
  single <- lapply(seq_len(q), function(j) test_linear(f, unit(j, q)))
  out$lr <- I(sapply(single, function(t) t$lr$statistic)); out$lr_p <- I(sapply(single, function(t) t$lr$p))
  out$lr_log10_p <- I(sapply(single, function(t) t$lr$log10_p))
  out$score <- I(sapply(single, function(t) t$score$statistic)); out$score_p <- I(sapply(single, function(t) t$score$p))
  if (profile) {
    limits <- sapply(seq_len(q), function(j) profile_limits(f, j))
    out$profile_low <- I(limits[1, ]); out$profile_high <- I(limits[2, ])
  }
  out
}
fit_numbers <- function(f, y_second = NULL) {
  m <- f$m; n <- m$S; k <- m$q
  shares <- tapply(m$w, factor(m$code, 0:(m$K - 1)), sum) / n
  ll0 <- n * sum(shares * log(shares))
  d <- -2 * f$ll; d0 <- -2 * ll0
  out <- list(n = if (n == round(n)) as.integer(n) else n, parameters = as.integer(k), log_likelihood = f$ll, deviance = d, null_deviance = d0, aic = d + 2 * k, bic = d + k * log(n),
              mcfadden = 1 - f$ll / ll0, cox_snell = 1 - exp((d - d0) / n), nagelkerke = (1 - exp((d - d0) / n)) / (1 - exp(-d0 / n)),
              gradient = f$gradient)
  if (m$K == 2) out$tjur <- sum((m$w * f$P)[m$code == 1]) / sum(m$w[m$code == 1]) - sum((m$w * f$P)[m$code == 0]) / sum(m$w[m$code == 0])
  out
}
row_scores <- function(f) do.call(cbind, lapply(seq_len(f$m$K - 1), function(a) f$m$Z * f$R[, a]))
sandwich_of <- function(f, meat) f$m$back %*% f$Vs %*% meat %*% f$Vs %*% t(f$m$back)
cluster_meat <- function(U, g) { s <- rowsum(U, g); G <- nrow(s); crossprod(s) * G / (G - 1) }

# ---- two classes: rows expanded by their counts
binary_case <- function(name, d, formula, target, classes, counts = NULL, cluster = NULL, sets = list(), contrasts = list(), ellipse = NULL,
                        data, extra = list(), diagnostics = TRUE, interactions = FALSE) {
  code0 <- as.integer(factor(d[[target]], classes)) - 1L
  index <- if (is.null(counts)) seq_len(nrow(d)) else rep(seq_len(nrow(d)), counts)
  D <- d[index, , drop = FALSE]; D$.y <- code0[index]
  rhs <- update(formula, .y ~ .)
  g <- design(rhs, D); X <- g$X
  f <- fitted_model(model(X, D$.y, 2))
  # glm itself
  r <- glm(rhs, binomial(), D, control = glm.control(epsilon = 1e-14, maxit = 100))
  close_to(f$beta, coef(r), 1e-7); close_to(as.vector(f$V), as.vector(vcov(r)), 1e-4)
  numbers <- fit_numbers(f)
  close_to(c(numbers$deviance, numbers$null_deviance, numbers$aic, numbers$bic), c(deviance(r), r$null.deviance, AIC(r), BIC(r)), 1e-10)
  table <- coefficient_table(f, g$names)
  ci <- suppressMessages(confint(r))                          # interpolates: close only
  stopifnot(max(abs(ci - cbind(table$profile_low, table$profile_high)) / table$se) < 2e-2)
  terms <- type_two(f, g)
  a <- Anova(r, type = 2, test.statistic = "LR")
  close_to(sapply(terms, `[[`, "statistic"), a[["LR Chisq"]], 1e-6)
  stopifnot(all(sapply(terms, `[[`, "df") == a$Df))
  # sets and contrasts
  q <- ncol(X); where <- function(names) { stopifnot(all(names %in% g$names)); match(names, g$names) }
  tests <- c(list(c(list(name = "all but the intercept"), test_linear(f, unit(2:q, q)))),
    lapply(sets, function(s) {
      t <- test_linear(f, unit(where(s), q))
      small <- glm.fit(X[, -where(s), drop = FALSE], D$.y, family = binomial(), control = glm.control(epsilon = 1e-14, maxit = 100))
      full <- r; rao <- { W <- small$weights; z <- small$residuals       # anova's Rao: the rise of the weighted sum of squares
        sum((lm.wfit(X, z, W)$fitted.values)^2 * W) }
      close_to(t$score$statistic, rao, 1e-6)
      w <- linearHypothesis(r, unit(where(s), q), test = "Chisq"); close_to(t$wald$statistic, w$Chisq[2], 1e-5)
      c(list(name = paste(s, collapse = ", ")), t)
    }),
    lapply(contrasts, function(s) {
      C <- do.call(rbind, lapply(s$rows, function(v) { row <- rep(0, q); row[where(names(v))] <- v; row }))
      t <- test_linear(f, C, s$value)
      w <- linearHypothesis(r, C, s$value, test = "Chisq"); close_to(t$wald$statistic, w$Chisq[2], 1e-5)
      c(list(name = s$name), t)
    }))
  names(tests) <- NULL
  out <- c(list(name = name, data = data, target = target, classes = classes, second_class = classes[2], formula = paste(deparse(formula), collapse = ""),
                weights = if (is.null(counts)) NULL else "counts, as copies of rows", rows_in_file = nrow(d)),
           extra, list(fit = numbers, coefficients = table, vcov = plain(f$V), terms = terms, tests = tests))
  # robust covariances
  p <- as.vector(f$P); Wt <- p * (1 - p); e <- as.vector(f$R); n <- nrow(X)
  h <- rowSums((f$m$Z %*% f$Vs) * f$m$Z) * Wt
  hc <- function(omega) sandwich_of(f, crossprod(f$m$Z, f$m$Z * omega))
  robust <- list(hc0 = hc(e^2), hc1 = hc(e^2 * n / (n - q)), hc2 = hc(e^2 / (1 - h)), hc3 = hc(e^2 / (1 - h)^2))
  for (type in c("HC0", "HC1", "HC2", "HC3")) close_to(as.vector(robust[[tolower(type)]]), as.vector(vcovHC(r, type = type)), 1e-4)
  out$robust <- lapply(robust, plain)
  if (!is.null(cluster)) {
    V <- sandwich_of(f, cluster_meat(f$m$Z * e, D[[cluster]]))
    close_to(as.vector(V), as.vector(vcovCL(r, D[[cluster]], type = "HC0", cadjust = TRUE)), 1e-4)
    out$robust$cluster <- plain(V); out$robust$cluster_column <- cluster; out$robust$clusters <- length(unique(D[[cluster]]))
  }
  out$robust$se <- lapply(c(robust, if (!is.null(cluster)) list(cluster = out$robust$cluster)), function(V) I(sqrt(diag(V))))
  if (!diagnostics) return(out)
  # rows: the first ten of the file
  first <- match(1:10, index); pearson <- e / sqrt(Wt)
  dev <- sign(e) * sqrt(-2 * ifelse(D$.y == 1, log(p), log1p(-p)))
  cook <- pearson^2 * h / ((1 - h)^2 * q)
  close_to(h, hatvalues(r), 1e-6); close_to(cook, cooks.distance(r), 1e-5); close_to(dev, residuals(r, "deviance"), 1e-6); close_to(pearson, residuals(r, "pearson"), 1e-6)
  out$rows <- list(hat = I(h[first]), cook = I(cook[first]), deviance_residual = I(dev[first]), pearson_residual = I(pearson[first]),
                   standardised_deviance_residual = I((dev / sqrt(1 - h))[first]), standardised_pearson_residual = I((pearson / sqrt(1 - h))[first]),
                   hat_sum = sum(h), pearson_chi2 = sum(pearson^2), deviance_sum = sum(dev^2))
  # p(x), pointwise and Scheffé
  x3 <- f$m$Z[match(1:3, index), , drop = FALSE]; eta <- as.vector(x3 %*% f$theta); s <- sqrt(rowSums((x3 %*% f$Vs) * x3))
  k <- qnorm(.975); c2 <- sqrt(qchisq(.95, q))
  pr <- predict(r, D[match(1:3, index), ], se.fit = TRUE); close_to(pr$se.fit, s, 1e-4)
  out$probability <- list(rows = I(0:2), score = I(eta), se_score = I(s), p = I(plogis(eta)), low = I(plogis(eta - k * s)), high = I(plogis(eta + k * s)),
                          scheffe_low = I(plogis(eta - c2 * s)), scheffe_high = I(plogis(eta + c2 * s)), scheffe_df = q)
  if (!is.null(ellipse)) out$ellipsoid <- ellipsoid(f, where(ellipse), g$names)
  # collinearity: car's GVIF (of the covariance of the estimates) and that of the columns themselves
  gvif <- function(R) lapply(seq_along(g$labels), function(i) {
    s <- g$assign[-1] == i; df <- sum(s)
    v <- det(R[s, s, drop = FALSE]) * det(R[!s, !s, drop = FALSE]) / det(R)
    list(name = g$labels[i], df = df, gvif = v, scaled = v^(1 / (2 * df)))
  })
  if (!interactions) {
    weighted <- gvif(cov2cor(f$V[-1, -1])); v <- vif(r); v <- if (is.matrix(v)) v[, 1] else v
    close_to(sapply(weighted, `[[`, "gvif"), v, 1e-5)
    out$gvif <- weighted; out$gvif_columns <- gvif(cor(X[, -1]))
  }
  U <- sweep(X, 2, sqrt(colSums(X^2)), "/"); s <- svd(U)
  phi <- t(s$v^2) / s$d^2
  out$condition <- list(indices = I(s$d[1] / s$d), singular_values = I(s$d), variance_proportions = plain(sweep(phi, 2, colSums(phi), "/")))
  # Hosmer-Lemeshow, 10 groups
  lemeshow <- function(group) {
    size <- as.vector(table(group)); o <- as.vector(tapply(D$.y, group, sum)); x <- as.vector(tapply(p, group, sum)); G <- length(size)
    stat <- sum((o - x)^2 / (x * (1 - x / size)))
    c(list(groups = G), chi2(stat, G - 2), list(p_test_rows = pchisq(stat, G, lower.tail = FALSE), size = I(as.integer(size)), observed = I(as.integer(o)), expected = I(x)))
  }
  rounded <- signif(p, 12)                                    # so that equal rows are tied whatever the rounding
  by_rank <- floor((rank(rounded, ties.method = "first") - 1) * 10 / n)
  out$hosmer_lemeshow <- list(
    quantiles = lemeshow(cut(rounded, unique(quantile(rounded, seq(0, 1, .1))), include.lowest = TRUE)),
    ranks = c(lemeshow(factor(by_rank)), list(ties_at_boundary = any(tapply(by_rank, rounded, function(g) length(unique(g)) > 1)))))
  out
}
# calibration slope: fitted on even rows (from 0), looked at on odd rows
calibration_case <- function(name, data, d, formula, target, classes) {
  d$.y <- as.integer(factor(d[[target]], classes)) - 1L
  X <- design(update(formula, .y ~ .), d)$X; even <- seq_len(nrow(d)) %% 2 == 1
  f <- fitted_model(model(X[even, ], d$.y[even], 2))
  eta <- as.vector(X[!even, ] %*% f$beta); y <- d$.y[!even]
  two <- fitted_model(model(cbind(1, eta), y, 2))
  m <- model(matrix(1, length(eta), 1), y, 2, offset = eta); large <- fitted_model(m)
  r <- glm(y ~ eta, binomial(), control = glm.control(1e-14, 100)); close_to(two$beta, coef(r), 1e-6)
  r <- glm(y ~ 1, binomial(), offset = eta, control = glm.control(1e-14, 100)); close_to(large$beta, coef(r), 1e-6)
  p <- plogis(eta); stat <- function(group) {
    size <- as.vector(table(group)); o <- as.vector(tapply(y, group, sum)); x <- as.vector(tapply(p, group, sum))
    chi2(sum((o - x)^2 / (x * (1 - x / size))), length(size)) }
  list(name = name, data = data, formula = paste(deparse(formula), collapse = ""), target = target, n_fit = sum(even), n_test = sum(!even), fit_estimate = I(f$beta),
       intercept = two$beta[1], slope = two$beta[2], se_intercept = sqrt(two$V[1, 1]), se_slope = sqrt(two$V[2, 2]), vcov = plain(two$V),
       in_the_large = large$beta, se_in_the_large = sqrt(large$V[1, 1]),
       joint_lr = chi2(2 * (two$ll - sum(y * eta - log1p(exp(eta)))), 2),
       hosmer_lemeshow_test_rows = stat(factor(floor((rank(signif(p, 12), ties.method = "first") - 1) * 10 / length(p)))),
       brier = mean((y - p)^2), log_loss = -mean(ifelse(y == 1, log(p), log1p(-p))))
}

# ---- several classes
multinomial_case <- function(name, data, d, formula, target, classes, counts = NULL, cluster = NULL, sets = list(), ellipse = NULL) {
  code0 <- as.integer(factor(d[[target]], classes)) - 1L; K <- length(classes)
  index <- if (is.null(counts)) seq_len(nrow(d)) else rep(seq_len(nrow(d)), counts)
  D <- d[index, , drop = FALSE]; D$.y <- factor(classes[code0[index] + 1], classes)
  rhs <- update(formula, .y ~ .)
  g <- design(rhs, D)
  f <- fitted_model(model(g$X, code0[index], K)); p <- f$m$p; q <- f$m$q; n <- nrow(D)
  Dz <- D; for (v in names(D)) if (is.numeric(D[[v]])) Dz[[v]] <- as.vector(scale(D[[v]]))     # multinom wants columns of one scale
  r <- do.call(multinom, list(rhs, data = Dz, reltol = 1e-16, abstol = 0, maxit = 10000, trace = FALSE))
  close_to(f$ll, as.numeric(logLik(r)), 1e-8)
  slopes <- which(g$assign > 0); back <- sapply(slopes, function(j) if (g$labels[g$assign[j]] %in% names(D) && is.numeric(D[[g$labels[g$assign[j]]]])) sd(D[[g$labels[g$assign[j]]]]) else 1)
  # the optimum of multinom is rough: its own numbers only have to lie near
  stopifnot(max(abs(t(coef(r))[slopes, ] / back - matrix(f$beta, p)[slopes, ]) / matrix(sqrt(diag(f$V)), p)[slopes, ]) < 1e-2)
  U <- row_scores(f)
  robust <- list(hc0 = sandwich_of(f, crossprod(U)), hc1 = sandwich_of(f, crossprod(U)) * n / (n - q))
  if (!is.null(cluster)) robust$cluster <- sandwich_of(f, cluster_meat(U, D[[cluster]]))
  terms <- type_two(f, g)
  a <- Anova(r, type = 2, trace = FALSE); close_to(sapply(terms, `[[`, "statistic"), a[["LR Chisq"]], 1e-4)
  where <- function(names) as.vector(outer(match(names, g$names), (seq_len(K - 1) - 1) * p, "+"))
  tests <- c(list(c(list(name = "all but the intercepts"), test_linear(f, unit(where(g$names[-1]), q)))),
             lapply(sets, function(s) c(list(name = paste(s, collapse = ", ")), test_linear(f, unit(where(s), q)))))
  x3 <- f$m$Z[match(1:3, index), , drop = FALSE]
  out <- list(name = name, data = data, target = target, classes = classes, reference = classes[1], formula = paste(deparse(formula), collapse = ""),
       weights = if (is.null(counts)) NULL else "counts, as copies of rows", rows_in_file = nrow(d),
       fit = fit_numbers(f), coefficients = coefficient_table(f, g$names, classes), vcov = plain(f$V), terms = terms, tests = tests,
       robust = c(lapply(robust, plain), list(se = lapply(robust, function(V) I(sqrt(diag(V)))))),
       probability = list(rows = I(0:2), p = plain(cbind(1 - rowSums(f$P), f$P)[match(1:3, index), ])))
  if (!is.null(cluster)) { out$robust$cluster_column <- cluster; out$robust$clusters <- length(unique(D[[cluster]])) }
  out
}

# ---- Firth and the bias-reduced fits
firth_at <- function(m, theta) {
  now <- at(m, theta); V <- solve(now$info, tol = 1e-300); p <- as.vector(now$P); v <- p * (1 - p)
  h <- rowSums((m$Z %*% V) * m$Z) * v * m$w
  now$star <- as.vector(crossprod(m$Z, m$w * now$R + h * (0.5 - p)))
  now$V <- V; now$h <- h
  # in the units of the columns
  now$pl <- now$ll + 0.5 * as.numeric(determinant(now$info)$modulus) - as.numeric(determinant(m$back)$modulus)
  now
}
firth_maximum <- function(m, N = diag(m$q), t0 = rep(0, m$q), start = NULL) {
  if (ncol(N) == 0) return(c(firth_at(m, t0), list(theta = t0)))
  g <- if (is.null(start)) rep(0, ncol(N)) else qr.solve(N, start - t0)
  now <- firth_at(m, t0 + N %*% g); best <- Inf; kept <- g
  for (i in 1:2000) {
    u <- crossprod(N, now$star); size <- max(abs(u)) / m$S
    if (size < best) { best <- size; kept <- g; idle <- 0 } else idle <- idle + 1
    if (best < 1e-16 || (idle > 20 && best < 1e-13)) break
    step <- solve(crossprod(N, now$info %*% N), u)
    step <- step * min(1, 3 / max(abs(step)))
    repeat { new <- firth_at(m, t0 + N %*% (g + step)); if (new$pl >= now$pl - 1e-10) break; step <- step / 2 }
    g <- g + step; now <- new
  }
  stopifnot(best < 1e-13)
  c(firth_at(m, t0 + N %*% kept), list(theta = as.vector(t0 + N %*% kept), gradient = best))
}
median_fit <- function(X, y, start) {        # Kenne Pagui, Salvan and Sartori (2017): median bias reduction, logistic
  beta <- start; best <- Inf
  score <- function(beta) {
    p <- plogis(as.vector(X %*% beta)); v <- p * (1 - p); info <- crossprod(X, X * v); V <- solve(info, tol = 1e-300)
    h <- rowSums((X %*% V) * X) * v
    b <- sapply(seq_len(ncol(X)), function(j) {
      hj <- rowSums((X %*% (tcrossprod(V[j, ]) / V[j, j])) * X) * v
      sum(V[j, ] * colSums(X * (-hj * (1 - 2 * p) / 3)))
    })
    list(u = as.vector(crossprod(X, y - p + h * (0.5 - p)) + info %*% b), V = V)
  }
  kept <- beta; idle <- 0
  for (i in 1:2000) {
    now <- score(beta); size <- max(abs(now$u) / colSums(abs(X)))
    if (size < best) { best <- size; kept <- beta; idle <- 0 } else idle <- idle + 1
    if (best < 1e-16 || (idle > 20 && best < 1e-13)) break
    beta <- beta + as.vector(now$V %*% now$u)
  }
  stopifnot(best < 1e-13)
  list(beta = kept, V = score(kept)$V)
}
firth_case <- function(name, data, d, formula, target, classes, infinite = NULL, drop_rows = NULL) {
  d$.y <- as.integer(factor(d[[target]], classes)) - 1L
  rhs <- update(formula, .y ~ .); g <- design(rhs, d); X <- g$X; q <- ncol(X)
  m <- model(X, d$.y, 2); f <- firth_maximum(m)
  beta <- as.vector(m$back %*% f$theta); V <- m$back %*% f$V %*% t(m$back); se <- sqrt(diag(V))
  br <- function(type, data = d) {                             # the type inside `control`: beside a control it is ignored
    r <- glm(rhs, binomial(), data, method = "brglmFit", control = list(type = type, epsilon = 1e-13, maxit = 5000)); stopifnot(r$type == type); r
  }
  mean_br <- br("AS_mean"); close_to(beta, coef(mean_br), 1e-7); close_to(se, sqrt(diag(vcov(mean_br))), 1e-6)
  median_br <- br("AS_median"); med <- median_fit(X, d$.y, coef(median_br)); close_to(med$beta, coef(median_br), 1e-6)
  swapped <- median_fit(X, 1 - d$.y, -med$beta)
  fixed <- function(C, v, start = f$theta) { Cs <- C %*% m$back; firth_maximum(m, null_basis(Cs), as.vector(crossprod(Cs, solve(tcrossprod(Cs), v))), start) }
  single <- lapply(seq_len(q), function(j) chi2(2 * (f$pl - fixed(unit(j, q), 0)$pl), 1))
  cut <- qchisq(0.95, 1)
  limits <- sapply(seq_len(q), function(j) {
    gap <- function(t) 2 * (f$pl - fixed(unit(j, q), beta[j] + t * se[j])$pl) - cut
    sapply(c(-1, 1), function(side) {
      far <- side * 2; while (gap(far) < 0) { far <- far * 1.4; if (abs(far) > 40) return(NA) }
      root <- uniroot(gap, sort(c(0, far)), tol = 1e-12, maxiter = 500)$root; stopifnot(abs(gap(root)) < 1e-9); beta[j] + root * se[j]
    })
  })
  z <- beta / se; k <- qnorm(.975)
  terms <- lapply(seq_along(g$labels), function(i) c(list(name = g$labels[i], test = "penalised likelihood ratio"),
    { s <- which(g$assign == i); chi2(2 * (f$pl - fixed(unit(s, q), rep(0, length(s)))$pl), length(s)) }))
  eta <- as.vector(X[, -1] %*% beta[-1]); flic <- fitted_model(model(matrix(1, nrow(X), 1), d$.y, 2, offset = eta))$beta
  zm <- med$beta / sqrt(diag(med$V))
  out <- list(name = name, data = data, target = target, classes = classes, second_class = classes[2], formula = paste(deparse(formula), collapse = ""), n = nrow(X),
    names = I(g$names),
    firth = list(estimate = I(beta), se = I(se), z = I(z), p = I(2 * pnorm(-abs(z))), low = I(beta - k * se), high = I(beta + k * se), vcov = plain(V),
                 log_likelihood = f$ll, penalised_log_likelihood = f$pl, gradient = f$gradient,
                 lr = I(sapply(single, `[[`, "statistic")), lr_p = I(sapply(single, `[[`, "p")), lr_log10_p = I(sapply(single, `[[`, "log10_p")),
                 profile_low = I(limits[1, ]), profile_high = I(limits[2, ]), terms = terms,
                 global = chi2(2 * (f$pl - fixed(unit(2:q, q), rep(0, q - 1))$pl), q - 1),
                 hat_first_ten = I(f$h[1:10]), p_first_ten = I(as.vector(f$P)[1:10]),
                 flic_intercept = flic, flic_p_first_ten = I(plogis(flic + eta)[1:10])),
    median = list(estimate = I(med$beta), se = I(sqrt(diag(med$V))), z = I(zm), p = I(2 * pnorm(-abs(zm))), vcov = plain(med$V),
                  estimate_with_classes_exchanged = I(swapped$beta)))
  # the limit of maximum likelihood where a column is infinite
  if (!is.null(infinite)) {
    j <- match(infinite, g$names); keep <- X[, j] == drop_rows
    stopifnot(length(unique(d$.y[!keep])) == 1)
    lim <- fitted_model(model(X[keep, -j], d$.y[keep], 2)); sup <- lim$ll     # the rows left out have probability 1
    sup_without <- function(cols) { if (j %in% cols) maximum(model(X[, -cols, drop = FALSE], d$.y, 2)) else maximum(model(X[keep, -c(j, cols), drop = FALSE], d$.y[keep], 2)) }
    lr <- lapply(seq_len(q), function(c) chi2(2 * (sup - sup_without(c)$ll), 1))
    full <- model(X, d$.y, 2)
    score_nv <- { N <- null_basis(unit(j, q) %*% full$back); r <- maximum(full, N); chi2(sum(r$u * solve(r$info, r$u)), 1) }
    # lower (or upper) profile limit of the infinite coefficient
    direction <- if (unique(d$.y[!keep]) == 1) 1 else -1
    gap <- function(b) { Cs <- unit(j, q) %*% full$back; 2 * (sup - maximum(full, null_basis(Cs), as.vector(crossprod(Cs, b / tcrossprod(Cs))))$ll) - cut }
    hi <- 0; lo <- 0; while (gap(direction * hi) > 0) hi <- hi + 1; while (gap(direction * lo) < 0) lo <- lo - 1
    bound <- uniroot(gap, sort(direction * c(lo, hi)), tol = 1e-12)$root; stopifnot(abs(gap(bound)) < 1e-9)
    rest <- seq_len(q)[-j]; lim_limits <- sapply(seq_along(rest), function(i) profile_limits(lim, i))
    # what glm does with it
    r <- suppressWarnings(glm(rhs, binomial(), d, control = glm.control(1e-14, 100)))
    stopifnot(abs(as.numeric(logLik(r)) - sup) < 1e-6)
    out$maximum_likelihood <- list(infinite = infinite, direction = as.integer(direction), rows_with_probability_one = as.integer(which(!keep) - 1),
      supremum_log_likelihood = sup, null_log_likelihood = maximum(model(X[, 1, drop = FALSE], d$.y, 2))$ll,
      lr = I(sapply(lr, `[[`, "statistic")), lr_p = I(sapply(lr, `[[`, "p")), score_of_infinite = score_nv,
      profile_limit_of_infinite = bound,
      limiting_model = list(names = I(g$names[-j]), n = sum(keep), estimate = I(lim$beta), se = I(sqrt(diag(lim$V))), vcov = plain(lim$V),
                            profile_low = I(lim_limits[1, ]), profile_high = I(lim_limits[2, ])))
  }
  out
}

# ---- two classifiers
delong <- function(y, a, b) {
  psi <- function(s) outer(s[y == 1], s[y == 0], function(u, v) (u > v) + 0.5 * (u == v))
  A <- psi(a); B <- psi(b); auc <- c(mean(A), mean(B))
  S <- cov(cbind(rowMeans(A), rowMeans(B))) / sum(y == 1) + cov(cbind(colMeans(A), colMeans(B))) / sum(y == 0)
  gap <- auc[1] - auc[2]; se <- sqrt(S[1, 1] + S[2, 2] - 2 * S[1, 2]); z <- gap / se; k <- qnorm(.975)
  ra <- suppressMessages(roc(y, a, direction = "<")); rb <- suppressMessages(roc(y, b, direction = "<"))
  t <- roc.test(ra, rb, method = "delong"); close_to(t$statistic, z, 1e-9); close_to(t$p.value, 2 * pnorm(-abs(z)), 1e-8)
  close_to(c(var(ra), var(rb)), diag(S), 1e-9)
  list(auc = I(auc), se = I(sqrt(diag(S))), covariance = plain(S), difference = gap, se_difference = se, z = z, p = 2 * pnorm(-abs(z)), log10_p = log10_two_sided(z),
       low = gap - k * se, high = gap + k * se, auc_low = I(auc - k * sqrt(diag(S))), auc_high = I(auc + k * sqrt(diag(S))))
}
compare <- function(name, y, a, b, keep_scores = TRUE, extra = list()) {
  wrong_a <- (a > 0.5) != (y == 1); wrong_b <- (b > 0.5) != (y == 1)
  only_a <- sum(wrong_a & !wrong_b); only_b <- sum(!wrong_a & wrong_b)
  p <- if (only_a + only_b == 0) 1 else binom.test(only_a, only_a + only_b)$p.value
  c(list(name = name, n = length(y)), extra, if (keep_scores) list(y = I(as.integer(y)), a = I(a), b = I(b)),
    list(mcnemar = list(only_a_wrong = only_a, only_b_wrong = only_b, both_wrong = sum(wrong_a & wrong_b), p = p,
                        chi2 = if (only_a + only_b) (only_a - only_b)^2 / (only_a + only_b) else 0),
         delong = delong(y, a, b)))
}
# Gaussian classes: Wilks, Hotelling, Box; least squares: t, F, HC3
discriminant_case <- function(name, data, d, features, target) {
  X <- as.matrix(d[, features]); y <- factor(d[[target]]); n <- nrow(X); p <- ncol(X); g <- nlevels(y)
  S <- lapply(levels(y), function(l) cov(X[y == l, ])); nk <- as.vector(table(y)); M <- t(sapply(levels(y), function(l) colMeans(X[y == l, ])))
  W <- Reduce(`+`, Map(function(s, k) s * (k - 1), S, nk)); pooled <- W / (n - g); logdet <- function(m) as.numeric(determinant(m)$modulus)
  wilks <- exp(logdet(W) - logdet(cov(X) * (n - 1)))
  r <- summary(manova(X ~ y), test = "Wilks")$stats["y", ]; close_to(wilks, r["Wilks"], 1e-9)
  q <- g - 1; s <- if (p^2 + q^2 > 5) sqrt((p^2 * q^2 - 4) / (p^2 + q^2 - 5)) else 1      # Rao's F
  df1 <- p * q; df2 <- (n - 1 - (p + g) / 2) * s - p * q / 2 + 1; F <- (wilks^(-1 / s) - 1) * df2 / df1
  close_to(c(F, df1, df2), r[c("approx F", "num Df", "den Df")], 1e-8)
  logp <- function(f, a, b) pf(f, a, b, lower.tail = FALSE, log.p = TRUE) / log(10)
  box <- (n - g) * logdet(pooled) - sum((nk - 1) * sapply(S, logdet))
  shrink <- 1 - (sum(1 / (nk - 1)) - 1 / (n - g)) * (2 * p^2 + 3 * p - 1) / (6 * (p + 1) * (g - 1))
  pairs <- apply(combn(g, 2), 2, function(i) {
    a <- i[1]; b <- i[2]; N <- nk[a] + nk[b]; Sp <- (S[[a]] * (nk[a] - 1) + S[[b]] * (nk[b] - 1)) / (N - 2); dm <- M[a, ] - M[b, ]
    t2 <- nk[a] * nk[b] / N * sum(dm * solve(Sp, dm, tol = 1e-300)); f <- (N - p - 1) / ((N - 2) * p) * t2
    both <- y %in% levels(y)[i]; w <- summary(manova(X[both, ] ~ droplevels(y[both])), test = "Hotelling")$stats[1, ]; close_to(f, w["approx F"], 1e-7)
    list(classes = levels(y)[i], t2 = t2, f = f, df1 = p, df2 = as.integer(N - p - 1), p = pf(f, p, N - p - 1, lower.tail = FALSE), log10_p = logp(f, p, N - p - 1))
  }, simplify = FALSE)
  list(name = name, data = data, target = target, features = features, classes = levels(y), n = n, counts = nk,
       wilks = list(lambda = wilks, f = F, df1 = as.integer(df1), df2 = df2, p = pf(F, df1, df2, lower.tail = FALSE), log10_p = logp(F, df1, df2)),
       box = c(list(m = box, factor = shrink), chi2(box * shrink, p * (p + 1) * (g - 1) / 2)), hotelling = pairs,
       means = lapply(seq_len(g), function(k) { c0 <- p * (nk[k] - 1) / (nk[k] - p) * qf(.95, p, nk[k] - p); ci <- binom.test(nk[k], n)$conf.int
         t <- qt(.975, nk[k] - 1) * sqrt(diag(S[[k]]) / nk[k])
         list(class = levels(y)[k], mean = I(M[k, ]), low = I(M[k, ] - t), high = I(M[k, ] + t), ellipsoid_radius_squared = c0,
              share = nk[k] / n, share_low = ci[1], share_high = ci[2]) }))
}
least_squares_case <- function(name, data, d, formula, target, classes) {
  d$.y <- as.integer(factor(d[[target]], classes)) - 1; g <- design(update(formula, .y ~ .), d); n <- nrow(d); k <- ncol(g$X)
  r <- lm(update(formula, .y ~ .), d); s <- summary(r); A <- chol2inv(qr.R(qr(g$X))); h <- rowSums((g$X %*% A) * g$X); e <- residuals(r)
  V <- A %*% crossprod(g$X, g$X * (e / (1 - h))^2) %*% A; close_to(as.vector(V), as.vector(vcovHC(r, type = "HC3")), 1e-7)
  t <- s$coefficients[, 3]
  list(name = name, data = data, target = target, second_class = classes[2], formula = paste(deparse(formula), collapse = ""), names = I(g$names), n = n,
       estimate = I(coef(r)), se = I(s$coefficients[, 2]), t = I(t), df = as.integer(n - k), p = I(2 * pt(-abs(t), n - k)),
       log10_p = I((log(2) + pt(-abs(t), n - k, log.p = TRUE)) / log(10)), sigma = s$sigma, r_squared = s$r.squared,
       f = unname(s$fstatistic[1]), f_df1 = as.integer(k - 1), f_df2 = as.integer(n - k), f_p = unname(pf(s$fstatistic[1], k - 1, n - k, lower.tail = FALSE)),
       hc3 = plain(V), se_hc3 = I(sqrt(diag(V))))
}
clopper <- function(k, n, level) { ci <- binom.test(k, n, conf.level = level)$conf.int; list(k = k, n = n, level = level, low = ci[1], high = ci[2]) }

# ---- cases on tables that belong to the project
infer <- read.csv(file.path(here, "data/infer.csv"), stringsAsFactors = TRUE)
separated <- read.csv(file.path(here, "data/infer_separated.csv"), stringsAsFactors = TRUE)
penguins <- read.csv(file.path(here, "data/penguins.csv"), na.strings = c("", "NA"))
measures <- c("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
birds <- penguins[complete.cases(penguins[, c("species", measures)]), ]
sexed <- penguins[complete.cases(penguins[, c("species", "sex", measures)]), ]; sexed$species <- factor(sexed$species)
sim3 <- read.csv(file.path(here, "data/sim3.csv"), stringsAsFactors = TRUE)
infer_formula <- outcome ~ age + dose + noise + group + treated
infer_sets <- list(c("group=north", "group=south", "group=west"), c("age", "dose"), "noise")
infer_contrasts <- list(list(name = "age - 2*noise = 0", rows = list(c(age = 1, noise = -2)), value = 0),
                        list(name = "group=north - group=west = 0", rows = list(c("group=north" = 1, "group=west" = -1)), value = 0),
                        list(name = "dose = -0.2, treated + group=south = -1", rows = list(c(dose = 1), c(treated = 1, "group=south" = 1)), value = c(-0.2, -1)))
cat("two classes\n")
binary <- list(
  binary_case("infer", infer, infer_formula, "outcome", c("no", "yes"), cluster = "clinic", sets = infer_sets, contrasts = infer_contrasts,
              ellipse = c("age", "dose"), data = "infer.csv"),
  binary_case("infer_counts", infer, infer_formula, "outcome", c("no", "yes"), counts = infer$count, cluster = "clinic", sets = infer_sets,
              contrasts = infer_contrasts, ellipse = c("age", "dose"), data = "infer.csv", extra = list(weights_column = "count")),
  binary_case("infer_products", infer, outcome ~ (age + group + treated)^2, "outcome", c("no", "yes"), data = "infer.csv", interactions = TRUE,
              sets = list(c("group=north*treated", "group=south*treated", "group=west*treated"))),
  binary_case("infer_one_product", infer, outcome ~ dose + age * treated + group, "outcome", c("no", "yes"), counts = infer$count, data = "infer.csv",
              extra = list(weights_column = "count"), interactions = TRUE),
  binary_case("penguins_sex", sexed, sex ~ species + bill_length_mm + body_mass_g, "sex", c("female", "male"), data = "penguins.csv",
              sets = list(c("species=Chinstrap", "species=Gentoo")), ellipse = c("bill_length_mm", "body_mass_g")),
  binary_case("sim3_ab", droplevels(sim3[sim3$class != "c", ]), class ~ x1 + x2 + x3, "class", c("a", "b"), data = "sim3.csv",
              extra = list(rows_used = "rows of class a and b, in file order"), ellipse = c("x1", "x2")))
# fractions as weights: the sandwich with s^2 (y - p)^2, leverages of the weighted fit
fraction_case <- {
  d <- infer; d$.y <- as.integer(d$outcome) - 1L; s <- d$share; g <- design(update(infer_formula, .y ~ .), d)
  f <- fitted_model(model(g$X, d$.y, 2, s)); q <- f$m$q; p <- as.vector(f$P)
  r <- suppressWarnings(glm(update(infer_formula, .y ~ .), binomial(), d, weights = share, control = glm.control(1e-14, 100)))
  V <- sandwich_of(f, crossprod(f$m$Z, f$m$Z * s^2 * as.vector(f$R)^2)); VC <- sandwich_of(f, cluster_meat(f$m$Z * s * as.vector(f$R), d$clinic))
  close_to(f$beta, coef(r), 1e-7); close_to(as.vector(V), as.vector(vcovHC(r, type = "HC0")), 1e-4)
  close_to(as.vector(VC), as.vector(vcovCL(r, d$clinic, type = "HC0", cadjust = TRUE)), 1e-4)
  list(name = "infer_fractions", data = "infer.csv", target = "outcome", formula = "outcome ~ age + dose + noise + group + treated", weights_column = "share",
       total_weight = sum(s), rows = nrow(d), names = I(g$names), estimate = I(f$beta), sandwich = plain(V), se = I(sqrt(diag(V))), cluster = plain(VC),
       cluster_column = "clinic", se_cluster = I(sqrt(diag(VC))), weighted_mean_log_likelihood = f$ll / sum(s))
}
cat("several classes\n")
multinomial <- list(
  multinomial_case("penguins_two_measures", "penguins.csv", birds, species ~ flipper_length_mm + body_mass_g, "species", c("Adelie", "Chinstrap", "Gentoo"),
                   sets = list("body_mass_g")),
  multinomial_case("sim3", "sim3.csv", sim3, class ~ x1 + x2 + x3, "class", c("a", "b", "c"), sets = list(c("x1", "x3"))),
  multinomial_case("infer_grade", "infer.csv", infer, grade ~ age + dose + group + treated, "grade", c("mild", "moderate", "severe"), cluster = "clinic",
                   sets = list(c("group=north", "group=south", "group=west"))),
  multinomial_case("infer_grade_counts", "infer.csv", infer, grade ~ age + dose + group + treated, "grade", c("mild", "moderate", "severe"),
                   counts = infer$count, cluster = "clinic", sets = list("dose")))
cat("bias reduced\n")
firth <- list(
  firth_case("infer_separated", "infer_separated.csv", separated, outcome ~ marker + index + thickness, "outcome", c("no", "yes"), "marker", 0),
  firth_case("infer", "infer.csv", infer, infer_formula, "outcome", c("no", "yes")))
scores <- {
  set.seed(7); n <- 60; y <- rbinom(n, 1, .45)
  list(compare("seeded scores with ties", y, round(plogis(rnorm(n) + 1.6 * y - .8), 2), round(plogis(rnorm(n) + 0.7 * y - .3), 2)),
       { f1 <- glm(outcome ~ age + dose + treated, binomial(), infer, subset = c(TRUE, FALSE)); f2 <- glm(outcome ~ noise + group, binomial(), infer, subset = c(TRUE, FALSE))
         t <- infer[c(FALSE, TRUE), ]
         compare("infer.csv: two models of even rows on odd rows", as.integer(t$outcome) - 1L, round(predict(f1, t, type = "response"), 12), round(predict(f2, t, type = "response"), 12)) })
}
what <- paste(
  "Maximum likelihood of logistic models. Classes sorted; two classes: log-odds of second_class; more: log-odds of each later class against the first",
  "(reference), parameters class by class (coefficients.class), each with all columns. Text columns: indicators column=level without the first sorted",
  "level; products a*b. Rows with a missing cell in a column of the formula are left out. weights_column: rows repeated so many times; n and everything",
  "else counts the copies; rows and probability are of the first rows of the file. z, p: Wald; lr, score: per coefficient; low, high: Wald, 95 %;",
  "profile_*: 95 %, null where there is no limit. log10_p is exact where p underflows. terms: type II likelihood ratio (car::Anova). tests: matrix * beta = value.",
  "robust: covariances as A (sum omega x x') A with omega = (y-p)^2 {1, n/(n-k), 1/(1-h), 1/(1-h)^2} (several classes: k all parameters), cluster: G/(G-1).",
  "rows: of the first ten rows. cook: pearson^2 h / ((1-h)^2 k). ellipsoid: {b: (b-centre)' V^-1 (b-centre) <= radius_squared}, directions are rows, largest entry",
  "positive. gvif: of the correlations of the estimates (car::vif); gvif_columns: of the correlations of the columns. condition: singular values of the columns",
  "with the intercept, each scaled to length 1; variance_proportions[singular value][column]. hosmer_lemeshow: quantiles - groups cut at R's type-7 deciles of p;",
  "ranks - row i of n in order of p (rounded to 12 digits, then file order) is in group floor(10 i / n); p has groups - 2 degrees of freedom, p_test_rows has groups. fractions: V = A (sum s^2 (y-p)^2 x x') A,",
  "A = (sum s p(1-p) x x')^-1. calibration: fitted on rows 0, 2, 4, ..., slope and intercept of y on the log-odds of rows 1, 3, 5, ...; in_the_large: intercept with slope 1.",
  "firth: penalised_log_likelihood is ll + log|X'WX| / 2; lr and profile limits hold the other parameters at the maximum of the full model's penalised likelihood;",
  "median: median bias reduction (brglm2 AS_median); flic: intercept refitted by maximum likelihood. maximum_likelihood (separated): lr against the supremum,",
  "limiting_model: the rows on the boundary without the infinite column. discriminant: Wilks with Rao's F, Box's M times factor against chi-square, Hotelling's T^2",
  "with the covariance pooled over the two classes, means with t limits and the radius of (m-mu)' (S_k/n_k)^-1 (m-mu). least_squares: lm with y = 1 for second_class, else 0.")
packages <- c("MASS", "nnet", "car", "sandwich", "pROC", "brglm2")
write_golden("inference_r.json", list(
  source = paste(source_of(packages), "(polished by Newton)"), what = what,
  binary = binary, fractions = fraction_case, multinomial = multinomial, firth = firth,
  calibration = list(calibration_case("infer", "infer.csv", infer, infer_formula, "outcome", c("no", "yes"))),
  two_classifiers = scores,
  discriminant = list(discriminant_case("penguins", "penguins.csv", birds, measures, "species"), discriminant_case("sim3", "sim3.csv", sim3, c("x1", "x2", "x3"), "class")),
  least_squares = list(least_squares_case("infer", "infer.csv", infer, infer_formula, "outcome", c("no", "yes"))),
  adjusted = { p <- c(binary[[1]]$coefficients$p, 1e-200, 0.5, 0.5, 1); list(p = I(p), holm = I(p.adjust(p, "holm")), benjamini_hochberg = I(p.adjust(p, "BH"))) },
  clopper_pearson = list(clopper(0, 20, .95), clopper(3, 40, .95), clopper(17, 332, .95), clopper(40, 40, .99), clopper(66, 332, .9))))

# ---- cases on the shared tables
if (!dir.exists(shared)) { cat("no", shared, "\n"); quit() }
get <- function(name) read.csv(file.path(shared, paste0(name, ".csv")), stringsAsFactors = TRUE)
births <- get("MASS_birthwt"); births$race <- factor(births$race); births$low <- as.character(births$low)
pima <- get("MASS_Pima.tr"); pima_test <- get("MASS_Pima.te"); kyphosis <- get("rpart_kyphosis"); endometrial <- get("brglm2_endometrial")
grouped <- get("brglm2_lizards")
lizards <- do.call(rbind, lapply(seq_len(nrow(grouped)), function(i) cbind(grouped[c(i, i), 3:6], species = c("grahami", "opalinus"), count = c(grouped$grahami[i], grouped$opalinus[i]))))
lizards <- lizards[lizards$count > 0, ]; rownames(lizards) <- NULL
birth_formula <- low ~ age + lwt + race + smoke + ptl + ht + ui + ftv
lizard_formula <- species ~ height + diameter + light + time
cat("shared, two classes\n")
overdispersion <- {
  D <- lizards[rep(seq_len(nrow(lizards)), lizards$count), ]; g <- design(species ~ height + diameter + light + time, transform(D, species = as.integer(factor(species)) - 1L))
  f <- fitted_model(model(g$X, as.integer(factor(D$species)) - 1L, 2)); key <- interaction(D$height, D$diameter, D$light, D$time, drop = TRUE)
  n <- as.vector(table(key)); o <- as.vector(tapply(as.integer(factor(D$species)) - 1, key, sum)); p <- as.vector(tapply(f$P, key, mean))
  part <- function(a, b) ifelse(a > 0, a * log(a / b), 0)
  dev <- 2 * sum(part(o, n * p) + part(n - o, n * (1 - p))); pearson <- sum((o - n * p)^2 / (n * p * (1 - p))); df <- length(n) - f$m$q
  r <- glm(cbind(opalinus, grahami) ~ height + diameter + light + time, binomial(), grouped, control = glm.control(1e-14, 100))
  close_to(c(dev, pearson), c(deviance(r), sum(residuals(r, "pearson")^2)), 1e-9); stopifnot(df == df.residual(r))
  close_to(f$beta, coef(r), 1e-7)
  list(groups = length(n), df = as.integer(df), deviance = dev, deviance_p = pchisq(dev, df, lower.tail = FALSE), pearson = pearson, pearson_p = pchisq(pearson, df, lower.tail = FALSE),
       dispersion = pearson / df)
}
binary <- list(
  binary_case("birthwt", births, birth_formula, "low", c("0", "1"), data = "MASS_birthwt.csv", extra = list(text_columns = I("race"), leave_out = I("bwt")), cluster = "ftv",
              sets = list(c("race=2", "race=3"), c("age", "ftv"), c("ht", "ui", "smoke")),
              contrasts = list(list(name = "age - 2*lwt = 0", rows = list(c(age = 1, lwt = -2)), value = 0),
                               list(name = "race=2 - race=3 = 0", rows = list(c("race=2" = 1, "race=3" = -1)), value = 0),
                               list(name = "ht = 1, smoke - ui = 0", rows = list(c(ht = 1), c(smoke = 1, ui = -1)), value = c(1, 0))),
              ellipse = c("age", "lwt")),
  binary_case("birthwt_products", births, low ~ age + lwt + race * smoke + ht, "low", c("0", "1"), data = "MASS_birthwt.csv", extra = list(text_columns = I("race")), interactions = TRUE,
              sets = list(c("race=2*smoke", "race=3*smoke"))),
  binary_case("pima", pima, type ~ npreg + glu + bp + skin + bmi + ped + age, "type", c("No", "Yes"), data = "MASS_Pima.tr.csv",
              sets = list(c("bp", "skin")), contrasts = list(list(name = "glu - bmi = 0", rows = list(c(glu = 1, bmi = -1)), value = 0)), ellipse = c("glu", "bmi")),
  binary_case("kyphosis", kyphosis, Kyphosis ~ Age + Number + Start, "Kyphosis", c("absent", "present"), data = "rpart_kyphosis.csv", sets = list(c("Age", "Number")), ellipse = c("Number", "Start")),
  binary_case("lizards", lizards, lizard_formula, "species", c("grahami", "opalinus"), counts = lizards$count, data = "brglm2_lizards.csv",
              extra = list(rows_used = "each row of the file gives a row of species grahami and one of opalinus, in this order, with its count; rows with count 0 are left out",
                           weights_column = "count", grouped = overdispersion),
              sets = list(c("time=late", "time=midday"))))
cat("shared, the others\n")
f1 <- glm(type ~ npreg + glu + bp + skin + bmi + ped + age, binomial(), pima, control = glm.control(1e-14, 100)); f2 <- glm(type ~ bmi + age + ped, binomial(), pima, control = glm.control(1e-14, 100))
write_golden("inference_shared_r.json", list(
  source = paste(source_of(packages), "(polished by Newton)"), what = paste("As inference_r.json, on tables of ../shared/data/small.", what),
  binary = binary,
  firth = list(firth_case("endometrial", "brglm2_endometrial.csv", transform(endometrial, HG = as.character(HG)), HG ~ NV + PI + EH, "HG", c("0", "1"), "NV", 0),
               firth_case("birthwt", "MASS_birthwt.csv", births, birth_formula, "low", c("0", "1")),
               firth_case("kyphosis", "rpart_kyphosis.csv", kyphosis, Kyphosis ~ Age + Number + Start, "Kyphosis", c("absent", "present"))),
  calibration = list(calibration_case("pima", "MASS_Pima.tr.csv", pima, type ~ npreg + glu + bp + skin + bmi + ped + age, "type", c("No", "Yes"))),
  two_classifiers = list(compare("Pima.te: all columns against bmi, age, ped, maximum likelihood on Pima.tr", as.integer(pima_test$type) - 1L,
                                 predict(f1, pima_test, type = "response"), predict(f2, pima_test, type = "response"), keep_scores = FALSE))))
