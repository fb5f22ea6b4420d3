// Where the pieces of a body go: counted and forgotten, or counted and written to a file.
'use strict'

const fs = require('node:fs')

/** A sink for one repetition; with a path it writes there, synchronously, so that every way reads alike. */
function openSink(path) {
  const file = path === undefined ? undefined : fs.openSync(path, 'w')
  return {
    bytes: 0,
    take(piece) {
      this.bytes += piece.length
      if (file !== undefined) writeWhole(file, piece)
    },
    close() {
      if (file !== undefined) fs.closeSync(file)
    },
  }
}

function writeWhole(file, piece) {
  for (let written = 0; written < piece.length; ) written += fs.writeSync(file, piece, written)
}

module.exports = { openSink }
