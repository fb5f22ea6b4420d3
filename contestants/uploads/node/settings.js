// What the environment asks for.
'use strict'

const path = require('node:path')

function required(name) {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set; it is part of the contract`)
  return value
}

const file = required('PHOTOFINISH_FILE')

exports.settings = {
  url: required('PHOTOFINISH_URL'),
  file,
  fileName: path.basename(file),
  // One connection for all repetitions; else a new one for each.
  keep: required('PHOTOFINISH_CONNECTION') === 'keep',
  // Bytes to read and write at a time, where the library lets one say so.
  bufferBytes: Number(required('PHOTOFINISH_BUFFER')),
  count: process.env.PHOTOFINISH_COUNT === '1',
}

// An idle connection is kept between windows.
exports.A_DAY_MS = 24 * 3600 * 1000
