# From functions.tsv of a report: what was called changed (what=claims), or how many of how many (what=counts).
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
{
    verdict = $at["verdict"]
    functions += $at["on"] == "both"
    tested += $at["p_adjusted"] != ""
    is_claim = verdict ~ /^(changed|calls|follows|one-sided|unconfirmed)$/
    if (!is_claim) next
    # What was it before it was not confirmed?
    if ($at["on"] != "both") kind = "one-sided"
    else if (verdict == "changed") kind = "time"
    else if ($at["calls"] ~ /changed/) kind = "calls"
    else kind = "time"
    before[kind]++
    after[kind] += verdict != "unconfirmed"
    if (what == "claims")
        print $at["function"] "\t" kind "\t" verdict "\t" $at["left_calls"] "\t" $at["right_calls"] "\t" \
            $at["left_median"] "\t" $at["difference"] "\t" $at["threshold"] "\t" $at["error_ns"] "\t" $at["p"] "\t" \
            $at["p_adjusted"] "\t" $at["fresh_difference"] "\t" $at["fresh_p"]
}
END {
    if (what == "counts")
        printf "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d", functions, tested, before["time"], before["calls"], before["one-sided"],
            after["time"], after["calls"], after["one-sided"]
}
