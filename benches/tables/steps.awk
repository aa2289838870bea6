# trust-steps.tsv: how often a step over builds is found where it is, at the build beside that, and where there is none. With -v figure=alarms the
# most of courses without a step.
NR == 1 { if (!figure) printf "%-16s %12s %6s %8s %12s %10s\n", "runs vary", "runs a build", "step", "found", "one beside", "elsewhere"; next }
figure { if ($3 == 0 && $1 != "drifting" && $1 != "one bad build" && $7 > most) most = $7; next }
$2 != 5 && $3 != 0 && $3 != 15 { next }
{ printf "%-16s %12s %5s%% %7s%% %11s%% %9s%%\n", $1, $2, $3, $5, $6, $7 }
END { if (figure) print most + 0 "%" }
