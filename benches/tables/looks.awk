# From trust-looks.tsv: simulated comparisons whose runs are added until all is decided, before confirmation.
NR == 1 { printf "looks: %-14s %-10s %6s %12s %8s %18s %24s %10s\n", "series", "runs", "shift", "comparisons", "found", "with false alarms", "functions, false alarms", "mean runs"; next }
{ printf "       %-14s %-10s %5s%% %12d %8s %17.2f%% %23.4f%% %10.1f\n", $1, $2, $3, $4, $3 == 0 ? "-" : sprintf("%.1f%%", $5), $6, $7, $8 }
