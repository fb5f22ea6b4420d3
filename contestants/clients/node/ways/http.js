// http.get of the core with 'data' events.
'use strict'

const http = require('node:http')

exports.open = (settings) => {
  const agent = new http.Agent({ keepAlive: settings.keep })
  return {
    fetch: (sink) =>
      new Promise((resolve, reject) => {
        const request = http.get(settings.url, { agent }, (response) => {
          response.on('data', (piece) => {
            try {
              sink.take(piece)
            } catch (error) {
              response.destroy(error)
            }
          })
          response.on('end', () => resolve(response.statusCode))
          response.on('error', reject)
        })
        request.on('error', reject)
      }),
  }
}
