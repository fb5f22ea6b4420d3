// The global fetch with FormData and a Blob that reads the file when it is sent.
'use strict'

const fs = require('node:fs')

exports.open = (settings) => ({
  async upload() {
    const blob = await fs.openAsBlob(settings.file, { type: 'application/octet-stream' })
    const body = new FormData()
    body.set('file', blob, settings.fileName)
    const headers = settings.keep ? {} : { connection: 'close' }
    const response = await fetch(settings.url, { method: 'POST', body, headers })
    await response.arrayBuffer()
    // undici frees the connection only in the loop's next turn; a request before that would open a second one.
    await new Promise(setImmediate)
    return { bytes: blob.size, status: response.status }
  },
})
