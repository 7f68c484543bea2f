# Golden values from R: links_r.json (glm with the links probit, cloglog and cauchit).
#
# Run from the repository root: Rscript golden/make_links.R     (the version of R is recorded in the file)
here <- if (dir.exists("golden")) "golden" else "."
penguins <- read.csv(file.path(here, "data/penguins.csv"))
penguins <- penguins[complete.cases(penguins[, c("sex", "bill_length_mm", "body_mass_g")]), ]
penguins <- penguins[penguins$sex %in% c("female", "male"), ]
y <- as.integer(factor(penguins$sex)) - 1L
x <- as.matrix(penguins[, c("bill_length_mm", "body_mass_g")])
cases <- lapply(c("probit", "cloglog", "cauchit"), function(link) {
  # A second run from the first one's end, to the last digits.
  first <- glm(y ~ x, family = binomial(link), control = glm.control(epsilon = 1e-15, maxit = 200))
  fit <- glm(y ~ x, family = binomial(link), start = coef(first), control = glm.control(epsilon = 1e-15, maxit = 200))
  stopifnot(fit$converged)
  # The score equations hold.
  eta <- fit$linear.predictors; p <- fit$fitted.values
  score <- crossprod(cbind(1, scale(x)), fit$family$mu.eta(eta) * (y - p) / (p * (1 - p)))
  stopifnot(max(abs(score)) < 1e-6)
  sprintf('  {"link": "%s", "intercept": %.17g, "coef": [%.17g, %.17g], "log_likelihood": %.17g, "p_first": %.17g}',
          link, coef(fit)[1], coef(fit)[2], coef(fit)[3], as.numeric(logLik(fit)), p[1])
})
writeLines(c(sprintf('{"source": "%s", "rows": %d, "cases": [', R.version.string, length(y)), paste(cases, collapse = ",\n"), "]}"),
           file.path(here, "links_r.json"))
cat("wrote links_r.json\n")
