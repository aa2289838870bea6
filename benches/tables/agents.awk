# service-agent.tsv, for 20 processes and then for 200: what an agent took that reads each four times a second.
FNR == 1 { next }
{
    part = $2
    count = 20
    if (match(part, /^[0-9]+ processes of /)) { count = part + 0; part = substr(part, RLENGTH + 1) }
    if (!((count, part) in seen)) { seen[count, part]; order[++cases] = count SUBSEP part }
    value[count, part, $1] = $3
}
END {
    printf "%-9s  %-34s %9s %9s %10s %9s\n", "", "", "of a", "memory,", "by share,", "frames"
    printf "%-9s  %-34s %9s %9s %10s %9s\n", "processes", "called from one frame to the next", "processor", "MB", "MB", "a second"
    for (at = 1; at <= cases; at++) {
        split(order[at], of, SUBSEP)
        called = of[2] ~ /functions/ ? of[2] : sprintf("%d of 2000 paths", of[2])
        printf "%-9d  %-34s %8.1f%% %9.0f %10.0f %9.1f\n", of[1], called, value[of[1], of[2], "agent_cpu_share"] * 100,
            value[of[1], of[2], "agent_peak_rss_mb"], value[of[1], of[2], "agent_pss_mb"], value[of[1], of[2], "frames_per_second_and_process"]
    }
}
