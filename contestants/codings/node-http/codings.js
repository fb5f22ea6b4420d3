// The content codings of node:zlib: their levels, and what of them a request takes.
'use strict'

const { promisify } = require('node:util')
const zlib = require('node:zlib')

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT, ZSTD_c_compressionLevel: ZSTD_LEVEL } = zlib.constants

const gzip = promisify(zlib.gzip)
const deflate = promisify(zlib.deflate)
const brotli = promisify(zlib.brotliCompress)
const zstd = promisify(zlib.zstdCompress)

// In the order in which they are preferred where the client has no preference.
const CODINGS = [
  {
    name: 'zstd', lowest: 1, highest: 22, initial: 3,
    encode: (body, level) => zstd(body, { params: { [ZSTD_LEVEL]: level }, pledgedSrcSize: body.length })
  },
  {
    name: 'br', lowest: 0, highest: 11, initial: 4,
    encode: (body, level) =>
      brotli(body, { params: { [BROTLI_PARAM_QUALITY]: level, [BROTLI_PARAM_SIZE_HINT]: body.length } })
  },
  { name: 'gzip', lowest: 1, highest: 9, initial: 6, encode: (body, level) => gzip(body, { level }) },
  { name: 'deflate', lowest: 1, highest: 9, initial: 6, encode: (body, level) => deflate(body, { level }) }
]

// Returns the q-value of a coding in an Accept-Encoding field, 0 where it is not named.
function qualityOf (name, elements) {
  for (const element of elements) {
    const [token, weight] = element.split(';')
    if (token.trim().toLowerCase() !== name) continue
    const quality = weight === undefined ? 1 : Number(weight.split('=')[1])
    return Number.isNaN(quality) ? 0 : quality
  }
  return 0
}

// Returns the coding with the highest q-value; undefined for none: no field, or nothing there that is known.
function choose (accepted) {
  if (accepted === undefined) return undefined
  const elements = accepted.split(',')
  let chosen
  let best = 0
  for (const coding of CODINGS) {
    const quality = qualityOf(coding.name, elements)
    if (quality > best) [chosen, best] = [coding, quality]
  }
  return qualityOf('identity', elements) > best ? undefined : chosen
}

module.exports = { choose }
