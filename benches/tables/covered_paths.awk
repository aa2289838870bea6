# Holds the paths of `diytrace tree --format csv` against the exact log of programs/paths.c, log_file: a row of covered.tsv.
BEGIN {
    FS = "\t"
    getline <log_file
    while ((getline <log_file) > 0) expected[$2] = $1
    FS = ","
}
FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
{
    above = $(at["parent"])
    path[$(at["node"])] = above == "" || path[above] == "" ? ($(at["name"]) == "main" ? "" : $(at["name"])) : path[above] ";" $(at["name"])
    told[path[$(at["node"])]] = $(at["calls"])
}
END {
    for (which in expected) {
        hot++
        if (which in told) found++
        missing = expected[which] - told[which]
        if (missing == 0) whole++
        if (missing < 0) missing = -missing
        if (missing > most) most = missing
    }
    print n, who, hot + 0, found + 0, whole + 0, most + 0
}
