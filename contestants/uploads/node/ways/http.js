// http.request of the core with stream.pipeline and a known Content-Length.
'use strict'

const http = require('node:http')
const { pipeline } = require('node:stream/promises')
const { multipart } = require('../multipart.js')

exports.open = (settings) => {
  const agent = new http.Agent({ keepAlive: settings.keep })
  return {
    async upload() {
      const { type, length, fileBytes, pieces } = await multipart(settings)
      const request = http.request(settings.url, {
        agent,
        method: 'POST',
        headers: { 'Content-Type': type, 'Content-Length': length },
      })
      // A server may answer and close before it has read all: then its answer counts, not the broken pipe.
      const [answered, sent] = await Promise.allSettled([statusOf(request), pipeline(pieces, request)])
      if (answered.status === 'rejected') throw sent.reason ?? answered.reason
      return { bytes: fileBytes, status: answered.value }
    },
  }
}

/** The status of the response once it has been read whole. */
function statusOf(request) {
  return new Promise((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      response.on('error', reject)
      response.on('end', () => resolve(response.statusCode))
      response.resume()
    })
  })
}
