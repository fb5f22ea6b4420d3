// Fetches one body per line of standard input, by the way that WAY names, and answers with a JSON line each.
'use strict'

const readline = require('node:readline')
const { openSink } = require('./sink.js')
const { settings } = require('./settings.js')

function answer(document) {
  process.stdout.write(JSON.stringify(document) + '\n')
}

async function attempt(fetcher, command) {
  const [verb, ...rest] = command.split(' ')
  const path = rest.join(' ')
  if (verb !== 'go' && !(verb === 'save' && path !== '')) {
    return { error: `'${command}' is no command of a client; it knows 'go' and 'save PATH'` }
  }
  let sink
  try {
    sink = openSink(verb === 'save' ? path : undefined)
    const status = await fetcher.fetch(sink)
    const done = { bytes: sink.bytes, status }
    return settings.count ? { ...done, heap_bytes: process.memoryUsage().heapUsed } : done
  } catch (error) {
    return { error: `${error.name}: ${error.message}${error.cause ? `: ${error.cause.message}` : ''}` }
  } finally {
    sink?.close()
  }
}

async function main() {
  // Only the chosen way is loaded: the others would count as its memory and start-up.
  const { open } = require(`./ways/${process.env.WAY}.js`)
  const fetcher = open(settings)
  const lines = readline.createInterface({ input: process.stdin })
  answer({ ready: true })
  for await (const line of lines) answer(await attempt(fetcher, line))
  // A kept connection would keep the process alive.
  process.exit(0)
}

main()
