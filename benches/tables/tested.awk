# trust-aa.tsv: of a program's functions in a comparison, how many are tested: -v program=NAME.
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
$at["program"] == program { n++; functions += $at["functions"]; tested += $at["tested"] }
END { printf "%d of %d\n", tested / n + 0.5, functions / n + 0.5 }
