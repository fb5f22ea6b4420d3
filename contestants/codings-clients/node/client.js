// undici.request, its body as it was sent.
'use strict'

const { Agent, request } = require('undici')
const { A_DAY_MS } = require('./settings.js')

exports.open = (settings) => {
  const make = () =>
    new Agent({
      connections: 1,
      keepAliveTimeout: A_DAY_MS,
      keepAliveMaxTimeout: A_DAY_MS,
      allowH2: settings.h2,
      useH2c: settings.h2 && settings.ca === undefined,
      connect: settings.ca === undefined ? {} : { ca: settings.ca, minVersion: 'TLSv1.3' },
    })
  const headers = { 'accept-encoding': settings.acceptEncoding }
  const kept = settings.keep || !settings.h2 ? make() : undefined

  async function fetch(dispatcher) {
    const response = await request(settings.url, { dispatcher, headers, reset: !settings.keep && !settings.h2 })
    const body = Buffer.from(await response.body.arrayBuffer())
    return { status: response.statusCode, coding: response.headers['content-encoding'] ?? 'identity', body }
  }

  return {
    async fetch() {
      if (kept !== undefined) return fetch(kept)
      const dispatcher = make()
      try {
        return await fetch(dispatcher)
      } finally {
        await dispatcher.close()
      }
    },
  }
}
