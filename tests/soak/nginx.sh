# shellcheck shell=bash
# nginx: a daemon whose workers give up root's rights, write over their environment, and are killed and replaced under load.

server=$folder/nginx/objs/nginx
socket=$folder/site/socket
backend=$folder/site/backend

# At a fixed address, so that a binary that is replaced while it runs has the same addresses as the one before.
build() {
    unpack nginx
    (cd "$folder/nginx" && quietly ./configure --prefix="$folder/site" --without-pcre --without-http_rewrite_module \
        --without-http_gzip_module --with-threads --with-cc-opt='-O2 -g -fno-pie -finstrument-functions' --with-ld-opt=-no-pie)
    quietly make -C "$folder/nginx" -j"$(nproc)"
}

configure() {
    local site=$folder/site
    rm -rf "$site" && mkdir -p "$site/logs" "$site/html/list" "$site/cache"
    for i in {0..19}; do head -c $((i * 997)) /dev/zero | tr '\0' x >"$site/html/list/$i.txt"; done
    cat >"$site/nginx.conf" <<END
$([[ $(id -u) != 0 ]] || echo "user nobody $(id -gn nobody);")
worker_processes 4;
pid $site/pid;
error_log $site/logs/error.log;
$(printf 'env %s;\n' LD_PRELOAD EVENTLOG_DIR DIYTRACE_OUT DIYTRACE_KEEP DIYTRACE_MEMORY) # or a new binary would not have them
thread_pool default threads=4;
events { worker_connections 256; }
http {
    access_log $site/logs/access.log;
    proxy_cache_path $site/cache keys_zone=zone:1m loader_sleep=10ms;
    upstream behind { server unix:$backend; keepalive 4; }
    server {
        listen unix:$socket;
        root $site/html;
        location /list { autoindex on; aio threads; }
        location /cached/ { proxy_pass http://behind/list/; proxy_cache zone; proxy_cache_valid 200 1s; }
        location /passed/ { proxy_pass http://behind/list/; }
    }
    server { listen unix:$backend; root $site/html; location /list { autoindex on; } }
}
END
    chmod 755 "$folder" "$site" && chmod 777 "$site/cache" "$site/logs"
}

master() { cat "$folder/site/pid"; }
workers() { pgrep -P "$(master)"; }
is_ready() { curl -s -o /dev/null --unix-socket "$socket" http://site/list/1.txt; }
has_ended() { ! kill -0 "$1" 2>/dev/null; }

# Requests by some connections at a time, until it is enough; those that a killed worker has let fall are asked for again.
load() {
    until [[ -e $run/enough ]]; do
        curl -s -Z --no-progress-meter --parallel-max 16 --retry 20 --retry-all-errors --retry-delay 1 --unix-socket "$socket" \
            "http://site/{list,cached,passed}/[0-19].txt" "http://site/list/" "http://site/missing/[1-3]" >/dev/null || return 1
    done
}

# Under the load: kills workers, has the configuration read anew, and replaces the master by a new one.
disturb() {
    local turn worker old i
    for ((turn = 0; turn < scale / 2; turn++)); do
        sleep 0.2
        case $((turn % 5)) in
            0 | 2 | 3)
                worker=$(workers | shuf -n 1) # which may be about to end
                if kill -KILL "$worker" 2>/dev/null; then echo "$worker" >>"$run/killed"; fi ;;
            1) kill -HUP "$(master)" ;;
            4)
                old=$(master)
                kill -USR2 "$old" # which it may refuse, as it says in its log
                for ((i = 0; i < 250; i++)); do
                    if has_new_master "$old" 2>/dev/null; then
                        kill -QUIT "$old"
                        wait_for has_ended "$old"
                        break
                    fi
                    sleep 0.02
                done ;;
        esac
    done
    touch "$run/enough"
}

has_new_master() { [[ -s $folder/site/pid && $(master) != "$1" ]]; }

ends=(quit signal kill)

run() { # how it ends
    configure
    trap 'kill -TERM "$(master)" 2>/dev/null || true' EXIT # where something has failed
    (cd "$folder" && under_both_recorders "$server" -c "$folder/site/nginx.conf" 2>>"$folder/server.log") || # a daemon then
        fail "nginx does not start, see $folder/server.log"
    wait_for is_ready
    load &
    local loading=$! last
    disturb
    wait "$loading" || fail "requests have failed, see $folder/site/logs/error.log"
    last=$(master)
    case $1 in
        quit) kill -QUIT "$last" ;;
        signal) kill -TERM "$last" ;;
        kill)
            local all
            all=$(workers; echo "$last")
            echo "$all" >>"$run/killed"
            # shellcheck disable=SC2086 # words
            kill -KILL $all ;;
    esac
    wait_for has_ended "$last"
    compare "$run" "$server" ngx_signal_handler
}
