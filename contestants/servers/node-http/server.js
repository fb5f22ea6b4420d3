// A node:http server that answers GET / with "Hello World!".
'use strict'

const cluster = require('node:cluster')
const http = require('node:http')

const [address, port, workers] = process.argv.slice(2)
if (workers === undefined) {
  console.error('usage: node server.js ADDRESS PORT WORKERS')
  process.exit(2)
}

if (cluster.isPrimary && Number(workers) > 1) {
  for (let worker = 0; worker < Number(workers); worker++) cluster.fork()
} else {
  http
    .createServer((request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': 12 })
      response.end('Hello World!')
    })
    .listen(Number(port), address)
}
