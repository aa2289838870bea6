# From trust-postgres.tsv: what examples/compare-postgres.sh came to, run by run; what was unconfirmed is counted.
NR == 1 { printf "postgres: %4s %6s %12s  %-35s %-22s %s\n", "run", "load", "exit status", "called changed", "same code, other cost", "unconfirmed"; next }
{ printf "          %4d %6s %12d  %-35s %-22s %d\n", $1, $2, $3, $4, $5, $6 == "-" ? 0 : split($6, all, ", ") }
