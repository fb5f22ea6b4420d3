// undici.request; its body is an async iterable.
'use strict'

const { Agent, request } = require('undici')
const { A_DAY_MS } = require('../settings.js')

exports.open = (settings) => {
  const dispatcher = new Agent({ connections: 1, keepAliveTimeout: A_DAY_MS, keepAliveMaxTimeout: A_DAY_MS })
  return {
    async fetch(sink) {
      const { statusCode, body } = await request(settings.url, { dispatcher, reset: !settings.keep })
      for await (const piece of body) sink.take(piece)
      return statusCode
    },
  }
}
