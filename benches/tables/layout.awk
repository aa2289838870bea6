# trust-layout-claims.tsv: the functions that stay changed in time after confirmation although only code's places differ:
# what a call took before, and how much longer it takes.
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; printf "%-10s %11s  %-22s %12s %10s\n", "layout", "comparison", "function", "ns a call", "more"; next }
$at["kind"] == "time" && $at["verdict"] != "unconfirmed" {
    before = $at["left_self_ns"] / $at["left_calls"]
    printf "%-10s %11d  %-22s %12.1f %+9.1f\n", $1, $2, $at["function"], before, before * $at["difference"]
}
