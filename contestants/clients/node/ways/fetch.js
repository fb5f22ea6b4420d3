// The global fetch; its body is an async iterable.
'use strict'

exports.open = (settings) => ({
  async fetch(sink) {
    const headers = settings.keep ? {} : { connection: 'close' }
    const response = await fetch(settings.url, { headers })
    for await (const piece of response.body) sink.take(piece)
    // undici frees the connection only in the loop's next turn; a request before that would open a second one.
    await new Promise(setImmediate)
    return response.status
  },
})
