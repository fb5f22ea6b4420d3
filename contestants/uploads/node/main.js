// Uploads one file per line of standard input, by the way that WAY names, and answers with a JSON line each.
'use strict'

const readline = require('node:readline')
const { settings } = require('./settings.js')

function answer(document) {
  process.stdout.write(JSON.stringify(document) + '\n')
}

async function attempt(uploader, command) {
  if (command !== 'go') return { error: `'${command}' is no command of an uploader; it knows 'go'` }
  try {
    const done = await uploader.upload()
    return settings.count ? { ...done, heap_bytes: process.memoryUsage().heapUsed } : done
  } catch (error) {
    return { error: `${error.name}: ${error.message}${error.cause ? `: ${error.cause.message}` : ''}` }
  }
}

async function main() {
  // Only the chosen way is loaded: the others would count as its memory and start-up.
  const { open } = require(`./ways/${process.env.WAY}.js`)
  const uploader = open(settings)
  const lines = readline.createInterface({ input: process.stdin })
  answer({ ready: true })
  for await (const line of lines) answer(await attempt(uploader, line.trim()))
  // A kept connection would keep the process alive.
  process.exit(0)
}

main()
