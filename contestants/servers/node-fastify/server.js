// A Fastify server that answers GET / with "Hello World!".
'use strict'

const cluster = require('node:cluster')
const fastify = require('fastify')

const [address, port, workers] = process.argv.slice(2)
if (workers === undefined) {
  console.error('usage: node server.js ADDRESS PORT WORKERS')
  process.exit(2)
}

if (cluster.isPrimary && Number(workers) > 1) {
  for (let worker = 0; worker < Number(workers); worker++) cluster.fork()
} else {
  const app = fastify()
  app.get('/', (request, reply) => {
    reply.header('Content-Type', 'text/plain').send('Hello World!')
  })
  app.listen({ host: address, port: Number(port) }, (error) => {
    if (error) throw error
  })
}
