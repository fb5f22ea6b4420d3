// What the environment asks for.
'use strict'

const fs = require('node:fs')

function required(name) {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set; it is part of the contract`)
  return value
}

const protocol = required('PHOTOFINISH_PROTOCOL')
const known = ['http/1.1', 'http/1.1+tls', 'h2', 'h2+tls']
if (!known.includes(protocol)) throw new Error(`PHOTOFINISH_PROTOCOL is ${protocol}; there are ${known.join(', ')}`)

exports.settings = {
  url: required('PHOTOFINISH_URL'),
  // One connection for all repetitions; else a new one for each.
  keep: required('PHOTOFINISH_CONNECTION') === 'keep',
  h2: protocol.startsWith('h2'),
  // What to trust; undefined in clear text.
  ca: protocol.endsWith('+tls') ? fs.readFileSync(required('PHOTOFINISH_CA')) : undefined,
  acceptEncoding: required('PHOTOFINISH_ACCEPT_ENCODING'),
  count: process.env.PHOTOFINISH_COUNT === '1',
}

// An idle connection is kept between windows.
exports.A_DAY_MS = 24 * 3600 * 1000
