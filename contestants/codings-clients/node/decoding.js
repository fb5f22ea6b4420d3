// Undoing content codings, each in one call on the whole body.
'use strict'

const zlib = require('node:zlib')

const decoders = {
  identity: (body) => body,
  gzip: (body) => zlib.gunzipSync(body),
  deflate: (body) => zlib.inflateSync(body),
  br: (body) => zlib.brotliDecompressSync(body),
  zstd: (body) => zlib.zstdDecompressSync(body),
}

/** The body without its coding; throws where it is not what its coding says. */
exports.decode = (coding, body) => {
  const decoder = decoders[coding]
  if (decoder === undefined) throw new Error(`there is no decoder for Content-Encoding: ${coding}`)
  return decoder(body)
}
