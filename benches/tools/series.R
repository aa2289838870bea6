# Holds p-values of analyze/compare/examples/series.rs (`-- N`, on stdin) against R's wilcox.test and ks.test, both exact, and
# against all splits of the runs, one by one. Prints the largest difference of each test.
rows <- read.delim(file("stdin"), stringsAsFactors = FALSE)
numbers <- function(text) as.numeric(strsplit(text, " ")[[1]])
off <- c(randomisation = 0, ranks = 0, ks = 0)
chosen <- NULL
for (i in seq_len(nrow(rows))) {
    left <- numbers(rows$left[i]); right <- numbers(rows$right[i])
    n <- length(left)
    stopifnot(length(right) == n, n %% 2 == 0)
    if (is.null(chosen)) chosen <- combn(2 * n, n)
    # Of sorted values a subset's median is that of its middle places; its complement is as far from the end.
    pool <- sort(c(left, right))
    medians <- (pool[chosen[n / 2, ]] + pool[chosen[n / 2 + 1, ]]) / 2
    far <- abs(medians - rev(medians)) >= abs(median(right) - median(left)) - 1e-9
    off["randomisation"] <- max(off["randomisation"], abs(mean(far) - rows$p_medians[i]))
    off["ranks"] <- max(off["ranks"], abs(wilcox.test(left, right, exact = TRUE)$p.value - rows$p_ranks[i]))
    off["ks"] <- max(off["ks"], abs(ks.test(left, right, exact = TRUE)$p.value - rows$p_ks[i]))
}
cat("test\tseries\tlargest_difference_of_p\tagainst\n")
against <- c(randomisation = "all splits, in R", ranks = "wilcox.test(exact = TRUE)", ks = "ks.test(exact = TRUE)")
for (test in names(off)) {
    how <- paste(R.version.string, against[[test]], sep = ", ")
    cat(paste(test, nrow(rows), format(off[[test]], digits = 2), how, sep = "\t"), "\n", sep = "")
}
