// Fetches, decodes and parses one response per line of standard input, and answers with a JSON line each. Every stage is
// timed apart by a clock that never goes back.
'use strict'

const fs = require('node:fs')
const readline = require('node:readline')
const { open } = require('./client.js')
const { decode } = require('./decoding.js')
const { settings } = require('./settings.js')

const now = process.hrtime.bigint

function answer(document) {
  process.stdout.write(JSON.stringify(document) + '\n')
}

/** One repetition; the decoded body is written to `path`, if there is one, outside all stages. */
async function repeat(client, path) {
  const began = now()
  const { status, coding, body } = await client.fetch()
  const received = now()
  if (status !== 200) return { status, bytes: body.length }
  const whole = decode(coding, body)
  const decoded = now()
  const records = JSON.parse(whole.toString())
  const parsed = now()
  if (path !== undefined) fs.writeFileSync(path, whole)
  return {
    status,
    bytes: whole.length,
    records: records.length,
    coding,
    transfer_ns: Number(received - began),
    decode_ns: Number(decoded - received),
    parse_ns: Number(parsed - decoded),
  }
}

async function attempt(client, command) {
  const [verb, ...rest] = command.split(' ')
  const path = rest.join(' ')
  if (command !== 'go' && !(verb === 'save' && path !== '')) {
    return { error: `'${command}' is no command of a client; it knows 'go' and 'save PATH'` }
  }
  try {
    const done = await repeat(client, verb === 'save' ? path : undefined)
    return settings.count ? { ...done, heap_bytes: process.memoryUsage().heapUsed } : done
  } catch (error) {
    return { error: `${error.name}: ${error.message}${error.cause ? `: ${error.cause.message}` : ''}` }
  }
}

async function main() {
  const client = open(settings)
  const lines = readline.createInterface({ input: process.stdin })
  answer({ ready: true })
  for await (const line of lines) answer(await attempt(client, line))
  // A kept connection would keep the process alive.
  process.exit(0)
}

main()
