// Node's own servers: bodies in memory, coded anew for each request by node:zlib.
'use strict'

const cluster = require('node:cluster')
const fs = require('node:fs')
const http = require('node:http')
const http2 = require('node:http2')
const net = require('node:net')
const path = require('node:path')
const { choose } = require('./codings.js')

const PREFACE = Buffer.from('PRI * HTTP/2.0')

function told (name) {
  const value = process.env[`PHOTOFINISH_${name}`]
  if (!value) throw new Error(`PHOTOFINISH_${name} is not set`)
  return value
}

function load (corpus) {
  const read = (count) => fs.readFileSync(path.join(corpus, `patients-${count}.json`))
  return new Map(['1', '4', '16', '64', '512'].map((count) => [count, read(count)]))
}

// Returns the handler of requests, the same for all protocols.
function answerFrom (bodies) {
  const ROUTE = /^(?:\/level\/(\d+))?\/patients\/(\d+)$/
  return async (request, response) => {
    const [, asked, count] = ROUTE.exec(request.url) ?? []
    const body = bodies.get(count)
    const coding = choose(request.headers['accept-encoding'])
    const level = asked === undefined ? coding?.initial : Number(asked)
    if (body === undefined || (coding && (level < coding.lowest || level > coding.highest))) {
      response.writeHead(404).end()
      return
    }
    const fields = { 'Content-Type': 'application/json', Vary: 'Accept-Encoding' }
    if (coding) fields['Content-Encoding'] = coding.name
    const sent = coding ? await coding.encode(body, level) : body
    fields['Content-Length'] = sent.length
    response.writeHead(200, fields).end(sent)
  }
}

// Serves HTTP/1.1 and HTTP/2 on one clear port: the first bytes of a connection tell which.
function listenInClear (answer, address, port) {
  const first = http.createServer(answer)
  const second = http2.createServer(answer)
  net.createServer({ noDelay: true }, (socket) => {
    const gone = () => socket.destroy()
    socket.on('error', gone)
    socket.once('readable', () => {
      socket.off('error', gone)
      const bytes = socket.read()
      if (bytes === null) return gone()
      socket.unshift(bytes)
      const begun = PREFACE.subarray(0, bytes.length)
      const server = bytes.subarray(0, begun.length).equals(begun) ? second : first
      server.emit('connection', socket)
    })
  }).listen(port, address)
}

function serve () {
  const answer = answerFrom(load(told('CORPUS')))
  const identity = { cert: fs.readFileSync(told('CERTIFICATE')), key: fs.readFileSync(told('KEY')) }
  // The clear port comes last: it is the one that is asked whether all is ready.
  http2.createSecureServer({ ...identity, allowHTTP1: true, minVersion: 'TLSv1.3' }, answer)
    .listen(Number(told('TLS_PORT')), told('ADDRESS'), () => {
      listenInClear(answer, told('ADDRESS'), Number(told('PORT')))
    })
}

const workers = Number(told('WORKERS'))
if (cluster.isPrimary && workers > 1) {
  for (let worker = 0; worker < workers; worker++) cluster.fork()
} else {
  serve()
}
