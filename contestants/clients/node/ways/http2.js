// http2 of the core, over clear TCP with prior knowledge.
'use strict'

const http2 = require('node:http2')

exports.open = (settings) => {
  const url = new URL(settings.url)
  let kept
  const connect = () => {
    const session = http2.connect(url.origin)
    // The stream tells the repetition what went wrong; the next one connects anew.
    session.on('error', () => session.destroy())
    return session
  }
  return {
    async fetch(sink) {
      if (!settings.keep) {
        const session = connect()
        try {
          return await read(session, url, sink)
        } finally {
          session.close()
        }
      }
      if (kept === undefined || kept.closed || kept.destroyed) kept = connect()
      return read(kept, url, sink)
    },
  }
}

function read(session, url, sink) {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': url.pathname + url.search })
    let status
    stream.on('response', (headers) => {
      status = headers[':status']
    })
    stream.on('data', (piece) => {
      try {
        sink.take(piece)
      } catch (error) {
        stream.destroy(error)
      }
    })
    stream.on('error', reject)
    stream.on('end', () => {
      if (status !== undefined) resolve(status)
    })
    stream.on('close', () => reject(new Error('the connection ended before the response did')))
  })
}
