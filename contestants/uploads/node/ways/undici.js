// undici.request with a streamed body and a known Content-Length.
'use strict'

const { Agent, request } = require('undici')
const { multipart } = require('../multipart.js')
const { A_DAY_MS } = require('../settings.js')

exports.open = (settings) => {
  const dispatcher = new Agent({ connections: 1, keepAliveTimeout: A_DAY_MS, keepAliveMaxTimeout: A_DAY_MS })
  return {
    async upload() {
      const { type, length, fileBytes, pieces } = await multipart(settings)
      const { statusCode, body } = await request(settings.url, {
        dispatcher,
        method: 'POST',
        headers: { 'content-type': type, 'content-length': length },
        body: pieces(),
        reset: !settings.keep,
      })
      await body.dump()
      return { bytes: fileBytes, status: statusCode }
    },
  }
}
