# busy.tsv: one root, recorded again and again on a busy machine: -v figure=runs, least or most (of its total), or error, the
# stated error of the largest total.
NR == 1 { columns(); next }
{
    total = $(at["total_ns"]); n++
    if (n == 1 || total < least) least = total
    if (n == 1 || total > most) { most = total; error = $(at["total_error_ns"]) }
}
END {
    if (figure == "runs") print n
    else printf "%.0f ms\n", (figure == "least" ? least : figure == "most" ? most : error) / 1e6
}
