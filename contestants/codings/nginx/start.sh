#!/bin/sh
# start.sh WAY: writes the configuration into the run's folder and becomes nginx.
# WAY is "fresh": each response is coded anew, or "stored": by files that are coded once, here.
set -eu
way=$1
address=$PHOTOFINISH_ADDRESS run=$PHOTOFINISH_RUN corpus=$PHOTOFINISH_CORPUS
sizes="1 4 16 64 512"
stored_gzip=9 stored_br=11
modules=$(nginx -V 2>&1 | sed -n 's/.*--modules-path=\([^ ]*\).*/\1/p')

user=""
# Started as root, the workers would change to another account, which may not enter the folder of the run.
if [ "$(id -u)" -eq 0 ]; then user="user root;"; fi

# One location for each path: found without a regular expression.
fresh_locations() {
    for size in $sizes; do
        echo "location = /patients/$size { alias $corpus/patients-$size.json; gzip on; brotli on; }"
    done
    for level in 0 1 2 3 4 5 6 7 8 9 10 11; do
        case $level in 0 | 10 | 11) gzip="" ;; *) gzip="gzip on; gzip_comp_level $level;" ;; esac
        for size in $sizes; do
            echo "location = /level/$level/patients/$size { alias $corpus/patients-$size.json; $gzip brotli on; brotli_comp_level $level; }"
        done
    done
}

stored_locations() {
    for size in $sizes; do
        file=$run/patients-$size.json
        cp "$corpus/patients-$size.json" "$file"
        gzip --keep "-$stored_gzip" --no-name "$file"
        brotli --keep --quality="$stored_br" "$file"
        echo "location = /patients/$size { alias $file; gzip_static on; brotli_static on; }"
        echo "location = /level/$stored_gzip/patients/$size { alias $file; gzip_static on; }"
        echo "location = /level/$stored_br/patients/$size { alias $file; brotli_static on; }"
    done
}

case $way in
fresh) module=ngx_http_brotli_filter_module.so ;;
stored) module=ngx_http_brotli_static_module.so ;;
*) echo "start.sh: WAY is fresh or stored, not $way" >&2 && exit 2 ;;
esac
"${way}_locations" > "$run/locations.conf"

cat > "$run/nginx.conf" <<CONFIGURATION
load_module $modules/$module;
daemon off;
$user
worker_processes $PHOTOFINISH_WORKERS;
pid $run/nginx.pid;
error_log stderr;
events {}
http {
    access_log off;
    client_body_temp_path $run/body;
    fastcgi_temp_path $run/fastcgi;
    proxy_temp_path $run/proxy;
    scgi_temp_path $run/scgi;
    uwsgi_temp_path $run/uwsgi;
    default_type application/json;
    gzip_types application/json;
    gzip_vary on;
    open_file_cache max=64 inactive=1h;
    open_file_cache_valid 1h;
    server {
        listen $address:$PHOTOFINISH_PORT;
        listen $address:$PHOTOFINISH_TLS_PORT ssl http2;
        ssl_certificate $PHOTOFINISH_CERTIFICATE;
        ssl_certificate_key $PHOTOFINISH_KEY;
        ssl_protocols TLSv1.3;
        include $run/locations.conf;
    }
}
CONFIGURATION
if [ "$way" = fresh ]; then
    sed -i 's/gzip_types application\/json;/& brotli_types application\/json;/' "$run/nginx.conf"
fi

exec nginx -p "$run" -c "$run/nginx.conf"
