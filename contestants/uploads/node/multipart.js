// A multipart body of one file whose length is known before it is sent.
'use strict'

const crypto = require('node:crypto')
const fs = require('node:fs')

/**
 * Opens the file and lays the body around it.
 * Returns the content type, the body's and the file's length in bytes, and a function that gives the body's pieces; they
 * fail if the file has become shorter.
 */
async function multipart(settings) {
  const boundary = crypto.randomUUID()
  const head = Buffer.from(
    `--${boundary}\r\n` +
      `Content-Disposition: form-data; name="file"; filename="${settings.fileName}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n'
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  const { size } = await fs.promises.stat(settings.file)
  async function* pieces() {
    yield head
    let left = size
    // Bytes that the file has gained since then stay out: the length has been promised.
    const span = { highWaterMark: settings.bufferBytes, end: Math.max(size - 1, 0) }
    for await (const piece of fs.createReadStream(settings.file, span)) {
      left -= piece.length
      yield piece
    }
    if (left !== 0) throw new Error(`the file's length changed by ${Math.abs(left)} bytes while it was sent`)
    yield tail
  }
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    length: head.length + size + tail.length,
    fileBytes: size,
    pieces,
  }
}

module.exports = { multipart }
