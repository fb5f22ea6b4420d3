#!/bin/sh
# start.sh ADDRESS PORT WORKERS RUN: writes the configuration into RUN and becomes nginx.
set -eu
address=$1 port=$2 workers=$3 run=$4

user=""
# Started as root, the workers would change to another account, which may not enter the folder RUN.
if [ "$(id -u)" -eq 0 ]; then user="user root;"; fi

cat > "$run/nginx.conf" <<CONFIGURATION
daemon off;
$user
worker_processes $workers;
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
    default_type text/plain;
    server {
        listen $address:$port;
        location / { return 200 "Hello World!"; }
    }
}
CONFIGURATION

exec nginx -p "$run" -c "$run/nginx.conf"
