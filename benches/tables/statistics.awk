# Order statistics of arrays numbered from 1, and how numbers are shown.
function sort(values, n,   i, j, t) {
    for (i = 2; i <= n; i++) {
        t = values[i]
        for (j = i - 1; j > 0 && values[j] > t; j--) values[j + 1] = values[j]
        values[j + 1] = t
    }
}

# quantile(values, n, q): between the two nearest, by their distance. Sorts the values.
function quantile(values, n, q,   at, low) {
    if (!n) return "none"
    sort(values, n)
    at = 1 + (n - 1) * q
    low = int(at)
    return low >= n ? values[n] : values[low] + (at - low) * (values[low + 1] - values[low])
}

function median(values, n) { return quantile(values, n, 0.5) }

# Three digits, and a dash for what is not known.
function digits(x) { return x >= 100 ? sprintf("%.0f", x) : x >= 10 ? sprintf("%.1f", x) : sprintf("%.2f", x) }
function bytes(x) { return x == "none" || x == 0 ? "-" : x >= 1e9 ? digits(x / 1e9) " GB" : x >= 1e6 ? digits(x / 1e6) " MB" : digits(x / 1e3) " kB" }
function seconds(ns) { return ns == "none" ? "-" : ns >= 1e9 ? digits(ns / 1e9) " s" : ns >= 1e6 ? digits(ns / 1e6) " ms" : digits(ns / 1e3) " us" }
function number(x, format) { return x == "none" ? "-" : sprintf(format, x) }
function grouped(n,   text) {
    text = sprintf("%d", n)
    while (match(text, /[0-9][0-9][0-9][0-9](,|$)/)) text = substr(text, 1, RSTART) "," substr(text, RSTART + 1)
    return text
}

# columns(): names the fields of a table whose first line has been read.
function columns(   i) { for (i = 1; i <= NF; i++) at[$i] = i }
