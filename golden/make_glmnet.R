# Golden values of lasso and elastic net from R: lasso_glmnet.json.
#
# Run from the repository root: Rscript golden/make_glmnet.R     (R with glmnet; versions are recorded in the file)
#
# glmnet minimises mean loss + λ[(1−α)/2 ‖W‖² + α‖W‖₁], columns standardised with divisor n where asked; it rescales penalty
# factors to mean 1, so those used here have mean 1 already. The threshold is as tight as it goes.
suppressMessages(library(glmnet))
here <- if (dir.exists("golden")) "golden" else "."
glmnet.control(fdev = 0, devmax = 1, epsnr = 1e-14, mxitnr = 1000)

number <- function(x) { s <- sprintf("%.17g", x); ifelse(grepl("[.en]", s), s, paste0(s, ".0")) }
vector_of <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
rows_of <- function(m) paste0("[", paste(apply(m, 1, vector_of), collapse = ", "), "]")

iris_all <- read.csv(file.path(here, "data/iris.csv"), check.names = FALSE)
x <- as.matrix(iris_all[, 1:4]); y <- factor(iris_all[, 5])
two <- y != levels(y)[1]

case <- function(name, x, y, family, alpha, lambda, standardize, factors = rep(1, ncol(x)), weights = rep(1, nrow(x))) {
  # A path down to λ is more reliable than λ alone.
  path <- lambda * 10^seq(2, 0, length.out = 30)
  fit <- glmnet(x, y, family = family, alpha = alpha, lambda = path, standardize = standardize, thresh = 1e-16,
                penalty.factor = factors, weights = weights, maxit = 1e7)
  b <- coef(fit, s = lambda)
  b <- if (is.list(b)) t(sapply(b, as.numeric)) else matrix(as.numeric(b), 1)
  paste0('  {"name": "', name, '", "classes": ', nlevels(y), ', "alpha": ', number(alpha), ', "lambda": ', number(lambda),
         ', "standardize": ', tolower(standardize), ', "factors": ', vector_of(factors), ', "weighted": ',
         tolower(any(weights != 1)), ',\n   "intercept": ', vector_of(b[, 1]), ', "coef": ', rows_of(b[, -1, drop = FALSE]), "}")
}
y2 <- droplevels(y[two]); x2 <- x[two, ]; w2 <- 1 + (seq_len(nrow(x2)) %% 3)
cases <- c(
  case("lasso", x2, y2, "binomial", 1, 0.02, FALSE),
  case("lasso, standardised", x2, y2, "binomial", 1, 0.05, TRUE),
  case("elastic net, standardised", x2, y2, "binomial", 0.5, 0.05, TRUE),
  case("lasso with factors", x2, y2, "binomial", 1, 0.02, FALSE, c(0, 1, 1, 2)),
  case("weighted lasso", x2, y2, "binomial", 1, 0.02, FALSE, weights = w2),
  case("softmax lasso", x, y, "multinomial", 1, 0.02, FALSE),
  case("softmax elastic net, standardised", x, y, "multinomial", 0.7, 0.03, TRUE))
version <- paste(R.version.string, "glmnet", packageVersion("glmnet"))
writeLines(c(paste0('{"source": "', version, '", "cases": ['), paste(cases, collapse = ",\n"), "]}"),
           file.path(here, "lasso_glmnet.json"))
