// What the environment asks for.
'use strict'

function required(name) {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set; it is part of the contract`)
  return value
}

exports.settings = {
  url: required('PHOTOFINISH_URL'),
  // One connection for all repetitions; else a new one for each.
  keep: required('PHOTOFINISH_CONNECTION') === 'keep',
  count: process.env.PHOTOFINISH_COUNT === '1',
}

// An idle connection is kept between windows.
exports.A_DAY_MS = 24 * 3600 * 1000
