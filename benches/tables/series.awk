# trust-series.tsv: how often each test, and the protocol of them all, says "changed" of simulated series, in percent. With
# -v figure=RANGE (least or most), -v test=COLUMN and -v shift=PERCENT one number over the series that do not drift.
NR == 1 { for (i = 1; i <= NF; i++) { at[$i] = i; names[i] = $i }; next }
figure {
    if ($at["shift_percent"] != shift || $1 ~ /^drifting/) next
    value = $at[test "_percent"] + 0
    if (!seen++ || (figure == "least" ? value < found : value > found)) found = value
    next
}
NR == 2 { printf "%-24s %6s %14s %7s %7s %10s\n", "series of ten values", "shift", "randomisation", "ranks", "KS", "protocol" }
{ printf "%-24s %5s%% %13s%% %6s%% %6s%% %9s%%\n", $1, $2, $4, $5, $6, $7 }
END { if (figure) print found "%" }
